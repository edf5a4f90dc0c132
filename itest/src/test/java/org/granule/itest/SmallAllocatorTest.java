package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import org.granule.ledger.Ledger;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The allocator of the README works as it stands there. */
class SmallAllocatorTest {

    private final SmallAllocator allocator = new SmallAllocator();

    @Test
    @DisplayName("A10 an allocator with the required members only has no facet, and its caller charges")
    void onlyWhatIsRequired() {
        assertThat(allocator.commitsOnDemand()).isFalse();
        assertThat(allocator.virtualBacking()).isEmpty();
        assertThat(allocator.sharedMapping()).isEmpty();
        assertThat(allocator.transfer()).isEmpty();
        assertThat(allocator.trim(Long.MAX_VALUE)).isZero();
    }

    @Test
    @DisplayName("A01 what it hands out is aligned and comes back")
    void allocatesAndReleases() {
        var account = new Ledger().account(new DeviceKey("host", 0), "tenant", "role");

        long address = allocator.allocate(1000, 4096, account);

        assertThat(address % 4096).isZero();
        assertThat(allocator.release(address, 1000, 4096, account)).isEqualTo(ReleaseOutcome.Complete.NOTHING_UNMAPPED);
    }
}
