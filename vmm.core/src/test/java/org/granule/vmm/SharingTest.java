package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.granule.vmm.Rig.G;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import org.granule.memory.Access;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.StaleTokenException;
import org.granule.memory.UndoFailedException;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.TestLedger.Figures;
import org.granule.vmm.TestLedger.TestAccount;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One piece of memory at several addresses. */
class SharingTest {

    private static final long SIZE = 8 * G;

    private static long reserve(Rig rig, TestAccount account) {
        return rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, account);
    }

    private static long written(Rig rig, TestAccount account, int granules, int value) {
        long address = rig.backing.reserve(SIZE, 1, Ranges.of(0, granules * G), Extents.PIECES, account);
        rig.fill(address, granules * G, value);
        return address;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    @DisplayName("C01 owned once, mapped N times, freed by the last one, in every order, creator first included")
    void everyOrder(int seed) {
        var random = new Random(seed);
        var rig = new Rig(seed % 2 == 0 ? Sizes.BARE : Sizes.POOLING);
        long creator = written(rig, rig.anna, 3, 0x21);
        long prefix = rig.sharing.share(creator, 0, 3 * G);
        List<Runnable> leaving = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            long sharer = reserve(rig, rig.bert);
            assertThat(rig.sharing.price(prefix, rig.bert)).isZero();
            rig.sharing.map(prefix, sharer, G);
            assertThat(rig.anna.figures()).isEqualTo(new Figures(3 * G, 3 * G, 0));
            assertThat(rig.bert.figures()).isEqualTo(new Figures(0, 3 * G * (i + 1), 0));
            rig.check();
            if (random.nextBoolean()) {
                leaving.add(() -> rig.releaseCompletely(sharer, SIZE, rig.bert));
            } else {
                leaving.add(() -> {
                    assertThat(rig.sharing.unmap(prefix, sharer, G)).isEqualTo(new Complete(3 * G));
                    rig.check();
                    rig.releaseCompletely(sharer, SIZE, rig.bert);
                });
            }
        }
        Runnable creatorLeaves = () -> rig.releaseCompletely(creator, SIZE, rig.anna);
        leaving.add(creatorLeaves);
        leaving.add(() -> assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class));
        Collections.shuffle(leaving, random);
        if (seed == 1) {
            Collections.swap(leaving, 0, leaving.indexOf(creatorLeaves));
        }
        for (int i = 0; i < leaving.size(); i++) {
            assertThat(rig.anna.figures().owned())
                    .as("charged until the last has gone")
                    .isEqualTo(3 * G);
            leaving.get(i).run();
            rig.check();
        }
        assertThat(rig.anna.figures()).isEqualTo(new Figures(0, 0, 0));
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C02 read identically through 64 mappings, a write through a sharer harms nobody")
    void readThroughMany() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 2, 0x42);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        List<Long> sharers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            sharers.add(reserve(rig, rig.bert));
            rig.sharing.map(prefix, sharers.getLast(), i % 4 * G);
        }
        for (int i = 0; i < 64; i++) {
            long at = sharers.get(i) + i % 4 * G;
            rig.checkHolds(at, 2 * G, 0x42);
            assertThat(rig.backing.access(sharers.get(i), i % 4 * G, 2 * G)).isEqualTo(Access.READ);
            assertThatThrownBy(() -> rig.driver.write(at, (byte) 1)).hasMessageContaining("faults");
        }
        rig.driver.write(creator, (byte) 9);
        sharers.forEach(address -> assertThat(rig.driver.read(address + sharers.indexOf(address) % 4 * G))
                .isEqualTo((byte) 9));
        sharers.forEach(address -> rig.releaseCompletely(address, SIZE, rig.bert));
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C03 another ledger or device is refused before a price, and for mapping")
    void anotherLedger() {
        var rig = new Rig(Sizes.BARE);
        var stranger = new TestLedger().account("anna", Long.MAX_VALUE);
        long creator = written(rig, rig.anna, 1, 0x42);
        long prefix = rig.sharing.share(creator, 0, G);
        assertThatThrownBy(() -> rig.sharing.price(prefix, stranger)).isInstanceOf(NotSupportedException.class);
        long foreign = rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, stranger);
        long calls = rig.driver.calls();
        assertThatThrownBy(() -> rig.sharing.map(prefix, foreign, 0)).isInstanceOf(NotSupportedException.class);
        assertThat(rig.driver.calls()).isEqualTo(calls);
        rig.check();
        rig.releaseCompletely(foreign, SIZE, stranger);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        rig.checkSpotless();
    }

    @Test
    void whatCannotBeSharedIsRefused() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 2, 0x42);
        for (long[] range : new long[][] {{0, 1}, {1, G}, {0, 0}, {0, -G}, {0, 3 * G}, {-G, G}, {SIZE, G}}) {
            assertThatThrownBy(() -> rig.sharing.share(creator, range[0], range[1]))
                    .isInstanceOf(InvalidRequestException.class);
        }
        long whole = rig.backing.reserve(SIZE, 1, Ranges.of(0, SIZE), Extents.WHOLE, rig.anna);
        assertThatThrownBy(() -> rig.sharing.share(whole, 0, G))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("PIECES");
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = rig.backing.reserve(SIZE, 1, Ranges.of(2 * G, 1), Extents.PIECES, rig.bert);
        for (long offset : new long[] {1, -G, G, 2 * G, 7 * G, SIZE, Long.MAX_VALUE - G + 1}) {
            assertThatThrownBy(() -> rig.sharing.map(prefix, sharer, offset))
                    .isInstanceOf(InvalidRequestException.class);
        }
        rig.check();
        rig.sharing.map(prefix, sharer, 0);
        rig.releaseCompletely(sharer, SIZE, rig.bert);
        rig.releaseCompletely(whole, SIZE, rig.anna);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C04 mapping fails at any granule: nothing of it stays, others are untouched")
    void mappingFailsAtAnyGranule() {
        for (var call : List.of(Call.MAP, Call.PROTECT)) {
            for (int k = 1; k <= (call == Call.MAP ? 4 : 1); k++) {
                var rig = new Rig(Sizes.BARE);
                long creator = written(rig, rig.anna, 4, 0x42);
                long prefix = rig.sharing.share(creator, 0, 4 * G);
                long first = reserve(rig, rig.bert);
                rig.sharing.map(prefix, first, 0);
                long second = reserve(rig, rig.bert);
                var before = rig.bert.figures();
                rig.driver.fail(call, k, Kind.INVALID);
                assertThatThrownBy(() -> rig.sharing.map(prefix, second, 2 * G))
                        .isInstanceOf(DriverFaultException.class);
                rig.check();
                assertThat(rig.bert.figures()).isEqualTo(before);
                assertThat(rig.backing.committedBytes(second)).isZero();
                rig.checkHolds(first, 4 * G, 0x42);
                rig.sharing.map(prefix, second, 2 * G);
                rig.checkHolds(second + 2 * G, 4 * G, 0x42);
                rig.releaseCompletely(creator, SIZE, rig.anna);
                rig.releaseCompletely(first, SIZE, rig.bert);
                assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
                rig.releaseCompletely(second, SIZE, rig.bert);
                rig.checkSpotless();
            }
        }
    }

    @Test
    @DisplayName("C05 releasing a shared mapping twice, or never mapped: Failed, refunded once")
    void releasedTwice() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 2, 0x42);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = reserve(rig, rig.bert);
        assertThat(rig.sharing.unmap(prefix, sharer, 0)).isInstanceOf(Failed.class);
        rig.sharing.map(prefix, sharer, 2 * G);
        assertThat(rig.sharing.unmap(prefix, sharer, 0)).isInstanceOf(Failed.class);
        assertThat(rig.sharing.unmap(prefix, sharer, 3 * G)).as("its middle").isInstanceOf(Failed.class);
        assertThat(rig.sharing.unmap(prefix + 1, sharer, 2 * G)).isInstanceOf(Failed.class);
        assertThat(rig.sharing.unmap(prefix, creator, 0))
                .as("the creator's own")
                .isInstanceOf(Failed.class);
        assertThat(rig.sharing.unmap(prefix, sharer, 2 * G)).isEqualTo(new Complete(2 * G));
        assertThat(rig.sharing.unmap(prefix, sharer, 2 * G)).isInstanceOf(Failed.class);
        rig.check();
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Failed.class);
        assertThatThrownBy(() -> rig.sharing.price(prefix, rig.bert)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> rig.sharing.map(prefix, sharer, 0)).isInstanceOf(StaleTokenException.class);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.releaseCompletely(sharer, SIZE, rig.bert);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C05 a failed release of a mapping refunds nothing and keeps it usable")
    void failedUnmapKeepsTheState() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 2, 0x42);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = reserve(rig, rig.bert);
        rig.sharing.map(prefix, sharer, 0);
        var before = rig.bert.figures();
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThat(rig.sharing.unmap(prefix, sharer, 0)).isInstanceOf(Failed.class);
        assertThat(rig.bert.figures()).isEqualTo(before);
        rig.checkHolds(sharer, 2 * G, 0x42);
        assertThat(rig.backing.access(sharer, 0, 2 * G)).isEqualTo(Access.READ);
        assertThat(rig.sharing.unmap(prefix, sharer, 0)).isEqualTo(new Complete(2 * G));
        rig.releaseCompletely(sharer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C05 releasing a mapping from 8 threads at once: refunded once")
    void releasedByManyThreads() throws Exception {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 2, 0x42);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = reserve(rig, rig.bert);
        var barrier = new CyclicBarrier(8);
        try (var threads = Executors.newFixedThreadPool(8)) {
            for (int round = 0; round < 200; round++) {
                rig.sharing.map(prefix, sharer, 0);
                Callable<ReleaseOutcome> unmap = () -> {
                    barrier.await();
                    return rig.sharing.unmap(prefix, sharer, 0);
                };
                int complete = 0;
                for (var result : threads.invokeAll(Collections.nCopies(8, unmap))) {
                    if (result.get() instanceof Complete done) {
                        assertThat(done.unmappedBytes()).isEqualTo(2 * G);
                        complete++;
                    }
                }
                assertThat(complete).isEqualTo(1);
                rig.check();
            }
        }
        rig.releaseCompletely(sharer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C07 keys and values: the second fails, the first is undone and then mapped again")
    void prefixPair() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 4, 0x42);
        long keys = rig.sharing.share(creator, 0, 2 * G);
        long values = rig.sharing.share(creator, 2 * G, 2 * G);
        long sharer = reserve(rig, rig.bert);
        rig.sharing.map(keys, sharer, 0);
        rig.driver.fail(Call.MAP, 2, Kind.OUT_OF_MEMORY);
        assertThatThrownBy(() -> rig.sharing.map(values, sharer, 4 * G)).isInstanceOf(DriverFaultException.class);
        assertThat(rig.sharing.unmap(keys, sharer, 0)).isEqualTo(new Complete(2 * G));
        rig.check();
        rig.backing.commit(sharer, 0, SIZE);
        rig.checkHolds(sharer, SIZE, 0);
        rig.releaseCompletely(sharer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(keys);
        rig.sharing.retire(values);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C09 the writer gets its own copy, the others keep theirs, accounts move accordingly")
    void copyOnWrite() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 3, 0x42);
        long prefix = rig.sharing.share(creator, 0, 3 * G);
        long writer = reserve(rig, rig.bert);
        long reader = reserve(rig, rig.bert);
        rig.sharing.map(prefix, writer, G);
        rig.sharing.map(prefix, reader, G);
        rig.sharing.privatise(writer, 3 * G, G);
        rig.check();
        assertThat(rig.bert.figures()).isEqualTo(new Figures(G, 6 * G, 0));
        assertThat(rig.backing.access(writer, 3 * G, G)).isEqualTo(Access.READ_WRITE);
        assertThat(rig.backing.access(writer, G, 3 * G)).isEqualTo(Access.READ);
        rig.checkHolds(writer + G, 3 * G, 0x42);
        rig.fill(writer + 3 * G, G, 0x43);
        rig.checkHolds(reader + G, 3 * G, 0x42);
        rig.checkHolds(creator, 3 * G, 0x42);
        rig.sharing.privatise(writer, 0, SIZE);
        assertThat(rig.bert.figures()).isEqualTo(new Figures(3 * G, 6 * G, 0));
        rig.checkHolds(writer + 3 * G, G, 0x43);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.releaseCompletely(reader, SIZE, rig.bert);
        rig.check();
        assertThat(rig.anna.figures()).isEqualTo(new Figures(0, 0, 0));
        rig.checkHolds(writer + G, 2 * G, 0x42);
        rig.releaseCompletely(writer, SIZE, rig.bert);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("C09 a private granule in the middle of an attachment outlives its detaching")
    void detachAroundAPrivateGranule() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 3, 0x42);
        long prefix = rig.sharing.share(creator, 0, 3 * G);
        long writer = reserve(rig, rig.bert);
        rig.sharing.map(prefix, writer, 0);
        rig.sharing.privatise(writer, G, G);
        rig.fill(writer + G, G, 0x43);
        assertThat(rig.sharing.unmap(prefix, writer, 0)).isEqualTo(new Complete(2 * G));
        assertThat(rig.backing.access(writer, G, G)).isEqualTo(Access.READ_WRITE);
        assertThat(rig.backing.access(writer, 0, G)).isEqualTo(Access.NONE);
        rig.checkHolds(writer + G, G, 0x43);
        rig.check();
        rig.releaseCompletely(writer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    @DisplayName("C09 a copy that the budget refuses changes nothing, whichever granule it is")
    void copyRefused(int room) {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 3, 0x42);
        long prefix = rig.sharing.share(creator, 0, 3 * G);
        long writer = reserve(rig, rig.bert);
        rig.sharing.map(prefix, writer, 0);
        rig.bert.limit(room * G);
        var before = rig.bert.figures();
        assertThatThrownBy(() -> rig.sharing.privatise(writer, 0, 3 * G)).isInstanceOf(BudgetExceededException.class);
        assertThat(rig.bert.figures()).isEqualTo(before);
        assertThat(rig.backing.access(writer, 0, 1)).isEqualTo(Access.READ);
        rig.check();
        rig.bert.limit(3 * G);
        rig.sharing.privatise(writer, 0, 3 * G);
        rig.checkHolds(writer, 3 * G, 0x42);
        rig.releaseCompletely(writer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    @DisplayName("C09 a copy that the driver refuses at any call changes nothing")
    void copyFails(Call call) {
        for (int step = 1; ; step++) {
            var rig = new Rig(Sizes.BARE);
            long creator = written(rig, rig.anna, 3, 0x42);
            long prefix = rig.sharing.share(creator, 0, 3 * G);
            long writer = reserve(rig, rig.bert);
            rig.sharing.map(prefix, writer, 0);
            var before = rig.bert.figures();
            long calls = rig.driver.calls(call);
            rig.driver.fail(call, step, Kind.INVALID);
            boolean failed = false;
            try {
                rig.sharing.privatise(writer, 0, 3 * G);
            } catch (DriverFaultException e) {
                failed = true;
                assertThat(rig.bert.figures()).isEqualTo(before);
                assertThat(rig.backing.access(writer, 0, 3 * G)).isEqualTo(Access.READ);
                rig.checkHolds(writer, 3 * G, 0x42);
            }
            rig.check();
            rig.checkHolds(creator, 3 * G, 0x42);
            boolean tried = rig.driver.calls(call) - calls >= step;
            rig.driver.heal();
            if (!failed) {
                assertThat(rig.backing.access(writer, 0, 3 * G)).isEqualTo(Access.READ_WRITE);
                rig.checkHolds(writer, 3 * G, 0x42);
            }
            rig.releaseCompletely(writer, SIZE, rig.bert);
            rig.releaseCompletely(creator, SIZE, rig.anna);
            rig.sharing.retire(prefix);
            rig.checkEmpty();
            if (!tried) {
                break;
            }
        }
    }

    @Test
    @DisplayName("D11 neither the copy nor the shared granule can be mapped: the first error is the cause")
    void copyAndUndoFail() {
        var rig = new Rig(Sizes.BARE);
        long creator = written(rig, rig.anna, 1, 0x42);
        long prefix = rig.sharing.share(creator, 0, G);
        long writer = reserve(rig, rig.bert);
        rig.sharing.map(prefix, writer, 0);
        // The first map puts the copy beside, the second in its place, the third the shared granule back.
        rig.driver.fail(Call.MAP, 2, Kind.OUT_OF_MEMORY);
        rig.driver.fail(Call.MAP, 3, Kind.INVALID);
        assertThatThrownBy(() -> rig.sharing.privatise(writer, 0, G))
                .isInstanceOf(UndoFailedException.class)
                .cause()
                .isInstanceOfSatisfying(DriverFaultException.class, first -> assertThat(first.kind())
                        .isEqualTo(Kind.OUT_OF_MEMORY));
        rig.check();
        assertThat(rig.backing.access(writer, 0, 1)).isEqualTo(Access.NONE);
        assertThat(rig.bert.figures()).isEqualTo(new Figures(0, 0, 0));
        rig.checkHolds(creator, G, 0x42);
        rig.backing.commit(writer, 0, G);
        rig.releaseCompletely(writer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkSpotless();
    }

    @Test
    void aStuckCopyBesideIsNotReused() {
        var rig = new Rig(Sizes.POOLING);
        long creator = written(rig, rig.anna, 1, 0x42);
        long prefix = rig.sharing.share(creator, 0, G);
        long writer = reserve(rig, rig.bert);
        rig.sharing.map(prefix, writer, 0);
        rig.driver.fail(Call.COPY, 1, Kind.INVALID);
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThatThrownBy(() -> rig.sharing.privatise(writer, 0, G))
                .isInstanceOf(UndoFailedException.class)
                .hasCauseInstanceOf(DriverFaultException.class);
        rig.check();
        long other = rig.allocate(G, rig.bert);
        rig.fill(other, G, 0x11);
        assertThat(rig.allocator.settle()).isEqualTo(G);
        rig.check();
        rig.checkHolds(other, G, 0x11);
        rig.releaseCompletely(other, G, rig.bert);
        rig.releaseCompletely(writer, SIZE, rig.bert);
        rig.releaseCompletely(creator, SIZE, rig.anna);
        rig.sharing.retire(prefix);
        rig.checkEmpty();
    }
}
