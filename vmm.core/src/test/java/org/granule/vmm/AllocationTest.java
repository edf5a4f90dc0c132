package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.granule.vmm.Rig.G;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.StaleTokenException;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ordinary allocation on the engine. */
class AllocationTest {

    private record Block(long address, long bytes) {}

    @Test
    @DisplayName("A01 every alignment, sizes around each multiple: aligned, disjoint, readable")
    void alignments() {
        var rig = new Rig(Sizes.KEEPING.withCapacity(1L << 30));
        var blocks = new TreeMap<Long, Block>();
        for (long alignment = 1; alignment <= 1 << 21; alignment <<= 1) {
            for (long bytes : new long[] {1, alignment - 1, alignment, alignment + 1}) {
                if (bytes <= 0 || bytes > 1 << 18) {
                    continue;
                }
                long address = rig.allocator.allocate(bytes, alignment, rig.anna);
                assertThat(address % alignment).isZero();
                var below = blocks.lowerEntry(address + bytes);
                assertThat(below == null || below.getValue().address + below.getValue().bytes <= address)
                        .as("no overlap")
                        .isTrue();
                blocks.put(address, new Block(address, bytes));
                rig.driver.write(address, (byte) alignment);
                rig.driver.write(address + bytes - 1, (byte) bytes);
                assertThat(rig.driver.read(address + bytes - 1)).isEqualTo((byte) bytes);
            }
        }
        rig.check();
        blocks.values().forEach(block -> rig.releaseCompletely(block.address, block.bytes, rig.anna));
        rig.checkSpotless();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -4096, Long.MIN_VALUE, 3, 6, 4097, Long.MAX_VALUE})
    @DisplayName("A02 an alignment that is no power of two is refused, also when a released block is at hand")
    void badAlignment(long alignment) {
        var rig = new Rig(Sizes.KEEPING);
        rig.releaseCompletely(rig.allocate(G, rig.anna), G, rig.anna);
        var before = rig.ledger.idle.figures();
        assertThatThrownBy(() -> rig.allocator.allocate(G, alignment, rig.anna))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("power of two");
        assertThat(rig.ledger.idle.figures()).isEqualTo(before);
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(0, 0, 0));
        rig.checkSpotless();
    }

    @Test
    @DisplayName("A04 negative sizes and sizes that overflow when rounded are refused, nothing is left")
    void sizesThatOverflow() {
        var rig = new Rig(Sizes.BARE);
        for (long k = 0; k <= 4096; k++) {
            long bytes = Long.MAX_VALUE - k;
            checkRefused(rig, bytes);
            checkRefused(rig, bytes + Long.MIN_VALUE);
        }
        for (int bits = 48; bits < 63; bits++) {
            checkRefused(rig, 1L << bits);
        }
        assertThatThrownBy(() -> rig.allocate(0, rig.anna)).isInstanceOf(InvalidRequestException.class);
        rig.check();
        assertThat(rig.driver.liveBytes()).isZero();
        rig.checkSpotless();
    }

    private static void checkRefused(Rig rig, long bytes) {
        try {
            rig.allocate(bytes, rig.anna);
        } catch (MemoryException e) {
            return;
        }
        throw new AssertionError(bytes + " bytes were allocated");
    }

    @Test
    @DisplayName("A05 a second release changes nothing")
    void doubleRelease() {
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING, Sizes.KEEPING)) {
            var rig = new Rig(sizes);
            long address = rig.allocate(3 * G, rig.anna);
            rig.releaseCompletely(address, 3 * G, rig.anna);
            var again = rig.release(address, 3 * G, rig.anna);
            assertThat(again).isInstanceOfSatisfying(Failed.class, failed -> assertThat(failed.cause())
                    .isInstanceOf(StaleTokenException.class));
            rig.check();
            long one = rig.allocate(3 * G, rig.anna);
            long other = rig.allocate(3 * G, rig.anna);
            assertThat(Math.abs(one - other)).isGreaterThanOrEqualTo(3 * G);
            rig.releaseCompletely(one, 3 * G, rig.anna);
            rig.releaseCompletely(other, 3 * G, rig.anna);
            rig.checkSpotless();
        }
    }

    @Test
    @DisplayName("A06 an address never issued, or inside a block, is refused")
    void addressesNeverIssued() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.allocate(3 * G, rig.anna);
        for (long wrong :
                new long[] {0, 1, -1, address + 1, address + G, address + 3 * G, address - G, Long.MIN_VALUE}) {
            assertThat(rig.release(wrong, G, rig.anna)).isInstanceOf(Failed.class);
            assertThatThrownBy(() -> rig.backing.commit(wrong, 0, 1)).isInstanceOf(StaleTokenException.class);
            assertThat(rig.backing.decommit(wrong, 0, 1)).isInstanceOf(Failed.class);
            assertThatThrownBy(() -> rig.backing.committedBytes(wrong)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> rig.backing.access(wrong, 0, 1)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> rig.sharing.share(wrong, 0, G)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> rig.sharing.privatise(wrong, 0, G)).isInstanceOf(StaleTokenException.class);
        }
        rig.check();
        rig.releaseCompletely(address, 3 * G, rig.anna);
        rig.checkSpotless();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("A07 10,000 random allocations and releases: back to zero, one free span, no growth over rounds")
    void manyInRandomOrder(boolean keeping) {
        var rig = new Rig(keeping ? Sizes.KEEPING.withCapacity(1L << 30) : Sizes.BARE.withCapacity(1L << 30));
        var random = new Random(7);
        int reservations = -1;
        for (int round = 0; round < 5; round++) {
            List<Block> live = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                if (live.size() > 200 || !live.isEmpty() && random.nextInt(3) == 0) {
                    var block = live.remove(random.nextInt(live.size()));
                    rig.releaseCompletely(block.address, block.bytes, rig.anna);
                } else {
                    long bytes = 1 + random.nextInt((int) (6 * G));
                    live.add(new Block(rig.allocator.allocate(bytes, 1L << random.nextInt(16), rig.anna), bytes));
                }
            }
            rig.check();
            while (!live.isEmpty()) {
                var block = live.remove(random.nextInt(live.size()));
                rig.releaseCompletely(block.address, block.bytes, rig.anna);
            }
            assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(0, 0, 0));
            rig.allocator.trim(Long.MAX_VALUE);
            rig.check();
            assertThat(rig.driver.liveHandles()).isZero();
            assertThat(rig.allocator.freeSpans()).isEqualTo(rig.driver.liveReservations());
            assertThat(reservations).isIn(-1, rig.driver.liveReservations());
            reservations = rig.driver.liveReservations();
        }
        assertThat(reservations).isEqualTo(1);
        rig.checkSpotless();
    }

    @Test
    void commonAllocateAndReleaseMakeNoDriverCall() {
        var rig = new Rig(Sizes.KEEPING);
        rig.releaseCompletely(rig.allocate(3 * G, rig.anna), 3 * G, rig.anna);
        long before = rig.driver.calls();
        for (int i = 0; i < 1000; i++) {
            rig.releaseCompletely(rig.allocate(3 * G - i, rig.anna), 3 * G - i, rig.anna);
        }
        assertThat(rig.driver.calls()).isEqualTo(before);
        rig.checkSpotless();
    }

    @Test
    void aKeptBlockIsScrubbedForAnother() {
        var rig = new Rig(Sizes.KEEPING);
        long address = rig.allocate(6 * G, rig.anna);
        rig.fill(address, 6 * G, 0x41);
        rig.releaseCompletely(address, 6 * G, rig.anna);
        long next = rig.allocate(6 * G, rig.bert);
        assertThat(next).isEqualTo(address);
        rig.checkHolds(next, 6 * G, 0);
        rig.check();
        rig.releaseCompletely(next, 6 * G, rig.bert);
        rig.checkSpotless();
    }

    @Test
    void aPooledHandleIsScrubbedForAnother() {
        var rig = new Rig(Sizes.POOLING);
        long address = rig.allocate(6 * G, rig.anna);
        rig.fill(address, 6 * G, 0x41);
        rig.releaseCompletely(address, 6 * G, rig.anna);
        long creates = rig.driver.calls(Call.CREATE);
        long next = rig.allocate(6 * G, rig.bert);
        assertThat(rig.driver.calls(Call.CREATE)).isEqualTo(creates);
        rig.checkHolds(next, 6 * G, 0);
        rig.releaseCompletely(next, 6 * G, rig.bert);
        rig.checkSpotless();
    }

    @Test
    void aRefusedAllocationLeavesNoTrace() {
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING, Sizes.KEEPING)) {
            var rig = new Rig(sizes);
            rig.releaseCompletely(rig.allocate(8 * G, rig.bert), 8 * G, rig.bert);
            rig.anna.limit(8 * G - 1);
            var idle = rig.ledger.idle.figures();
            assertThatThrownBy(() -> rig.allocate(8 * G, rig.anna)).isInstanceOf(BudgetExceededException.class);
            assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(0, 0, 0));
            assertThat(rig.ledger.idle.figures())
                    .as("idle memory with %s", sizes)
                    .isEqualTo(idle);
            rig.check();
            rig.anna.limit(8 * G);
            rig.releaseCompletely(rig.allocate(8 * G, rig.anna), 8 * G, rig.anna);
            rig.checkSpotless();
        }
    }

    @Test
    void idleMemoryMakesRoomOnAFullDevice() {
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING, Sizes.KEEPING)) {
            var rig = new Rig(sizes.withCapacity(10 * G));
            rig.releaseCompletely(rig.allocate(4 * G, rig.bert), 4 * G, rig.bert);
            long held = rig.allocate(5 * G, rig.bert);
            long address = rig.allocate(5 * G, rig.anna);
            rig.check();
            assertThatThrownBy(() -> rig.allocate(G, rig.anna))
                    .isInstanceOfSatisfying(DriverFaultException.class, e -> assertThat(e.kind())
                            .isEqualTo(DriverFaultException.Kind.OUT_OF_MEMORY));
            rig.releaseCompletely(held, 5 * G, rig.bert);
            rig.releaseCompletely(address, 5 * G, rig.anna);
            rig.checkSpotless();
        }
    }

    @Test
    void idleMemoryMakesRoomUnderTheDevicesLimit() {
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING, Sizes.KEEPING)) {
            var rig = new Rig(sizes);
            rig.ledger.limit(10 * G);
            rig.releaseCompletely(rig.allocate(4 * G, rig.bert), 4 * G, rig.bert);
            long held = rig.allocate(5 * G, rig.bert);
            long address = rig.allocate(5 * G, rig.anna);
            rig.check();
            assertThatThrownBy(() -> rig.allocate(G, rig.anna)).isInstanceOf(BudgetExceededException.class);
            rig.releaseCompletely(held, 5 * G, rig.bert);
            rig.releaseCompletely(address, 5 * G, rig.anna);
            rig.checkSpotless();
        }
    }

    @Test
    void aBlockThatHoldsASharedPrefixIsNotKept() {
        var rig = new Rig(Sizes.KEEPING);
        long creator = rig.backing.reserve(2 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES, rig.anna);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long block = rig.allocate(2 * G, rig.bert);
        assertThat(rig.backing.decommit(block, 0, 2 * G)).isEqualTo(new Complete(2 * G));
        rig.sharing.map(prefix, block, 0);
        rig.check();
        rig.releaseCompletely(block, 2 * G, rig.bert);
        rig.check();
        assertThat(rig.bert.figures()).isEqualTo(new TestLedger.Figures(0, 0, 0));
        rig.releaseCompletely(creator, 2 * G, rig.anna);
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        rig.checkSpotless();
    }

    @Test
    void trimGivesBackWhatIsAskedFor() {
        var rig = new Rig(Sizes.KEEPING);
        List<Block> live = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            live.add(new Block(rig.allocate(2 * G, rig.anna), 2 * G));
        }
        live.forEach(block -> rig.releaseCompletely(block.address, block.bytes, rig.anna));
        long idle = rig.ledger.idle.figures().owned();
        long given = rig.allocator.trim(3 * G);
        assertThat(given).isBetween(3 * G, idle);
        assertThat(rig.ledger.idle.figures().owned()).isEqualTo(idle - given);
        rig.check();
        assertThat(rig.allocator.trim(Long.MAX_VALUE)).isEqualTo(idle - given);
        assertThat(rig.allocator.trim(1)).isZero();
        rig.checkSpotless();
    }

    @Test
    void outcomesAreTheThree() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.allocate(5 * G, rig.anna);
        assertThat(rig.release(address, 5 * G, rig.anna)).isEqualTo(new ReleaseOutcome.Complete(5 * G));
        rig.checkSpotless();
    }
}
