package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.granule.vmm.Rig.G;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.TestLedger.TestAccount;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads on one engine; the driver notes every call that is made while a lock is held. */
@Timeout(60)
class ConcurrencyTest {

    private static final int THREADS = 6;

    private record Block(long address, long bytes) {}

    private interface Work {
        void run(int thread) throws Exception;
    }

    private static void together(Work work) throws Exception {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            tasks.add(() -> {
                work.run(thread);
                return null;
            });
        }
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            for (var result : threads.invokeAll(tasks)) {
                result.get();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("A07 several threads allocate, write and release: blocks never overlap, nothing is left")
    void allocateAndRelease(boolean keeping) throws Exception {
        var rig =
                new Rig((keeping ? Sizes.KEEPING.withIdle(8 * G).withKept(64 * G) : Sizes.BARE).withCapacity(1 << 28));
        together(thread -> {
            var account = thread % 2 == 0 ? rig.anna : rig.bert;
            var random = new Random(thread);
            List<Block> live = new ArrayList<>();
            for (int i = 0; i < 1500; i++) {
                if (live.size() > 10 || !live.isEmpty() && random.nextBoolean()) {
                    var block = live.remove(random.nextInt(live.size()));
                    assertThat(rig.driver.read(block.address)).isEqualTo((byte) (thread + 1));
                    assertThat(rig.driver.read(block.address + block.bytes - 1)).isEqualTo((byte) (thread + 1));
                    rig.releaseCompletely(block.address, block.bytes, account);
                } else {
                    long bytes = 1 + random.nextInt((int) (5 * G));
                    long address = rig.allocate(bytes, account);
                    byte found = rig.driver.read(address);
                    assertThat(found == 0 || found % 2 == (thread + 1) % 2)
                            .as("byte of another")
                            .isTrue();
                    rig.driver.write(address, (byte) (thread + 1));
                    rig.driver.write(address + bytes - 1, (byte) (thread + 1));
                    live.add(new Block(address, bytes));
                }
            }
            live.forEach(block -> rig.releaseCompletely(block.address, block.bytes, account));
        });
        rig.check();
        rig.checkSpotless();
    }

    @Test
    void budgetsNearTheirLimit() throws Exception {
        var rig = new Rig(Sizes.POOLING.withIdle(4 * G));
        rig.anna.limit(20 * G);
        together(thread -> {
            var random = new Random(thread);
            long reservation = rig.backing.reserve(64 * G, 1, Ranges.none(), Extents.PIECES, rig.anna);
            for (int i = 0; i < 1000; i++) {
                try {
                    rig.backing.commit(reservation, random.nextInt(60) * G, (1 + random.nextInt(4)) * G);
                } catch (BudgetExceededException e) {
                    assertThat(e.limitBytes()).isEqualTo(20 * G);
                }
                assertThat(rig.anna.figures().owned()).isLessThanOrEqualTo(20 * G);
                assertThat(rig.backing.decommit(reservation, random.nextInt(32) * G, 32 * G))
                        .isInstanceOf(Complete.class);
            }
            rig.releaseCompletely(reservation, 64 * G, rig.anna);
        });
        rig.check();
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C01 sharers come and go in several threads while the creator and the prefix go")
    void sharing() throws Exception {
        var rig = new Rig(Sizes.POOLING);
        for (int round = 0; round < 100; round++) {
            long creator = rig.backing.reserve(8 * G, 1, Ranges.of(0, 3 * G), Extents.PIECES, rig.anna);
            for (int granule = 0; granule < 3; granule++) {
                rig.driver.write(creator + granule * G, (byte) 0x42);
            }
            long prefix = rig.sharing.share(creator, 0, 3 * G);
            together(thread -> {
                if (thread == 0) {
                    rig.releaseCompletely(creator, 8 * G, rig.anna);
                } else if (thread == 1) {
                    assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
                } else {
                    useShared(rig, prefix, thread % 2 == 0 ? rig.anna : rig.bert);
                }
            });
            rig.check();
            assertThat(rig.anna.figures().owned() + rig.bert.figures().owned()).isZero();
        }
        rig.checkSpotless();
    }

    private static void useShared(Rig rig, long prefix, TestAccount account) {
        long sharer = rig.backing.reserve(8 * G, 1, Ranges.none(), Extents.PIECES, account);
        for (int i = 0; i < 20; i++) {
            try {
                rig.sharing.map(prefix, sharer, G);
            } catch (MemoryException e) {
                break;
            }
            assertThat(rig.driver.read(sharer + 3 * G)).isEqualTo((byte) 0x42);
            if (i % 3 == 0) {
                rig.sharing.privatise(sharer, 2 * G, G);
                assertThat(rig.driver.read(sharer + 2 * G)).isEqualTo((byte) 0x42);
                rig.driver.write(sharer + 2 * G, (byte) 0x43);
            }
            assertThat(rig.backing.decommit(sharer, 0, 8 * G)).isInstanceOf(Complete.class);
        }
        rig.releaseCompletely(sharer, 8 * G, account);
    }

    @Test
    void operationsOnOneReservationTakeTurns() throws Exception {
        var rig = new Rig(Sizes.BARE);
        long reservation = rig.backing.reserve(64 * G, 1, Ranges.none(), Extents.PIECES, rig.anna);
        together(thread -> {
            for (int i = 0; i < 500; i++) {
                rig.backing.commit(reservation, (i * 7 + thread) % 60 * G, 3 * G);
                assertThat(rig.backing.decommit(reservation, (i * 5 + thread) % 60 * G, 4 * G))
                        .isInstanceOf(Complete.class);
            }
        });
        rig.check();
        rig.releaseCompletely(reservation, 64 * G, rig.anna);
        rig.checkSpotless();
    }
}
