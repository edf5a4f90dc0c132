package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.granule.vmm.Rig.G;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
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
import org.junit.jupiter.params.provider.MethodSource;

/** Each operation with each of its driver calls failing in each way, alone and in pairs. */
class FaultTest {

    private static final long SIZE = 16 * G;
    private static final Ranges RUNS = Ranges.of(0, 2 * G).and(4 * G, 2 * G).and(8 * G, 2 * G);

    /** Runs an operation; the outcome of one that releases, otherwise null. */
    private interface Step {
        ReleaseOutcome run(Scene scene);
    }

    private record Operation(String name, Sizes sizes, Step prepare, Step run) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** What an operation works on: memory of anna, and of bert who has nothing to do with it. */
    private static final class Scene {
        final Rig rig;
        final long untouched;
        final long shared;
        final long prefix;
        long target;
        long other;

        Scene(Rig rig) {
            this.rig = rig;
            untouched = rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.bert);
            rig.mark(untouched, 2 * G, 0x5A);
            shared = rig.backing.reserve(SIZE, 1, Ranges.of(0, 4 * G), Extents.PIECES, rig.bert);
            rig.mark(shared, 4 * G, 0x5B);
            prefix = rig.sharing.share(shared, 0, 4 * G);
        }

        void checkUntouched(Figures before) {
            assertThat(rig.bert.figures()).as("the other account").isEqualTo(before);
            rig.checkMarked(untouched, 2 * G, 0x5A);
            rig.checkMarked(shared, 4 * G, 0x5B);
            assertThat(rig.backing.access(untouched, 0, 2 * G)).isEqualTo(Access.READ_WRITE);
        }
    }

    static Stream<Operation> operations() {
        List<Operation> all = new ArrayList<>();
        for (var sizes : List.of(Sizes.BARE, Sizes.POOLING, Sizes.KEEPING)) {
            var how = sizes == Sizes.BARE ? ", bare" : sizes == Sizes.POOLING ? ", pooling" : ", keeping";
            Step nothing = scene -> null;
            Step reserve = scene -> {
                scene.target = scene.rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, scene.rig.anna);
                scene.rig.mark(scene.target, 2 * G, 0x41);
                return null;
            };
            Step attach = scene -> {
                scene.target = scene.rig.backing.reserve(SIZE, 1, Ranges.of(12 * G, G), Extents.PIECES, scene.rig.anna);
                scene.rig.sharing.map(scene.prefix, scene.target, 2 * G);
                return null;
            };
            Step idle = scene -> {
                long one = scene.rig.allocate(10 * G, scene.rig.anna);
                long two = scene.rig.allocate(2 * G, scene.rig.anna);
                scene.rig.mark(one, 10 * G, 0x41);
                scene.rig.mark(two, 2 * G, 0x41);
                scene.rig.release(one, 10 * G, scene.rig.anna);
                return scene.rig.release(two, 2 * G, scene.rig.anna);
            };
            all.add(new Operation("allocate" + how, sizes, nothing, scene -> {
                scene.target = scene.rig.allocate(10 * G, scene.rig.anna);
                return null;
            }));
            all.add(new Operation("allocate what another had" + how, sizes, idle, scene -> {
                scene.target = scene.rig.allocate(10 * G, scene.rig.ledger.account("carl", Long.MAX_VALUE));
                return null;
            }));
            all.add(new Operation("allocate in a new arena" + how, sizes, nothing, scene -> {
                scene.target = scene.rig.allocator.allocate(2 * G, 1L << 40, scene.rig.anna);
                return null;
            }));
            all.add(new Operation(
                    "release a block" + how,
                    sizes,
                    scene -> {
                        scene.target = scene.rig.allocate(10 * G, scene.rig.anna);
                        return null;
                    },
                    scene -> scene.rig.release(scene.target, 10 * G, scene.rig.anna)));
            all.add(new Operation(
                    "release a reservation" + how,
                    sizes,
                    reserve,
                    scene -> scene.rig.release(scene.target, SIZE, scene.rig.anna)));
            all.add(new Operation("reserve" + how, sizes, nothing, reserve));
            all.add(new Operation("reserve what another had" + how, sizes, idle, scene -> {
                scene.target = scene.rig.backing.reserve(
                        SIZE, 1, RUNS, Extents.WHOLE, scene.rig.ledger.account("carl", Long.MAX_VALUE));
                return null;
            }));
            all.add(new Operation("commit" + how, sizes, reserve, scene -> {
                scene.rig.backing.commit(scene.target, 0, SIZE);
                return null;
            }));
            all.add(new Operation(
                    "decommit" + how, sizes, reserve, scene -> scene.rig.backing.decommit(scene.target, 0, SIZE)));
            all.add(new Operation("share" + how, sizes, reserve, scene -> {
                scene.other = scene.rig.sharing.share(scene.target, 0, 2 * G);
                return null;
            }));
            all.add(new Operation("map" + how, sizes, reserve, scene -> {
                scene.rig.sharing.map(scene.prefix, scene.target, 10 * G);
                return null;
            }));
            all.add(new Operation(
                    "unmap" + how, sizes, attach, scene -> scene.rig.sharing.unmap(scene.prefix, scene.target, 2 * G)));
            all.add(new Operation("privatise" + how, sizes, attach, scene -> {
                scene.rig.sharing.privatise(scene.target, 0, SIZE);
                return null;
            }));
            all.add(new Operation(
                    "retire" + how,
                    sizes,
                    scene -> {
                        reserve.run(scene);
                        scene.other = scene.rig.sharing.share(scene.target, 0, 2 * G);
                        return scene.rig.release(scene.target, SIZE, scene.rig.anna);
                    },
                    scene -> scene.rig.sharing.retire(scene.other)));
            all.add(new Operation("trim" + how, sizes, idle, scene -> {
                scene.rig.allocator.trim(Long.MAX_VALUE);
                return null;
            }));
            all.add(new Operation("close" + how, sizes, idle, scene -> {
                scene.rig.allocator.close();
                return null;
            }));
            all.add(new Operation(
                    "settle" + how,
                    sizes,
                    scene -> {
                        reserve.run(scene);
                        scene.rig.driver.fail(Call.UNMAP, 2, Kind.INVALID);
                        scene.rig.release(scene.target, SIZE, scene.rig.anna);
                        scene.rig.driver.heal();
                        return null;
                    },
                    scene -> {
                        scene.rig.allocator.settle();
                        return null;
                    }));
        }
        return all.stream();
    }

    private record Fault(Call call, int nth, Kind kind) {}

    @ParameterizedTest
    @MethodSource("operations")
    @DisplayName(
            "D04 each driver call fails in each way: one of the three outcomes, books exact, 1,000 clean operations")
    void oneFault(Operation operation) {
        int faults = 0;
        for (var call : callsOf(operation).entrySet()) {
            for (int nth = 1; nth <= call.getValue(); nth++) {
                for (var kind : Kind.values()) {
                    run(operation, driver -> driver, 1000, new Fault(call.getKey(), nth, kind));
                    faults++;
                }
            }
        }
        assertThat(faults > 0
                        || operation.name.startsWith("share")
                        || callsOf(operation).isEmpty())
                .isTrue();
    }

    @ParameterizedTest
    @MethodSource("operations")
    @DisplayName("D04 each driver call fails, and one of the calls that undo it fails as well")
    void twoFaults(Operation operation) {
        for (var call : callsOf(operation).entrySet()) {
            for (int nth = 1; nth <= call.getValue(); nth++) {
                var first = new Fault(call.getKey(), nth, Kind.OUT_OF_MEMORY);
                for (var second : EnumSet.range(Call.MAP, Call.COPY)) {
                    for (int later = 1; later <= 3; later++) {
                        if (second != first.call || later != nth) {
                            run(operation, driver -> driver, 5, first, new Fault(second, later, Kind.INVALID));
                        }
                    }
                }
            }
        }
    }

    /** How many calls of each kind an operation makes when nothing fails. */
    private static Map<Call, Integer> callsOf(Operation operation) {
        var scene = new Scene(new Rig(operation.sizes));
        operation.prepare.run(scene);
        var before = new EnumMap<Call, Long>(Call.class);
        for (var call : Call.values()) {
            before.put(call, scene.rig.driver.calls(call));
        }
        operation.run.run(scene);
        var made = new EnumMap<Call, Integer>(Call.class);
        for (var call : Call.values()) {
            int calls = (int) (scene.rig.driver.calls(call) - before.get(call));
            if (calls > 0) {
                made.put(call, calls);
            }
        }
        return made;
    }

    private static void run(Operation operation, UnaryOperator<VmmDriver> between, int clean, Fault... faults) {
        var description = operation.name + " with " + List.of(faults);
        var scene = new Scene(new Rig(operation.sizes, between));
        var rig = scene.rig;
        operation.prepare.run(scene);
        var bert = rig.bert.figures();
        var anna = rig.anna.figures();
        int quarantined = rig.allocator.quarantined();
        for (var fault : faults) {
            rig.driver.fail(fault.call, fault.nth, fault.kind);
        }
        try {
            switch (operation.run.run(scene)) {
                case null -> {}
                case Complete complete -> {}
                case Failed failed -> {
                    assertThat(rig.anna.figures()).as("nothing changed").isEqualTo(anna);
                    assertThat(rig.allocator.quarantined())
                            .as("nothing changed")
                            .isEqualTo(quarantined);
                }
                case Quarantined left -> {
                    assertThat(left.ownedBytes()).as(description).isPositive();
                    assertThat(rig.allocator.quarantined()).as(description).isPositive();
                }
            }
        } catch (UndoFailedException e) {
            assertThat(e.getCause()).isInstanceOf(MemoryException.class);
        } catch (MemoryException e) {
            assertThat(rig.anna.figures()).as("after %s, %s", description, e).isEqualTo(anna);
            assertThat(rig.allocator.quarantined())
                    .as("after %s, %s", description, e)
                    .isEqualTo(quarantined);
        }
        assertThatCode(rig::check).as(description).doesNotThrowAnyException();
        scene.checkUntouched(bert);
        if (Stream.of(faults).anyMatch(fault -> fault.kind == Kind.DEVICE_LOST)) {
            checkLost(scene);
            return;
        }
        rig.driver.heal();
        cleanOperations(scene, clean);
        scene.checkUntouched(bert);
        release(scene, description);
    }

    /** After everything works again: nothing may be left of what failed. */
    private static void release(Scene scene, String description) {
        var rig = scene.rig;
        if (scene.target != 0) {
            rig.release(scene.target, SIZE, rig.anna);
        }
        if (scene.other != 0) {
            rig.sharing.retire(scene.other);
        }
        rig.releaseCompletely(scene.untouched, SIZE, rig.bert);
        rig.releaseCompletely(scene.shared, SIZE, rig.bert);
        rig.sharing.retire(scene.prefix);
        assertThatCode(rig::checkEmpty).as(description).doesNotThrowAnyException();
    }

    private static void checkLost(Scene scene) {
        var rig = scene.rig;
        long calls = rig.driver.calls();
        long owned = rig.ledger.owned();
        List<ThrowingCallable> attempts = List.of(
                () -> rig.allocate(10 * G, rig.anna),
                () -> rig.backing.reserve(SIZE, 1, RUNS, Extents.PIECES, rig.anna),
                () -> rig.backing.commit(scene.untouched, 2 * G, G),
                () -> rig.sharing.map(scene.prefix, scene.untouched, 10 * G));
        for (var attempt : attempts) {
            try {
                attempt.call();
            } catch (MemoryException e) {
                // Refused for the lost device.
                continue;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            throw new AssertionError("a lost device served a request");
        }
        rig.allocator.trim(Long.MAX_VALUE);
        rig.allocator.settle();
        rig.release(scene.untouched, SIZE, rig.bert);
        assertThat(rig.driver.calls()).as("calls after the device was lost").isEqualTo(calls);
        assertThat(rig.ledger.owned())
                .as("owned bytes while the device is lost")
                .isEqualTo(owned);
        rig.check();
        rig.allocator.deviceGone();
        if (scene.target != 0) {
            rig.release(scene.target, SIZE, rig.anna);
        }
        if (scene.other != 0) {
            rig.sharing.retire(scene.other);
        }
        rig.release(scene.shared, SIZE, rig.bert);
        rig.sharing.retire(scene.prefix);
        assertThat(rig.driver.calls()).isEqualTo(calls);
        assertThat(rig.driver.violations()).isEmpty();
        assertThat(rig.ledger.violations()).isEmpty();
        assertThat(rig.ledger.owned())
                .as("owned bytes after the context is gone")
                .isZero();
        assertThat(rig.ledger.mapped()).isZero();
        assertThat(rig.ledger.quarantined()).isZero();
        assertThat(rig.allocator.deviceGone()).isZero();
    }

    private static void cleanOperations(Scene scene, int count) {
        var rig = scene.rig;
        var random = new Random(count);
        long reservation = rig.backing.reserve(SIZE, 1, Ranges.none(), Extents.PIECES, rig.anna);
        for (int i = 0; i < count; i += 5) {
            long bytes = 1 + random.nextInt((int) (6 * G));
            long block = rig.allocate(bytes, rig.anna);
            rig.driver.write(block + bytes - 1, (byte) i);
            long offset = random.nextInt((int) (SIZE - G));
            rig.backing.commit(reservation, offset, G);
            rig.driver.write(reservation + offset, (byte) i);
            assertThat(rig.backing.decommit(reservation, 0, SIZE)).isInstanceOf(Complete.class);
            rig.releaseCompletely(block, bytes, rig.anna);
            assertThat(rig.driver.violations()).isEmpty();
        }
        rig.releaseCompletely(reservation, SIZE, rig.anna);
        rig.check();
    }

    /** A driver that says it has unmapped what it has not: the gap that these tests are there to find. */
    record SilentUnmap(VmmDriver driver) implements VmmDriver {

        @Override
        public long granuleBytes() {
            return driver.granuleBytes();
        }

        @Override
        public long reserve(long bytes) {
            return driver.reserve(bytes);
        }

        @Override
        public void free(long address, long bytes) {
            driver.free(address, bytes);
        }

        @Override
        public long create(long bytes) {
            return driver.create(bytes);
        }

        @Override
        public void map(long address, long bytes, long handle) {
            driver.map(address, bytes, handle);
        }

        @Override
        public boolean mapsWritable() {
            return driver.mapsWritable();
        }

        @Override
        public void protect(long address, long bytes, Access access) {
            driver.protect(address, bytes, access);
        }

        @Override
        public void unmap(long address, long bytes) {
            try {
                driver.unmap(address, bytes);
            } catch (MemoryException e) {
                // Reported as success.
            }
        }

        @Override
        public void release(long handle, long bytes) {
            driver.release(handle, bytes);
        }

        @Override
        public void scrub(long address, long bytes) {
            driver.scrub(address, bytes);
        }

        @Override
        public void copy(long target, long source, long bytes) {
            driver.copy(target, source, bytes);
        }

        @Override
        public DriverTruth truth() {
            return driver.truth();
        }

        @Override
        public long totalBytes() {
            return driver.totalBytes();
        }

        @Override
        public long freeBytes() {
            return driver.freeBytes();
        }
    }

    @Test
    @DisplayName("D05 an engine with the partial-unmap gap is caught, for every operation that unmaps")
    void negativeControl() {
        int caught = 0;
        for (var operation : operations().toList()) {
            for (int nth = 1; nth <= callsOf(operation).getOrDefault(Call.UNMAP, 0); nth++) {
                var fault = new Fault(Call.UNMAP, nth, Kind.INVALID);
                assertThatCode(() -> run(operation, SilentUnmap::new, 20, fault))
                        .as("%s with %s", operation, fault)
                        .isInstanceOf(AssertionError.class);
                caught++;
            }
        }
        assertThat(caught).isGreaterThan(20);
        for (int run = 1; run <= 3; run++) {
            int failing = run;
            assertThatCode(() -> QuarantineTest.unmapOfOneRunFails(new Rig(Sizes.BARE, SilentUnmap::new), failing))
                    .isInstanceOf(AssertionError.class);
        }
    }
}
