package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.UndoFailedException;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.TestLedger.TestAccount;
import org.granule.vmm.strict.StrictDriver.Call;

/**
 * Thousands of random operations, with and without faults, against a plain model of what is committed where and what
 * it holds. Each account writes only bytes of its own, so that a byte of another's is seen wherever it shows.
 */
class RandomOperationsTest {

    private static final int G = 64;
    private static final int GRANULES = 12;
    private static final int EXTENT = 4;
    private static final Sizes BARE = new Sizes(G, 4096 * G, 1 << 20, 0, 0, EXTENT * G);

    /** One granule of physical memory, as the model sees it. */
    private static final class Granule {
        final byte[] bytes = new byte[G];
        /** Which bytes are known: written, or copied from known ones. */
        final BitSet known = new BitSet(G);
        /** The first granule of its extent. */
        final int extent;

        Granule(int extent) {
            this.extent = extent;
        }
    }

    private static final class Prefix {
        final long number;
        final List<Granule> granules;

        Prefix(long number, List<Granule> granules) {
            this.number = number;
            this.granules = granules;
        }
    }

    private static final class Reservation {
        final long address;
        final Extents extents;
        final int owner;
        final BitSet committed = new BitSet(GRANULES * G);
        final Granule[] granules = new Granule[GRANULES];
        final boolean[] shared = new boolean[GRANULES];

        Reservation(long address, Extents extents, int owner) {
            this.address = address;
            this.extents = extents;
            this.owner = owner;
        }
    }

    /** A run of operations with its model. */
    private static final class Run {
        final Random random;
        final Rig rig;
        final double faults;
        /** Who copies shared bytes owns another's bytes from then on, so leaks are looked for only without copies. */
        final boolean copies;

        final List<TestAccount> accounts;
        final List<Reservation> live = new ArrayList<>();
        final List<Prefix> prefixes = new ArrayList<>();

        Run(long seed, Rig rig, double faults) {
            this.random = new Random(seed);
            this.rig = rig;
            this.faults = faults;
            this.copies = random.nextBoolean();
            this.accounts = List.of(rig.anna, rig.bert, rig.ledger.account("carl", 40 * G));
        }

        void run(int steps) {
            for (int step = 0; step < steps; step++) {
                if (random.nextDouble() < faults) {
                    var calls = Call.values();
                    var kind = random.nextBoolean() ? Kind.INVALID : Kind.OUT_OF_MEMORY;
                    rig.driver.fail(calls[random.nextInt(calls.length)], 1 + random.nextInt(3), kind);
                }
                step();
                rig.driver.heal();
                rig.check();
                if (step % 16 == 0) {
                    live.forEach(this::checkContents);
                }
            }
            live.forEach(this::checkContents);
            for (var reservation : List.copyOf(live)) {
                release(reservation);
                rig.check();
            }
            prefixes.forEach(prefix -> rig.sharing.retire(prefix.number));
            rig.checkEmpty();
        }

        private void step() {
            if (live.size() < 3 || live.size() < 24 && random.nextInt(6) == 0) {
                make();
                return;
            }
            var reservation = live.get(random.nextInt(live.size()));
            switch (random.nextInt(10)) {
                case 0 -> release(reservation);
                case 1, 2 -> commit(reservation);
                case 3, 4 -> decommit(reservation);
                case 5 -> share(reservation);
                case 6 -> attach(reservation);
                case 7 -> {
                    if (copies) {
                        privatise(reservation);
                    }
                }
                case 8 -> detachOrRetire(reservation);
                default -> write(reservation);
            }
        }

        private void make() {
            int owner = random.nextInt(accounts.size());
            var extents = Extents.values()[random.nextInt(2)];
            int from = random.nextInt(GRANULES * G);
            int to = from + 1 + random.nextInt(GRANULES * G - from);
            if (random.nextInt(4) == 0) {
                long block = attempt(() -> rig.allocator.allocate(GRANULES * G, 1, accounts.get(owner)));
                if (block != 0) {
                    var made = new Reservation(block, Extents.WHOLE, owner);
                    commit(made, 0, GRANULES * G);
                    live.add(made);
                }
                return;
            }
            long address = attempt(() ->
                    rig.backing.reserve(GRANULES * G, 1, Ranges.of(from, to - from), extents, accounts.get(owner)));
            if (address != 0) {
                var made = new Reservation(address, extents, owner);
                commit(made, from, to);
                live.add(made);
            }
        }

        /** What an operation returns, 0 when it is refused. */
        private long attempt(Supplier<Long> operation) {
            try {
                return operation.get();
            } catch (MemoryException e) {
                return 0;
            }
        }

        private void release(Reservation reservation) {
            var outcome = rig.allocator.release(reservation.address, GRANULES * G, 1, accounts.get(reservation.owner));
            assertThat(outcome).as("a release changes something").isNotInstanceOf(Failed.class);
            live.remove(reservation);
        }

        private void commit(Reservation reservation) {
            int from = random.nextInt(GRANULES * G);
            int to = from + 1 + random.nextInt(GRANULES * G - from);
            change(
                    reservation,
                    () -> rig.backing.commit(reservation.address, from, to - from),
                    () -> commit(reservation, from, to));
        }

        /** Does what either succeeds, or leaves everything as it was, or says that it could not be undone. */
        private void change(Reservation reservation, Runnable operation, Runnable model) {
            try {
                operation.run();
            } catch (UndoFailedException e) {
                release(reservation);
                return;
            } catch (MemoryException e) {
                checkContents(reservation);
                return;
            }
            model.run();
            checkContents(reservation);
        }

        private void commit(Reservation reservation, int from, int to) {
            int end = (to - 1) / G + 1;
            for (int granule = from / G; granule < end; ) {
                if (reservation.granules[granule] != null) {
                    granule++;
                    continue;
                }
                int gap = granule;
                while (gap < end && reservation.granules[gap] == null) {
                    gap++;
                }
                int largest = reservation.extents == Extents.PIECES ? 1 : EXTENT;
                for (int first = granule; first < gap; first += largest) {
                    for (int i = first; i < Math.min(gap, first + largest); i++) {
                        reservation.granules[i] = new Granule(first);
                    }
                }
                granule = gap;
            }
            reservation.committed.set(from, to);
        }

        private void decommit(Reservation reservation) {
            int from = random.nextInt(GRANULES * G);
            int to = from + 1 + random.nextInt(GRANULES * G - from);
            int before = mapped(reservation);
            outcome(reservation, () -> rig.backing.decommit(reservation.address, from, to - from), complete -> {
                reservation.committed.clear(from, to);
                for (int granule = from / G; granule <= (to - 1) / G; granule++) {
                    var physical = reservation.granules[granule];
                    if (physical != null && !isNeeded(reservation, granule)) {
                        remove(reservation, granule);
                    }
                }
                assertThat(complete.unmappedBytes()).isEqualTo((long) G * (before - mapped(reservation)));
            });
        }

        /** Whether a committed byte is left in the extent that a granule belongs to. */
        private boolean isNeeded(Reservation reservation, int granule) {
            for (int i = 0; i < GRANULES; i++) {
                if (isOneExtent(reservation, granule, i)
                        && !reservation.committed.get(i * G, (i + 1) * G).isEmpty()) {
                    return true;
                }
            }
            return false;
        }

        private void remove(Reservation reservation, int granule) {
            var extent = new BitSet();
            for (int i = 0; i < GRANULES; i++) {
                extent.set(i, isOneExtent(reservation, granule, i));
            }
            extent.stream().forEach(i -> {
                reservation.granules[i] = null;
                reservation.shared[i] = false;
            });
        }

        private boolean isOneExtent(Reservation reservation, int one, int other) {
            if (one == other) {
                return true;
            }
            return reservation.granules[other] != null
                    && !reservation.shared[one]
                    && !reservation.shared[other]
                    && reservation.granules[one].extent == reservation.granules[other].extent
                    && reservation.granules[one].extent >= 0;
        }

        private static int mapped(Reservation reservation) {
            return (int) Arrays.stream(reservation.granules)
                    .filter(granule -> granule != null)
                    .count();
        }

        private interface Completed {
            void accept(Complete complete);
        }

        private void outcome(Reservation reservation, Supplier<ReleaseOutcome> operation, Completed model) {
            switch (operation.get()) {
                case Complete complete -> {
                    model.accept(complete);
                    checkContents(reservation);
                }
                case Failed failed -> checkContents(reservation);
                case ReleaseOutcome.Quarantined left -> release(reservation);
            }
        }

        private void share(Reservation reservation) {
            int first = random.nextInt(GRANULES);
            int count = 1 + random.nextInt(Math.min(4, GRANULES - first));
            boolean possible = reservation.extents == Extents.PIECES;
            for (int i = first; i < first + count; i++) {
                possible &= reservation.granules[i] != null;
            }
            long number = attempt(() -> rig.sharing.share(reservation.address, (long) first * G, (long) count * G));
            assertThat(number != 0).as("shared").isEqualTo(possible);
            if (possible) {
                var granules = Arrays.copyOfRange(reservation.granules, first, first + count);
                prefixes.add(new Prefix(number, List.of(granules)));
            }
        }

        private void attach(Reservation reservation) {
            if (prefixes.isEmpty()) {
                return;
            }
            var prefix = prefixes.get(random.nextInt(prefixes.size()));
            int first = random.nextInt(GRANULES);
            int end = first + prefix.granules.size();
            change(reservation, () -> rig.sharing.map(prefix.number, reservation.address, (long) first * G), () -> {
                for (int i = first; i < end; i++) {
                    assertThat(reservation.granules[i]).isNull();
                    reservation.granules[i] = prefix.granules.get(i - first);
                    reservation.shared[i] = true;
                }
                reservation.committed.set(first * G, end * G);
            });
        }

        private void privatise(Reservation reservation) {
            int first = random.nextInt(GRANULES);
            int end = first + 1 + random.nextInt(GRANULES - first);
            change(
                    reservation,
                    () -> rig.sharing.privatise(reservation.address, (long) first * G, (long) (end - first) * G),
                    () -> {
                        for (int i = first; i < end; i++) {
                            if (reservation.shared[i]) {
                                var copy = new Granule(-1);
                                System.arraycopy(reservation.granules[i].bytes, 0, copy.bytes, 0, G);
                                copy.known.or(reservation.granules[i].known);
                                reservation.granules[i] = copy;
                                reservation.shared[i] = false;
                            }
                        }
                    });
        }

        private void detachOrRetire(Reservation reservation) {
            if (prefixes.isEmpty()) {
                return;
            }
            var prefix = prefixes.get(random.nextInt(prefixes.size()));
            if (random.nextInt(4) == 0) {
                prefixes.remove(prefix);
                rig.sharing.retire(prefix.number);
                return;
            }
            int first = random.nextInt(GRANULES);
            outcome(
                    reservation,
                    () -> rig.sharing.unmap(prefix.number, reservation.address, (long) first * G),
                    complete -> {
                        int found = 0;
                        for (int i = 0; i < prefix.granules.size(); i++) {
                            int at = first + i;
                            if (reservation.shared[at] && reservation.granules[at] == prefix.granules.get(i)) {
                                reservation.granules[at] = null;
                                reservation.shared[at] = false;
                                reservation.committed.clear(at * G, (at + 1) * G);
                                found++;
                            }
                        }
                        assertThat(complete.unmappedBytes()).isEqualTo((long) found * G);
                    });
        }

        private void write(Reservation reservation) {
            for (int i = 0; i < 32; i++) {
                int at = random.nextInt(GRANULES * G);
                var granule = reservation.granules[at / G];
                if (granule != null && !reservation.shared[at / G]) {
                    byte value = (byte) (random.nextInt(31) + 1 + 32 * (reservation.owner + 1));
                    rig.driver.write(reservation.address + at, value);
                    granule.bytes[at % G] = value;
                    granule.known.set(at % G);
                }
            }
        }

        private void checkContents(Reservation reservation) {
            assertThat(rig.backing.committedBytes(reservation.address)).isEqualTo((long) G * mapped(reservation));
            for (int i = 0; i < GRANULES; i++) {
                var granule = reservation.granules[i];
                var all = reservation.committed.get(i * G, (i + 1) * G).cardinality() == G;
                assertThat(rig.backing.access(reservation.address, (long) i * G, G))
                        .isEqualTo(!all ? Access.NONE : reservation.shared[i] ? Access.READ : Access.READ_WRITE);
                for (int at = 0; granule != null && at < G; at++) {
                    byte found = rig.driver.read(reservation.address + i * G + at);
                    if (granule.known.get(at) ? found != granule.bytes[at] : isForeign(reservation, i, found)) {
                        throw new AssertionError("byte " + at + " of granule " + i + " of account " + reservation.owner
                                + " is " + found + ", known " + granule.known.get(at) + " " + granule.bytes[at]);
                    }
                }
            }
        }

        /** Whether a byte that nobody wrote here can only be another account's; what is shared may be its creator's. */
        private boolean isForeign(Reservation reservation, int granule, byte found) {
            return found != 0 && !copies && !reservation.shared[granule] && found / 32 != reservation.owner + 1;
        }
    }

    @Property(tries = 30, seed = "11")
    @Label("without faults: ledger = driver = model after each of 600 steps, and nothing leaks to another account")
    void withoutFaults(@ForAll long seed, @ForAll boolean pooling) {
        new Run(seed, new Rig(sizes(pooling)), 0).run(600);
    }

    @Property(tries = 60, seed = "12")
    @Label("with faults: a refused operation changes nothing, and nothing is left at the end")
    void withFaults(@ForAll long seed, @ForAll boolean pooling) {
        new Run(seed, new Rig(sizes(pooling)), 0.3).run(600);
    }

    @Property(tries = 10, seed = "13")
    @Label("D05 a driver that does not do what it says is caught by random operations too")
    void negativeControl(@ForAll long seed) {
        assertThatCode(() -> new Run(seed, new Rig(BARE, FaultTest.SilentUnmap::new), 0.3).run(2000))
                .isInstanceOf(AssertionError.class);
    }

    private static Sizes sizes(boolean pooling) {
        return pooling ? BARE.withIdle(64 * G).withKept(4096 * G) : BARE;
    }
}
