package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.granule.vmm.Rig.G;

import java.util.List;
import org.granule.memory.Access;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Addresses apart from memory. */
class LazyBackingTest {

    @Test
    @DisplayName("B01 a reservation far above physical memory succeeds and charges nothing")
    void farAbovePhysicalMemory() {
        var rig = new Rig(Sizes.BARE);
        long bytes = 1L << 40;
        long address = rig.backing.reserve(bytes, 1L << 21, Ranges.none(), Extents.PIECES, rig.anna);
        assertThat(address % (1L << 21)).isZero();
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(0, 0, 0));
        assertThat(rig.backing.committedBytes(address)).isZero();
        rig.backing.commit(address, bytes - 1, 1);
        rig.driver.write(address + bytes - 1, (byte) 7);
        rig.check();
        assertThat(rig.release(address, bytes, rig.anna)).isEqualTo(new Complete(G));
        rig.checkSpotless();
    }

    @ParameterizedTest
    @EnumSource(Extents.class)
    @DisplayName("B02 one byte charges a granule, ranges the union of theirs")
    void chargesTheUnion(Extents extents) {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(64 * G, 1, Ranges.of(5, 1), extents, rig.anna);
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(G, G, 0));
        for (long offset : new long[] {0, 17, 100, G - 1}) {
            rig.backing.commit(address, offset, 1);
        }
        assertThat(rig.backing.committedBytes(address)).isEqualTo(G);
        rig.backing.commit(address, 2 * G - 1, 2);
        assertThat(rig.backing.committedBytes(address)).isEqualTo(3 * G);
        rig.backing.commit(address, 10, 8 * G);
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(9 * G, 9 * G, 0));
        rig.check();
        assertThat(rig.release(address, 64 * G, rig.anna)).isEqualTo(new Complete(9 * G));
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B04 commit is idempotent, contents survive, the address stays")
    void commitTwice() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(16 * G, 1, Ranges.of(G, 2 * G), Extents.PIECES, rig.anna);
        rig.fill(address + G, 2 * G, 0x33);
        long calls = rig.driver.calls();
        rig.backing.commit(address, G, 2 * G);
        rig.backing.commit(address, G + 5, 7);
        assertThat(rig.driver.calls()).isEqualTo(calls);
        rig.backing.commit(address, 0, 16 * G);
        rig.checkHolds(address + G, 2 * G, 0x33);
        rig.checkHolds(address + 3 * G, 13 * G, 0);
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(16 * G, 16 * G, 0));
        rig.check();
        rig.releaseCompletely(address, 16 * G, rig.anna);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B05 a commit refused by the budget at any step leaves everything as it was")
    void refusedByTheBudget() {
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING)) {
            for (int room = 0; room < 9; room++) {
                var rig = new Rig(sizes);
                rig.releaseCompletely(rig.allocate(3 * G, rig.bert), 3 * G, rig.bert);
                long address = rig.backing.reserve(16 * G, 1, Ranges.of(3 * G, G), Extents.PIECES, rig.anna);
                rig.fill(address + 3 * G, G, 0x55);
                rig.anna.limit((1 + room) * G);
                var before = rig.anna.figures();
                assertThatThrownBy(() -> rig.backing.commit(address, 0, 10 * G))
                        .isInstanceOf(BudgetExceededException.class);
                rig.check();
                assertThat(rig.anna.figures()).isEqualTo(before);
                assertThat(rig.backing.committedBytes(address)).isEqualTo(G);
                assertThat(rig.backing.access(address, 0, G)).isEqualTo(Access.NONE);
                rig.checkHolds(address + 3 * G, G, 0x55);
                rig.anna.limit(10 * G);
                rig.backing.commit(address, 0, 10 * G);
                rig.checkHolds(address + 3 * G, G, 0x55);
                rig.releaseCompletely(address, 16 * G, rig.anna);
                rig.checkSpotless();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Call.class,
            names = {"CREATE", "MAP", "PROTECT"})
    @DisplayName("B05 a commit refused by the driver at any step leaves everything as it was")
    void refusedByTheDriver(Call call) {
        for (var extents : Extents.values()) {
            for (int step = 1; ; step++) {
                var rig = new Rig(Sizes.BARE);
                long address = rig.backing.reserve(16 * G, 1, Ranges.of(3 * G, G), extents, rig.anna);
                rig.fill(address + 3 * G, G, 0x55);
                var before = rig.anna.figures();
                long calls = rig.driver.calls(call);
                rig.driver.fail(call, step, Kind.OUT_OF_MEMORY);
                try {
                    rig.backing.commit(address, 0, 10 * G);
                    assertThat(rig.driver.calls(call) - calls)
                            .as("all steps were tried")
                            .isLessThan(step);
                    rig.releaseCompletely(address, 16 * G, rig.anna);
                    break;
                } catch (DriverFaultException e) {
                    assertThat(e.kind()).isEqualTo(Kind.OUT_OF_MEMORY);
                }
                rig.check();
                assertThat(rig.anna.figures()).isEqualTo(before);
                assertThat(rig.backing.committedBytes(address)).isEqualTo(G);
                rig.checkHolds(address + 3 * G, G, 0x55);
                rig.backing.commit(address, 0, 10 * G);
                rig.checkHolds(address, 3 * G, 0);
                rig.releaseCompletely(address, 16 * G, rig.anna);
                rig.checkSpotless();
            }
        }
    }

    @Test
    @DisplayName("B06 a granule with other committed bytes stays, contents included")
    void decommitOfAPartOfAGranule() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(4 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES, rig.anna);
        rig.fill(address, 2 * G, 0x11);
        assertThat(rig.backing.decommit(address, 100, G)).isEqualTo(new Complete(0));
        rig.checkHolds(address, 100, 0x11);
        rig.checkHolds(address + G + 100, G - 100, 0x11);
        assertThat(rig.backing.access(address, 0, 100)).isEqualTo(Access.READ_WRITE);
        assertThat(rig.backing.access(address, 0, 101)).isEqualTo(Access.NONE);
        assertThat(rig.backing.access(address, 99 + G, 2)).isEqualTo(Access.NONE);
        assertThat(rig.backing.decommit(address, 0, 100)).isEqualTo(new Complete(G));
        assertThat(rig.backing.committedBytes(address)).isEqualTo(G);
        rig.checkHolds(address + G + 100, G - 100, 0x11);
        rig.check();
        rig.releaseCompletely(address, 4 * G, rig.anna);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B06 an extent of several granules stays while one of them is needed")
    void decommitOfAPartOfAnExtent() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(4 * G, 1, Ranges.of(0, 4 * G), Extents.WHOLE, rig.anna);
        rig.fill(address, 4 * G, 0x11);
        assertThat(rig.backing.decommit(address, 0, 3 * G)).isEqualTo(new Complete(0));
        rig.checkHolds(address + 3 * G, G, 0x11);
        assertThat(rig.backing.decommit(address, 3 * G, G)).isEqualTo(new Complete(4 * G));
        rig.check();
        rig.releaseCompletely(address, 4 * G, rig.anna);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B07 decommit gives exactly what left, then 0; neighbours stay; nobody sees another's bytes")
    void decommitAndCommitAgain() {
        var rig = new Rig(Sizes.POOLING);
        long address = rig.backing.reserve(8 * G, 1, Ranges.of(0, 8 * G), Extents.PIECES, rig.anna);
        rig.fill(address, 8 * G, 0x77);
        assertThat(rig.backing.decommit(address, 2 * G, 3 * G)).isEqualTo(new Complete(3 * G));
        assertThat(rig.backing.decommit(address, 2 * G, 3 * G)).isEqualTo(new Complete(0));
        rig.checkHolds(address, 2 * G, 0x77);
        rig.checkHolds(address + 5 * G, 3 * G, 0x77);
        assertThat(rig.anna.figures()).isEqualTo(new TestLedger.Figures(5 * G, 5 * G, 0));
        assertThat(rig.ledger.idle.figures().owned()).isEqualTo(3 * G);
        long other = rig.backing.reserve(3 * G, 1, Ranges.of(0, 3 * G), Extents.PIECES, rig.bert);
        rig.checkHolds(other, 3 * G, 0);
        rig.backing.commit(address, 2 * G, 3 * G);
        rig.checkHolds(address + 2 * G, 3 * G, 0);
        rig.check();
        rig.releaseCompletely(address, 8 * G, rig.anna);
        rig.releaseCompletely(other, 3 * G, rig.bert);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B08 ranges outside, negative or overflowing are refused with the legal bounds")
    void rangesOutside() {
        var rig = new Rig(Sizes.BARE);
        long bytes = 3 * G + 10;
        long address = rig.backing.reserve(bytes, 1, Ranges.of(0, 1), Extents.PIECES, rig.anna);
        long[][] wrong = {
            {-1, 1},
            {0, -1},
            {0, 0},
            {0, bytes + 1},
            {bytes, 1},
            {1, bytes},
            {Long.MAX_VALUE, 1},
            {1, Long.MAX_VALUE},
            {Long.MAX_VALUE, Long.MAX_VALUE},
            {Long.MIN_VALUE, Long.MIN_VALUE},
            {bytes, 0}
        };
        long calls = rig.driver.calls();
        for (long[] range : wrong) {
            assertThatThrownBy(() -> rig.backing.commit(address, range[0], range[1]))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(String.valueOf(bytes));
            assertThat(rig.backing.decommit(address, range[0], range[1]))
                    .isInstanceOfSatisfying(Failed.class, failed -> assertThat(failed.cause())
                            .hasMessageContaining(String.valueOf(bytes)));
            assertThatThrownBy(() -> rig.backing.access(address, range[0], range[1]))
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> rig.backing.reserve(G, 1, Ranges.of(G, 1), Extents.PIECES, rig.anna))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(rig.driver.calls()).isEqualTo(calls);
        rig.check();
        rig.releaseCompletely(address, bytes, rig.anna);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B09 release with some ranges committed reports exactly what was unmapped")
    void releaseReports() {
        var rig = new Rig(Sizes.BARE);
        var ranges = Ranges.of(1, 1).and(5 * G, 2 * G).and(9 * G + 1, G);
        long address = rig.backing.reserve(16 * G, 1, ranges, Extents.PIECES, rig.anna);
        assertThat(rig.backing.decommit(address, 5 * G, G)).isEqualTo(new Complete(G));
        assertThat(rig.release(address, 16 * G, rig.anna)).isEqualTo(new Complete(4 * G));
        long empty = rig.backing.reserve(16 * G, 1, Ranges.none(), Extents.PIECES, rig.anna);
        assertThat(rig.release(empty, 16 * G, rig.anna)).isEqualTo(new Complete(0));
        rig.checkSpotless();
    }

    @Test
    @DisplayName("B10 growing by one granule costs the same at every step, a big commit few calls")
    void callsPerStep() {
        var rig = new Rig(Sizes.BARE.withCapacity(4096 * G).withExtent(1024 * G));
        long address = rig.backing.reserve(1000 * G, 1, Ranges.none(), Extents.PIECES, rig.anna);
        long perStep = 0;
        for (int step = 0; step < 1000; step++) {
            long before = rig.driver.calls();
            rig.backing.commit(address, step * G, G);
            long calls = rig.driver.calls() - before;
            assertThat(step == 0 || calls == perStep)
                    .as("calls of step %d: %d", step, calls)
                    .isTrue();
            perStep = calls;
        }
        assertThat(perStep).isLessThanOrEqualTo(3);
        long before = rig.driver.calls();
        long big = rig.backing.reserve(1000 * G, 1, Ranges.of(0, 1000 * G), Extents.WHOLE, rig.anna);
        assertThat(rig.driver.calls() - before).isLessThanOrEqualTo(4);
        before = rig.driver.calls();
        rig.releaseCompletely(big, 1000 * G, rig.anna);
        assertThat(rig.driver.calls() - before).isLessThanOrEqualTo(2);
        before = rig.driver.calls(Call.UNMAP);
        rig.releaseCompletely(address, 1000 * G, rig.anna);
        assertThat(rig.driver.calls(Call.UNMAP) - before)
                .as("one unmap for a run")
                .isEqualTo(1);
        rig.checkSpotless();
    }

    @Test
    void driverCallsAreCounted() {
        var rig = new Rig(Sizes.BARE);
        rig.releaseCompletely(rig.allocate(9 * G, rig.anna), 9 * G, rig.anna);
        assertThat(rig.backing.driverCalls()).isEqualTo(rig.driver.calls());
        rig.checkSpotless();
    }
}
