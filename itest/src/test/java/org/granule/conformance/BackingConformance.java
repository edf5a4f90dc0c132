package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.provider.MemorySession;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Group B: addresses whose memory comes and goes. */
abstract class BackingConformance extends Conformance {

    private Stand lazyStand(Keeping keeping) {
        var stand = stand(keeping);
        requireLazy(stand);
        return stand;
    }

    /** The granules that a set of byte ranges touches. */
    private static void touch(BitSet granules, long offset, long length, long unit) {
        granules.set((int) (offset / unit), (int) ((offset + length - 1) / unit) + 1);
    }

    @Test
    @DisplayName("B01 a reservation far above physical memory succeeds and charges nothing")
    void farAbovePhysicalMemory() {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long bytes = 8 * Long.highestOneBit(stand.subject.physicalBytes());
        assertThat(bytes).isGreaterThan(4 * stand.subject.physicalBytes());
        stand.ledger.limit(session.account(), 2 * unit);
        long token = session.reserve(bytes, unit, Ranges.none(), Extents.PIECES);
        stand.check();
        assertThat(stand.all()).isEqualTo(Stand.Figures.NOTHING);
        assertThat(session.committedBytes(token)).isZero();
        assertThat(reservedBytes(stand, session)).isEqualTo(bytes);
        session.commit(token, bytes - 1, 1);
        session.commit(token, 0, 1);
        Stand.fill(session, token, bytes - 1, 1, 5);
        Stand.assertHolds(session, token, bytes - 1, 1, 5);
        stand.expect(session, 2 * unit, 2 * unit);
        stand.check();
        assertThatThrownBy(() -> session.commit(token, bytes / 2, 1)).isInstanceOf(BudgetExceededException.class);
        stand.check();
        assertThat(session.release(token)).isEqualTo(new Complete(2 * unit));
        stand.expect(session, 0, 0);
        stand.check();
        assertThat(reservedBytes(stand, session)).isZero();
    }

    private static long reservedBytes(Stand stand, MemorySession session) {
        return stand.ledger.ledger().stream()
                .filter(row -> row.path.equals(session.account()))
                .findFirst()
                .orElseThrow()
                .reservedBytes;
    }

    @ParameterizedTest(name = "B02 one byte charges one granule, a run the union of its granules: {0}")
    @EnumSource
    void unionOfGranules(Extents extents) {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(100 * unit, 1, Ranges.none(), extents);
        session.commit(token, 5 * unit + 17, 1);
        stand.expect(session, unit, unit);
        stand.check();
        // Tiny ranges in one granule charge it once.
        for (long offset = 0; offset < unit; offset += unit / 16) {
            session.commit(token, 5 * unit + offset, 1);
            stand.check();
        }
        session.commit(token, 9 * unit - 1, 2);
        stand.expect(session, 3 * unit, 3 * unit);
        stand.check();
        session.commit(token, 4 * unit, 6 * unit);
        stand.expect(session, 6 * unit, 6 * unit);
        stand.check();
        var granules = new BitSet();
        granules.set(4, 10);
        var random = new Random(2);
        for (int i = 0; i < 60; i++) {
            long offset = random.nextLong(99 * unit);
            long length = 1 + random.nextLong(Math.min(3 * unit, 100 * unit - offset));
            session.commit(token, offset, length);
            touch(granules, offset, length, unit);
            stand.expect(session, granules.cardinality() * unit, granules.cardinality() * unit);
            stand.check();
            assertThat(session.committedBytes(token)).isEqualTo(granules.cardinality() * unit);
        }
        assertThat(session.release(token)).isEqualTo(new Complete(granules.cardinality() * unit));
        stand.expect(session, 0, 0);
        stand.check();
    }

    private static Ranges someRanges(Random random, long bytes) {
        var ranges = Ranges.none();
        for (int count = random.nextInt(8); count >= 0; count--) {
            long offset = random.nextLong(bytes - 1);
            long most = random.nextBoolean() ? 64 : bytes - offset;
            ranges = ranges.and(offset, 1 + random.nextLong(Math.min(most, bytes - offset)));
        }
        return ranges;
    }

    @ParameterizedTest(name = "B03 the estimate is never below the charge, and equals it on a fresh reservation: {0}")
    @EnumSource
    void estimates(Extents extents) {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        long bytes = 24 * unit;
        var session = stand.open("anna");
        var random = new Random(3);
        assertThat(session.estimate(Ranges.none())).isZero();
        for (int i = 0; i < 100; i++) {
            var ranges = someRanges(random, bytes);
            long estimate = session.estimate(ranges);
            long fresh = session.reserve(bytes, 1, ranges, extents);
            stand.expect(session, estimate, estimate);
            stand.checkLedger();
            Stand.releaseCompletely(session, fresh);
            var before = someRanges(random, bytes);
            long used = session.reserve(bytes, 1, before, extents);
            long charged = stand.figures(session).owned();
            for (int k = 0; k < ranges.count(); k++) {
                session.commit(used, ranges.offset(k), ranges.length(k));
            }
            long more = stand.figures(session).owned() - charged;
            assertThat(more).as("%s over %s", ranges, before).isLessThanOrEqualTo(estimate);
            assertThat(charged + more)
                    .as("%s over %s", ranges, before)
                    .isEqualTo(session.committedBytes(used))
                    .isGreaterThanOrEqualTo(estimate);
            Stand.releaseCompletely(session, used);
            stand.expect(session, 0, 0);
            stand.check();
        }
    }

    @Test
    @DisplayName("B04 commit is idempotent: nothing is charged again, contents survive, the address never moves")
    void idempotent() {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(64 * unit, 8 * unit, Ranges.none(), Extents.PIECES);
        long address = session.address(token);
        assertThat(address % (8 * unit)).isZero();
        var granules = new BitSet();
        var random = new Random(4);
        for (int i = 0; i < 50; i++) {
            long offset = random.nextLong(62 * unit);
            long length = 1 + random.nextLong(2 * unit);
            session.commit(token, offset, length);
            var added = new BitSet();
            touch(added, offset, length, unit);
            added.andNot(granules);
            added.stream().forEach(granule -> Stand.fill(session, token, Math.max(offset, granule * unit), 1, granule));
            long calls = stand.binding.describe().driverCalls;
            session.commit(token, offset, length);
            assertThat(stand.binding.describe().driverCalls)
                    .as("driver calls of a commit that has been made")
                    .isEqualTo(calls);
            added.stream()
                    .forEach(
                            granule -> Stand.assertHolds(session, token, Math.max(offset, granule * unit), 1, granule));
            granules.or(added);
            stand.expect(session, granules.cardinality() * unit, granules.cardinality() * unit);
            stand.check();
            assertThat(session.address(token)).isEqualTo(address);
        }
        Stand.releaseCompletely(session, token);
        stand.expect(session, 0, 0);
    }

    /** What a commit works on: a reservation with holes between committed ranges, and what it must look like. */
    private static final class Holes {
        static final long GRANULES = 12;
        final Stand stand;
        final MemorySession session;
        final long unit;
        final long token;

        Holes(Stand stand, Extents extents) {
            this.stand = stand;
            unit = stand.subject.unit();
            session = stand.open("anna");
            token = session.reserve(GRANULES * unit, 1, Ranges.of(0, 2 * unit).and(5 * unit, unit), extents);
            Stand.fill(session, token, 0, 2 * unit, 0x21);
            Stand.fill(session, token, 5 * unit, unit, 0x22);
            stand.expect(session, 3 * unit, 3 * unit);
            stand.check();
        }

        void fillHoles() {
            session.commit(token, 0, GRANULES * unit);
        }

        /** Asserts that books, mappings and contents are as they were. */
        void assertAsBefore() {
            stand.check();
            assertThat(session.committedBytes(token)).isEqualTo(3 * unit);
            Stand.assertHolds(session, token, 0, 2 * unit, 0x21);
            Stand.assertHolds(session, token, 5 * unit, unit, 0x22);
            for (long granule : new long[] {2, 4, 6}) {
                assertThatThrownBy(() -> Stand.read(session, token, granule * unit, 1))
                        .isInstanceOf(InvalidRequestException.class);
                assertThat(stand.subject.isWritable(session.address(token) + granule * unit))
                        .as("granule %d can be written", granule)
                        .isFalse();
            }
        }

        void assertWorksNow() {
            fillHoles();
            stand.expect(session, GRANULES * unit, GRANULES * unit);
            stand.check();
            Stand.assertHolds(session, token, 0, 2 * unit, 0x21);
            Stand.assertHolds(session, token, 2 * unit, 3 * unit, 0);
            Stand.releaseCompletely(session, token);
            stand.expect(session, 0, 0);
            stand.check();
        }
    }

    @ParameterizedTest(name = "B05 a commit that a budget refuses at any step leaves everything as it was: {0}")
    @EnumSource
    void refusedByBudget(Extents extents) {
        for (String level : List.of("role", "tenant", "device")) {
            for (long room = 0; room < Holes.GRANULES - 3; room++) {
                var holes = new Holes(lazyStand(Keeping.MUCH), extents);
                var path =
                        switch (level) {
                            case "role" -> holes.session.account();
                            case "tenant" -> holes.stand.subject.device() + "/anna";
                            default -> holes.stand.subject.device().toString();
                        };
                holes.stand.ledger.limit(path, (3 + room + 1) * holes.unit - 1);
                assertThatThrownBy(holes::fillHoles)
                        .as("room for %d granules", room)
                        .isInstanceOf(BudgetExceededException.class);
                holes.assertAsBefore();
                holes.stand.ledger.limit(path, Long.MAX_VALUE);
                holes.assertWorksNow();
                holes.stand.end();
            }
        }
    }

    @ParameterizedTest(name = "B05 a commit that the driver refuses at any step leaves everything as it was: {0}")
    @EnumSource
    void refusedByDriver(Extents extents) {
        for (Keeping keeping : Keeping.values()) {
            var probe = new Holes(lazyStand(keeping), extents);
            var counts = callsOf(probe.stand, probe::fillHoles);
            probe.stand.abandon();
            assertThat(counts).containsKeys(Call.CREATE, Call.MAP);
            for (var count : counts.entrySet()) {
                for (int nth = 1; nth <= count.getValue(); nth++) {
                    for (Kind kind : List.of(Kind.OUT_OF_MEMORY, Kind.INVALID)) {
                        var holes = new Holes(lazyStand(keeping), extents);
                        holes.stand.subject.gate().fail(count.getKey(), nth, kind);
                        assertThatThrownBy(holes::fillHoles)
                                .as("%s number %d: %s", count.getKey(), nth, kind)
                                .isInstanceOf(DriverFaultException.class)
                                .hasMessageContaining("on request");
                        holes.assertAsBefore();
                        holes.assertWorksNow();
                        holes.stand.end();
                    }
                }
            }
        }
    }

    /** Counts the driver calls of something, by kind; kinds that are not called are left out. */
    static Map<Call, Integer> callsOf(Stand stand, Runnable work) {
        var before = stand.subject.gate().counts();
        work.run();
        Map<Call, Integer> calls = new EnumMap<>(Call.class);
        stand.subject.gate().counts().forEach((call, count) -> {
            if (count > before.get(call)) {
                calls.put(call, (int) (count - before.get(call)));
            }
        });
        return calls;
    }

    @ParameterizedTest(name = "B06 decommit of a part of a granule keeps it while other bytes of it are committed: {0}")
    @EnumSource
    void partOfGranule(Extents extents) {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token =
                session.reserve(4 * unit, 1, Ranges.of(unit, unit / 2).and(unit + 3 * unit / 4, unit / 4), extents);
        stand.expect(session, unit, unit);
        Stand.fill(session, token, unit, unit / 2, 0x31);
        Stand.fill(session, token, unit + 3 * unit / 4, unit / 4, 0x32);
        assertThat(session.decommit(token, unit, unit / 2)).isEqualTo(new Complete(0));
        stand.check();
        Stand.assertHolds(session, token, unit + 3 * unit / 4, unit / 4, 0x32);
        assertThatThrownBy(() -> Stand.read(session, token, unit, 1)).isInstanceOf(InvalidRequestException.class);
        assertThat(session.decommit(token, unit + 3 * unit / 4, unit / 4 - 1)).isEqualTo(new Complete(0));
        stand.check();
        Stand.assertHolds(session, token, 2 * unit - 1, 1, 0x32);
        assertThat(session.decommit(token, 2 * unit - 1, 1)).isEqualTo(new Complete(unit));
        stand.expect(session, 0, 0);
        stand.check();
        Stand.releaseCompletely(session, token);
    }

    @Test
    @DisplayName("B07 decommit gives exactly what left, again nothing, and leaves its neighbours alone")
    void exactlyWhatLeft() {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        int count = 48;
        var session = stand.open("anna");
        var neighbour = stand.open("bert");
        long beside = neighbour.reserve(4 * unit, 1, Ranges.of(0, 4 * unit), Extents.PIECES);
        Stand.fill(neighbour, beside, 0, 4 * unit, 0x55);
        stand.expect(neighbour, 4 * unit, 4 * unit);
        long token = session.reserve(count * unit, 1, Ranges.none(), Extents.PIECES);
        var there = new BitSet();
        var random = new Random(77);
        for (int i = 0; i < 80; i++) {
            int first = random.nextInt(count);
            int end = first + 1 + random.nextInt(Math.min(6, count - first));
            if (random.nextBoolean()) {
                session.commit(token, first * unit, (end - first) * unit);
                for (int granule = first; granule < end; granule++) {
                    if (!there.get(granule)) {
                        Stand.fill(session, token, granule * unit, 16, granule);
                    }
                }
                there.set(first, end);
            } else {
                long leaving = there.get(first, end).cardinality() * unit;
                assertThat(session.decommit(token, first * unit, (end - first) * unit))
                        .isEqualTo(new Complete(leaving));
                assertThat(session.decommit(token, first * unit, (end - first) * unit))
                        .isEqualTo(new Complete(0));
                there.clear(first, end);
            }
            stand.expect(session, there.cardinality() * unit, there.cardinality() * unit);
            stand.check();
            there.stream().forEach(granule -> Stand.assertHolds(session, token, granule * unit, 16, granule));
        }
        Stand.assertHolds(neighbour, beside, 0, 4 * unit, 0x55);
        Stand.releaseCompletely(session, token);
        Stand.releaseCompletely(neighbour, beside);
        stand.expect(session, 0, 0);
        stand.expect(neighbour, 0, 0);
    }

    @ParameterizedTest(name = "B07 committed memory is zero or was this account''s, never another tenant''s: {0}")
    @EnumSource
    void neverAnothersBytes(Extents extents) {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var tenants = List.of(stand.open("anna"), stand.open("bert"), stand.open("carl"));
        var random = new Random(70);
        long bytes = 6 * unit;
        long[] tokens = new long[tenants.size()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = tenants.get(i).reserve(bytes, 1, Ranges.none(), extents);
        }
        for (int i = 0; i < 60; i++) {
            int who = random.nextInt(tokens.length);
            var session = tenants.get(who);
            session.commit(tokens[who], 0, bytes);
            var seen = Stand.read(session, tokens[who], 0, bytes);
            for (byte b : seen) {
                if (b != 0 && b != (byte) (who + 1)) {
                    assertThat(b)
                            .as("what tenant %d sees in round %d", who + 1, i)
                            .isZero();
                }
            }
            Stand.fill(session, tokens[who], 0, bytes, who + 1);
            if (random.nextBoolean()) {
                Stand.assertComplete(session.decommit(tokens[who], 0, bytes));
            } else {
                Stand.releaseCompletely(session, tokens[who]);
                tokens[who] = session.reserve(bytes, 1, Ranges.none(), extents);
            }
            stand.check();
            long block = session.allocate(bytes, 1);
            for (byte b : Stand.read(session, block, 0, bytes)) {
                if (b != 0 && b != (byte) (who + 1)) {
                    assertThat(b)
                            .as("what tenant %d is allocated in round %d", who + 1, i)
                            .isZero();
                }
            }
            Stand.fill(session, block, 0, bytes, who + 1);
            Stand.releaseCompletely(session, block);
            stand.check();
        }
        for (int i = 0; i < tokens.length; i++) {
            Stand.releaseCompletely(tenants.get(i), tokens[i]);
        }
    }

    @Test
    @DisplayName("B08 ranges that are outside, negative or overflow are refused with the legal bounds")
    void wrongRanges() {
        var stand = lazyStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        // Not whole granules: what rounding added is not the user's.
        long bytes = 3 * unit + unit / 2;
        long token = session.reserve(bytes, 1, Ranges.of(0, bytes), Extents.PIECES);
        stand.expect(session, 4 * unit, 4 * unit);
        long[][] ranges = {
            {bytes, 1},
            {0, bytes + 1},
            {bytes - 1, 2},
            {-1, 1},
            {0, -1},
            {-unit, 2 * unit},
            {Long.MIN_VALUE, 1},
            {1, Long.MAX_VALUE},
            {Long.MAX_VALUE, Long.MAX_VALUE},
            {Long.MAX_VALUE, 1},
            {Long.MIN_VALUE, Long.MIN_VALUE}
        };
        for (long[] range : ranges) {
            for (var use : rangeUses()) {
                assertThatThrownBy(() -> use.use(session, token, range[0], range[1]))
                        .as("%s of %d at %d", use.name, range[1], range[0])
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining(Long.toString(bytes));
                stand.check();
            }
        }
        // At least one byte is committed and decommitted.
        assertThatThrownBy(() -> session.commit(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> session.decommit(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
        for (long offset : new long[] {-1, bytes - 9, Long.MAX_VALUE, Long.MIN_VALUE}) {
            var ten = MemorySegment.ofArray(new byte[10]);
            assertThatThrownBy(() -> session.copyIn(token, offset, ten)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> session.copyOut(ten, token, offset)).isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> session.reserve(unit, 1, Ranges.of(unit, 1), Extents.PIECES))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> session.reserve(0, 1, Ranges.none(), Extents.PIECES))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> session.estimate(Ranges.of(0, Long.MAX_VALUE)))
                .isInstanceOf(InvalidRequestException.class);
        stand.check();
        assertThat(session.release(token)).isEqualTo(new Complete(4 * unit));
        stand.expect(session, 0, 0);
        stand.check();
    }

    private record RangeUse(String name, RangeAction action) {
        void use(MemorySession session, long token, long offset, long length) {
            action.use(session, token, offset, length);
        }
    }

    /** Uses a range. */
    @FunctionalInterface
    private interface RangeAction {
        void use(MemorySession session, long token, long offset, long length);
    }

    private static List<RangeUse> rangeUses() {
        return List.of(
                new RangeUse("commit", MemorySession::commit),
                new RangeUse("decommit", MemorySession::decommit),
                new RangeUse("fill", (session, token, offset, length) -> session.fill(token, offset, length, (byte) 1)),
                new RangeUse(
                        "copy to", (session, token, offset, length) -> session.copy(token, offset, token, 0, length)),
                new RangeUse(
                        "copy from", (session, token, offset, length) -> session.copy(token, 0, token, offset, length)),
                new RangeUse("share", MemorySession::share),
                new RangeUse("privatise", MemorySession::privatise));
    }

    @ParameterizedTest(name = "B09 a release with some ranges committed reports exactly what was unmapped: {0}")
    @EnumSource
    void releaseReports(Extents extents) {
        for (Keeping keeping : Keeping.values()) {
            var stand = lazyStand(keeping);
            long unit = stand.subject.unit();
            var session = stand.open("anna");
            var random = new Random(9);
            for (int i = 0; i < 60; i++) {
                long bytes = (1 + random.nextInt(20)) * unit;
                var ranges = i == 0 ? Ranges.none() : someRanges(random, bytes);
                long token = session.reserve(bytes, 1, ranges, extents);
                if (i % 3 == 1 && ranges.count() > 1) {
                    Stand.assertComplete(session.decommit(token, ranges.offset(0), ranges.length(0)));
                }
                long there = session.committedBytes(token);
                assertThat(there).isEqualTo(stand.figures(session).mapped());
                assertThat(session.release(token)).isEqualTo(new Complete(there));
                stand.check();
            }
        }
    }

    @ParameterizedTest(name = "B10 growing by a granule 1,000 times takes the same few driver calls each time: {0}")
    @EnumSource
    void growing(Extents extents) {
        var stand = lazyStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(1000 * unit, 1, Ranges.none(), extents);
        long first = 0;
        for (int i = 0; i < 1000; i++) {
            long before = stand.binding.describe().driverCalls;
            session.commit(token, i * unit, unit);
            long calls = stand.binding.describe().driverCalls - before;
            first = i == 0 ? calls : first;
            assertThat(calls).as("driver calls of step %d", i).isEqualTo(first);
        }
        assertThat(first).isBetween(1L, 4L);
        assertThat(stand.binding.describe().driverCalls)
                .as("driver calls counted")
                .isEqualTo(stand.subject.gate().calls());
        stand.expect(session, 1000 * unit, 1000 * unit);
        stand.check();
        assertThat(session.release(token)).isEqualTo(new Complete(1000 * unit));
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("B10 a big commit makes far fewer driver calls than it has granules")
    void bigCommit() {
        var stand = lazyStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(1024 * unit, 1, Ranges.none(), Extents.WHOLE);
        long before = stand.binding.describe().driverCalls;
        session.commit(token, 0, 1024 * unit);
        assertThat(stand.binding.describe().driverCalls - before).isLessThanOrEqualTo(8);
        stand.expect(session, 1024 * unit, 1024 * unit);
        stand.check();
        before = stand.binding.describe().driverCalls;
        assertThat(session.release(token)).isEqualTo(new Complete(1024 * unit));
        assertThat(stand.binding.describe().driverCalls - before).isLessThanOrEqualTo(8);
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("B05 a reservation that is refused leaves nothing behind")
    void refusedReservation() {
        var stand = lazyStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        stand.ledger.limit(session.account(), 5 * unit - 1);
        var ranges = Ranges.of(0, unit).and(3 * unit, unit).and(6 * unit, 3 * unit);
        assertThatThrownBy(() -> session.reserve(10 * unit, 1, ranges, Extents.PIECES))
                .isInstanceOf(BudgetExceededException.class);
        assertThatThrownBy(() -> session.allocate(5 * unit, 1)).isInstanceOf(BudgetExceededException.class);
        stand.check();
        assertThat(stand.all()).isEqualTo(Stand.Figures.NOTHING);
        stand.ledger.limit(session.account(), Long.MAX_VALUE);
        for (Call call : List.of(Call.CREATE, Call.MAP)) {
            for (int nth = 1; nth <= 5; nth++) {
                stand.subject.gate().fail(call, nth, Kind.INVALID);
                assertThatThrownBy(() -> session.reserve(10 * unit, 1, ranges, Extents.PIECES))
                        .isInstanceOf(MemoryException.class);
                stand.check();
                assertThat(stand.all()).isEqualTo(Stand.Figures.NOTHING);
                assertThat(stand.registry.allocations()).isEmpty();
            }
        }
        assertThat(stand.subject.freeSpans()).hasValue(1);
    }
}
