package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.granule.vmm.Rig.G;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.UndoFailedException;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.TestLedger.Figures;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What could not be given back stays charged, and its addresses never return. */
class QuarantineTest {

    private static final long SIZE = 16 * G;

    /** Three runs of two granules, each alone. */
    private static final Ranges RUNS = Ranges.of(0, 2 * G).and(4 * G, 2 * G).and(8 * G, 2 * G);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    @DisplayName("D01 the unmap of any one run fails: the others go, that one is never issued again nor refunded")
    void unmapOfOneRunFails(int run) {
        unmapOfOneRunFails(new Rig(Sizes.BARE), run);
    }

    static void unmapOfOneRunFails(Rig rig, int run) {
        long address = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
        long other = rig.allocate(G, rig.bert);
        rig.driver.fail(Call.UNMAP, run, Kind.INVALID);
        assertThat(rig.release(address, SIZE, rig.anna)).isInstanceOfSatisfying(Quarantined.class, left -> {
            assertThat(left.unmappedBytes()).isEqualTo(4 * G);
            assertThat(left.ownedBytes()).isEqualTo(2 * G);
            assertThat(left.cause()).isInstanceOf(DriverFaultException.class);
        });
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(2 * G, 2 * G, 2 * G));
        assertThat(rig.allocator.quarantined()).isEqualTo(2);
        assertThat(rig.release(address, SIZE, rig.anna)).isInstanceOf(Failed.class);
        Set<Long> issued = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            long next = rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, rig.anna);
            assertThat(next >= address + SIZE || next + SIZE <= address)
                    .as("addresses in quarantine")
                    .isTrue();
            issued.add(next);
        }
        issued.forEach(next -> rig.releaseCompletely(next, SIZE, rig.anna));
        assertThat(rig.allocator.settle()).isEqualTo(2 * G);
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(0, 0, 0));
        assertThat(rig.allocator.settle()).as("settled once").isZero();
        long next = rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, rig.anna);
        assertThat(next).isNotEqualTo(address);
        rig.releaseCompletely(next, SIZE, rig.anna);
        rig.releaseCompletely(other, G, rig.bert);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D02 the handle cannot be given back: mapped bytes are refunded, owned ones kept, it is never reused")
    void releaseOfTheHandleFails() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, Ranges.of(0, 3 * G), Extents.PIECES, rig.anna);
        rig.driver.fail(Call.RELEASE, 2, Kind.INVALID);
        assertThat(rig.release(address, SIZE, rig.anna)).isInstanceOfSatisfying(Quarantined.class, left -> {
            assertThat(left.unmappedBytes()).isEqualTo(3 * G);
            assertThat(left.ownedBytes()).isEqualTo(G);
        });
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(G, 0, G));
        long again = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
        assertThat(again).as("an address in quarantine").isNotEqualTo(address);
        assertThat(rig.anna.figures()).isEqualTo(new Figures(7 * G, 6 * G, G));
        rig.releaseCompletely(again, SIZE, rig.anna);
        assertThat(rig.allocator.settle()).isEqualTo(G);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D03 decommit fails at its first run: nothing changed")
    void decommitFailsAtOnce() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
        rig.fill(address, 2 * G, 0x61);
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThat(rig.backing.decommit(address, 0, SIZE)).isInstanceOf(Failed.class);
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(6 * G, 6 * G, 0));
        assertThat(rig.backing.committedBytes(address)).isEqualTo(6 * G);
        assertThat(rig.backing.access(address, 0, 2 * G)).isEqualTo(Access.READ_WRITE);
        rig.checkHolds(address, 2 * G, 0x61);
        assertThat(rig.backing.decommit(address, 0, SIZE)).isEqualTo(new Complete(6 * G));
        rig.releaseCompletely(address, SIZE, rig.anna);
        rig.checkSpotless();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    @DisplayName("D03 decommit fails in the middle: what is left is listed, nothing claims to be restored")
    void decommitFailsInTheMiddle(int run) {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, RUNS.and(12 * G, G), Extents.PIECES, rig.anna);
        rig.fill(address + 12 * G, G, 0x61);
        rig.driver.fail(Call.UNMAP, run, Kind.INVALID);
        assertThat(rig.backing.decommit(address, 0, 10 * G)).isInstanceOfSatisfying(Quarantined.class, left -> {
            assertThat(left.unmappedBytes()).isEqualTo(4 * G);
            assertThat(left.ownedBytes()).isEqualTo(2 * G);
        });
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(3 * G, 3 * G, 2 * G));
        long stuck = (run - 1) * 4 * G;
        assertThat(rig.backing.access(address, stuck, 2 * G)).isEqualTo(Access.NONE);
        assertThatThrownBy(() -> rig.backing.commit(address, stuck, G))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("quarantine");
        rig.checkHolds(address + 12 * G, G, 0x61);
        rig.check();
        assertThat(rig.allocator.settle()).isEqualTo(2 * G);
        rig.check();
        assertThat(rig.backing.committedBytes(address)).isEqualTo(G);
        assertThat(rig.release(address, SIZE, rig.anna)).isEqualTo(new Complete(G));
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D10 a failed unmap of an earlier cycle shows, and the next commit works")
    void nextCommitWorks() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
        rig.driver.fail(Call.UNMAP, 2, Kind.INVALID);
        assertThat(rig.backing.decommit(address, 0, 10 * G)).isInstanceOf(Quarantined.class);
        assertThat(rig.allocator.quarantined()).isEqualTo(2);
        rig.backing.commit(address, 0, 4 * G);
        rig.backing.commit(address, 6 * G, 10 * G);
        rig.check();
        assertThat(rig.release(address, SIZE, rig.anna))
                .isInstanceOfSatisfying(Quarantined.class, left -> assertThat(left.unmappedBytes())
                        .isEqualTo(14 * G));
        rig.check();
        assertThat(rig.allocator.settle()).isEqualTo(2 * G);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D11 of several failures the first is reported, for unmaps and for handles")
    void firstErrorIsReported() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
        long first = rig.driver.calls(Call.RELEASE) + 1;
        rig.driver.fail(Call.RELEASE, 1, Kind.INVALID);
        rig.driver.fail(Call.RELEASE, 2, Kind.OUT_OF_MEMORY);
        rig.driver.fail(Call.UNMAP, 2, Kind.INVALID);
        rig.driver.fail(Call.UNMAP, 3, Kind.INVALID);
        assertThat(rig.release(address, SIZE, rig.anna)).isInstanceOfSatisfying(Quarantined.class, left -> {
            assertThat(left.unmappedBytes()).isEqualTo(2 * G);
            assertThat(left.ownedBytes()).isEqualTo(6 * G);
            assertThat(left.cause()).hasMessageContaining("RELEASE number " + first);
        });
        rig.check();
        assertThat(rig.allocator.settle()).isEqualTo(6 * G);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D11 undo touches only what was done, and the first error is the cause when it fails too")
    void undoFails() {
        var rig = new Rig(Sizes.BARE);
        long address = rig.backing.reserve(SIZE, 1, Ranges.of(2 * G, G), Extents.PIECES, rig.anna);
        rig.fill(address + 2 * G, G, 0x61);
        long unmaps = rig.driver.calls(Call.UNMAP);
        rig.driver.fail(Call.MAP, 3, Kind.OUT_OF_MEMORY);
        assertThatThrownBy(() -> rig.backing.commit(address, 0, 6 * G)).isInstanceOf(DriverFaultException.class);
        assertThat(rig.driver.calls(Call.UNMAP) - unmaps)
                .as("one run was mapped")
                .isEqualTo(1);
        rig.check();
        rig.driver.fail(Call.MAP, 4, Kind.OUT_OF_MEMORY);
        rig.driver.fail(Call.UNMAP, 2, Kind.INVALID);
        assertThatThrownBy(() -> rig.backing.commit(address, 0, 6 * G))
                .isInstanceOf(UndoFailedException.class)
                .cause()
                .hasMessageContaining("MAP number")
                .isInstanceOfSatisfying(
                        DriverFaultException.class, e -> assertThat(e.kind()).isEqualTo(Kind.OUT_OF_MEMORY));
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(2 * G, 2 * G, G));
        rig.checkHolds(address + 2 * G, G, 0x61);
        assertThat(rig.release(address, SIZE, rig.anna)).isInstanceOf(Quarantined.class);
        assertThat(rig.allocator.settle()).isEqualTo(G);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D11 what a failed request cannot give back is said, with the first error as its cause")
    void whatStaysIsSaid() {
        var rig = new Rig(Sizes.BARE);
        rig.driver.fail(Call.MAP, 1, Kind.OUT_OF_MEMORY);
        rig.driver.fail(Call.RELEASE, 1, Kind.INVALID);
        assertThatThrownBy(() -> rig.allocate(G, rig.anna))
                .isInstanceOf(UndoFailedException.class)
                .cause()
                .hasMessageContaining("MAP number 1");
        assertThat(rig.anna.figures()).isEqualTo(new Figures(G, 0, G));
        rig.check();
        rig.driver.fail(Call.CREATE, 2, Kind.OUT_OF_MEMORY);
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThatThrownBy(() ->
                        rig.backing.reserve(SIZE, 1, Ranges.of(0, 1).and(G, 1).and(4 * G, 1), Extents.PIECES, rig.anna))
                .isInstanceOf(UndoFailedException.class)
                .cause()
                .hasMessageContaining("CREATE number");
        rig.check();
        assertThat(rig.allocator.settle()).isEqualTo(2 * G);
        rig.checkEmpty();
    }

    @Test
    @DisplayName("D06 device lost: no call afterwards, no refund until its context is gone, then all settles once")
    void deviceLost() {
        for (var sizes : List.of(Sizes.BARE, Sizes.KEEPING)) {
            var rig = new Rig(sizes);
            long creator = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna);
            long prefix = rig.sharing.share(creator, 0, 2 * G);
            long sharer = rig.backing.reserve(SIZE, 1, Ranges.of(8 * G, G), Extents.PIECES, rig.bert);
            rig.sharing.map(prefix, sharer, 0);
            long block = rig.allocate(3 * G, rig.bert);
            rig.releaseCompletely(rig.allocate(5 * G, rig.anna), 5 * G, rig.anna);
            long owned = rig.ledger.owned();
            rig.driver.fail(Call.RESERVE, 1, Kind.DEVICE_LOST);
            assertThatThrownBy(() -> rig.backing.reserve(1L << 40, 1, Ranges.none(), Extents.PIECES, rig.anna))
                    .isInstanceOfSatisfying(DriverFaultException.class, e -> assertThat(e.kind())
                            .isEqualTo(Kind.DEVICE_LOST));
            long calls = rig.driver.calls();
            assertThatThrownBy(() -> rig.allocate(100 * G, rig.anna)).isInstanceOf(DriverFaultException.class);
            assertThatThrownBy(() -> rig.backing.commit(creator, 2 * G, 1)).isInstanceOf(DriverFaultException.class);
            assertThatThrownBy(() -> rig.sharing.map(prefix, sharer, 4 * G)).isInstanceOf(DriverFaultException.class);
            assertThat(rig.allocator.trim(Long.MAX_VALUE)).isZero();
            assertThat(rig.release(sharer, SIZE, rig.bert)).isInstanceOf(Quarantined.class);
            assertThat(rig.backing.decommit(creator, 4 * G, 2 * G)).isInstanceOf(Quarantined.class);
            assertThat(rig.allocator.settle()).isZero();
            assertThat(rig.driver.calls()).as("calls after the device was lost").isEqualTo(calls);
            assertThat(rig.ledger.owned()).as("nothing is refunded").isEqualTo(owned);
            rig.check();
            rig.allocator.deviceGone();
            rig.releaseCompletely(block, 3 * G, rig.bert);
            assertThat(rig.release(creator, SIZE, rig.anna)).isInstanceOf(Complete.class);
            assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
            assertThat(rig.allocator.deviceGone()).as("settles once").isZero();
            assertThat(rig.driver.calls()).isEqualTo(calls);
            assertThat(rig.driver.violations()).isEmpty();
            assertThat(rig.ledger.violations()).isEmpty();
            assertThat(rig.ledger.owned()).isZero();
            assertThat(rig.ledger.mapped()).isZero();
            assertThat(rig.ledger.quarantined()).isZero();
            assertThat(rig.allocator.quarantined()).isZero();
            assertThatThrownBy(() -> rig.allocate(G, rig.anna)).isInstanceOf(DriverFaultException.class);
            rig.allocator.close();
            assertThat(rig.driver.calls()).isEqualTo(calls);
        }
    }

    @Test
    void aDeviceThatWorksIsNotGone() {
        var rig = new Rig(Sizes.KEEPING);
        long block = rig.allocate(3 * G, rig.bert);
        rig.releaseCompletely(rig.allocate(5 * G, rig.anna), 5 * G, rig.anna);
        assertThat(rig.allocator.deviceGone()).isZero();
        rig.check();
        rig.releaseCompletely(block, 3 * G, rig.bert);
        rig.checkSpotless();
    }

    @Test
    void aStuckMappingOfAPrefixKeepsItsHandle() {
        var rig = new Rig(Sizes.POOLING);
        long creator = rig.backing.reserve(SIZE, 1, Ranges.of(0, 2 * G), Extents.PIECES, rig.anna);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, rig.bert);
        rig.sharing.map(prefix, sharer, 0);
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThat(rig.release(sharer, SIZE, rig.bert)).isInstanceOf(Quarantined.class);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        rig.check();
        assertThat(rig.anna.figures().owned()).isEqualTo(2 * G);
        assertThat(rig.bert.figures().mapped()).isEqualTo(2 * G);
        assertThat(rig.allocator.settle()).isEqualTo(2 * G);
        rig.checkEmpty();
    }

    @Test
    void anArenaThatCannotBeFreedIsFreedNextTime() {
        var rig = new Rig(Sizes.BARE);
        rig.releaseCompletely(rig.allocate(G, rig.anna), G, rig.anna);
        rig.driver.fail(Call.FREE, 1, Kind.INVALID);
        assertThatThrownBy(rig.allocator::close).isInstanceOf(DriverFaultException.class);
        assertThat(rig.driver.liveReservations()).isEqualTo(1);
        rig.releaseCompletely(rig.allocate(G, rig.anna), G, rig.anna);
        rig.checkSpotless();
    }
}
