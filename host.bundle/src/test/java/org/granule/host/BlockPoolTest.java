package org.granule.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the pool keeps, whom it charges, and what it gives up. */
class BlockPoolTest {

    private static final int CLASS = SizeClasses.of(4096);

    private final List<Long> freed = new ArrayList<>();
    private final FreeAccount account = new FreeAccount();
    private final BlockPool pool = new BlockPool(1L << 30, 1, freed::add);

    @Test
    void aKeptBlockComesBackToItsAccountAsItIs() {
        assertThat(pool.offer(4096, CLASS, account)).isTrue();

        assertThat(pool.take(CLASS, account)).isEqualTo(4096);
        assertThat(pool.take(CLASS, account)).isZero();
    }

    @Test
    void aBlockForAnotherAccountIsMarkedForScrubbing() {
        pool.offer(4096, CLASS, account);

        assertThat(pool.take(CLASS, new FreeAccount(account.idle()))).isEqualTo(-4096);
    }

    @Test
    void whatIsKeptIsNeverAboveWhatTheIdleAccountIsCharged() {
        for (int i = 1; i <= 64; i++) {
            pool.offer(4096L * i, CLASS, account);
            assertThat(account.idle().owned).isGreaterThanOrEqualTo(pool.keptBytes());
        }
        assertThat(account.idle().owned).isEqualTo(BlockPool.CHARGE_STEP);
    }

    @Test
    void aFullDeviceKeepsNothing() {
        account.idle().limit = 0;

        assertThat(pool.offer(4096, CLASS, account)).isFalse();
        assertThat(account.idle().owned).isZero();
    }

    @Test
    void trimmingGivesEverythingUpAndRefundsIt() {
        pool.offer(4096, CLASS, account);
        pool.offer(1 << 20, SizeClasses.of(1 << 20), account);

        assertThat(pool.trim(Long.MAX_VALUE)).isEqualTo(2 * BlockPool.CHARGE_STEP);
        assertThat(freed).containsExactlyInAnyOrder(4096L, 1L << 20);
        assertThat(account.idle().owned).isZero();
        assertThat(pool.take(CLASS, account)).isZero();
    }

    @Test
    void blocksOfAnotherLedgerAreNotMixedIn() {
        pool.offer(4096, CLASS, account);
        var other = new FreeAccount();

        assertThat(pool.offer(8192, CLASS, other)).isFalse();
        assertThat(other.idle().owned).isZero();
    }

    @Test
    void theBoundHolds() {
        var small = new BlockPool(8192, 1, freed::add);

        assertThat(small.offer(4096, CLASS, account)).isTrue();
        assertThat(small.offer(8192, CLASS, account)).isTrue();
        assertThat(small.offer(12288, CLASS, account)).isFalse();
    }
}
