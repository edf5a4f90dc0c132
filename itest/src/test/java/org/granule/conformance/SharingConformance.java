package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;
import org.granule.ledger.Ledger;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.PrefixLayout;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.StaleTokenException;
import org.granule.memory.UndoFailedException;
import org.granule.provider.MemorySession;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Group C: one piece of memory at several addresses. */
abstract class SharingConformance extends Conformance {

    private static final int PREFIX = 3;
    private static final int ROOM = 8;

    private Stand sharingStand(Keeping keeping) {
        var stand = stand(keeping);
        requireSharing(stand);
        return stand;
    }

    /** A prefix of some granules with the session that made it, each granule with a value of its own. */
    private record Shared(MemorySession session, long token, long prefix, int granules) {

        static Shared make(Stand stand, String tenant, int granules) {
            long unit = stand.subject.unit();
            var session = stand.open(tenant);
            long token = session.reserve(granules * unit, 1, Ranges.of(0, granules * unit), Extents.PIECES);
            for (int granule = 0; granule < granules; granule++) {
                Stand.fill(session, token, granule * unit, unit, granule + 1);
            }
            stand.expectMore(session, granules * unit, granules * unit);
            return new Shared(session, token, session.share(token, 0, granules * unit), granules);
        }

        void assertSeen(Stand stand, MemorySession reader, long at, long offset) {
            long unit = stand.subject.unit();
            for (int granule = 0; granule < granules; granule++) {
                Stand.assertHolds(reader, at, offset + granule * unit, 64, granule + 1);
                Stand.assertHolds(reader, at, offset + (granule + 1) * unit - 64, 64, granule + 1);
            }
        }

        void giveUp(Stand stand) {
            long unit = stand.subject.unit();
            Stand.assertComplete(session.retire(prefix));
            Stand.releaseCompletely(session, token);
            stand.expectMore(session, -granules * unit, -granules * unit);
        }
    }

    private static long attach(Stand stand, MemorySession session, Shared shared, long offset) {
        long unit = stand.subject.unit();
        long token = session.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES);
        session.attach(token, offset, shared.prefix);
        stand.expectMore(session, 0, shared.granules * unit);
        return token;
    }

    private static List<int[]> orders(int count) {
        List<int[]> orders = new ArrayList<>();
        permute(new int[count], 0, 0, orders);
        return orders;
    }

    private static void permute(int[] order, int filled, int used, List<int[]> orders) {
        if (filled == order.length) {
            orders.add(order.clone());
        }
        for (int i = 0; i < order.length; i++) {
            if ((used & 1 << i) == 0) {
                order[filled] = i;
                permute(order, filled + 1, used | 1 << i, orders);
            }
        }
    }

    @ParameterizedTest(name = "C01 owned once, mapped by each; the last one out frees it, in every order: keeping {0}")
    @EnumSource
    void everyOrder(Keeping keeping) {
        var stand = sharingStand(keeping);
        long size = PREFIX * stand.subject.unit();
        int sharers = 3;
        // Who goes when: the creator, the prefix itself, and the sharers.
        for (int[] order : orders(sharers + 2)) {
            var shared = Shared.make(stand, "creator", PREFIX);
            var sessions = new ArrayList<MemorySession>();
            long[] tokens = new long[sharers];
            for (int i = 0; i < sharers; i++) {
                sessions.add(stand.open("sharer" + i));
                tokens[i] = attach(stand, sessions.get(i), shared, i * stand.subject.unit());
            }
            stand.check();
            assertThat(stand.all().mapped() - stand.idle().mapped()).isEqualTo((sharers + 1) * size);
            for (int k = 0; k < order.length; k++) {
                boolean last = k == order.length - 1;
                switch (order[k]) {
                    case 0 -> {
                        Stand.releaseCompletely(shared.session, shared.token);
                        stand.expectMore(shared.session, 0, -size);
                    }
                    case 1 -> Stand.assertComplete(shared.session.retire(shared.prefix));
                    default -> {
                        int sharer = order[k] - 2;
                        if (sharer == 1) {
                            // One lets go of the prefix only, the others of their whole reservation.
                            assertThat(sessions.get(sharer)
                                            .detach(tokens[sharer], sharer * stand.subject.unit(), shared.prefix))
                                    .isEqualTo(new Complete(size));
                            Stand.releaseCompletely(sessions.get(sharer), tokens[sharer]);
                        } else {
                            assertThat(sessions.get(sharer).release(tokens[sharer]))
                                    .isEqualTo(new Complete(size));
                        }
                        stand.expectMore(sessions.get(sharer), 0, -size);
                    }
                }
                stand.expectMore(shared.session, last ? -size : 0, 0);
                stand.check();
            }
        }
    }

    @Test
    @DisplayName("C02 written once and read through 64 mappings; a write through a sharer is refused without harm")
    void readByMany() {
        var stand = sharingStand(Keeping.MUCH);
        var shared = Shared.make(stand, "creator", PREFIX);
        var sharer = stand.open("sharer");
        long unit = stand.subject.unit();
        long[] tokens = new long[64];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = attach(stand, sharer, shared, i % 4 * unit);
        }
        stand.check();
        for (int i = 0; i < tokens.length; i++) {
            long token = tokens[i];
            long offset = i % 4 * unit;
            shared.assertSeen(stand, sharer, token, offset);
            assertThatThrownBy(() -> Stand.fill(sharer, token, offset, 1, 0x66))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> sharer.copy(token, offset + unit, token, offset, 8))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(stand.subject.isWritable(sharer.address(token) + offset))
                    .as("native code can write")
                    .isFalse();
        }
        assertThat(stand.subject.isWritable(shared.session.address(shared.token)))
                .isTrue();
        shared.assertSeen(stand, shared.session, shared.token, 0);
        // The creator's mapping is writable, and what it writes is what all see.
        Stand.fill(shared.session, shared.token, 0, 1, 0x42);
        for (int i = 0; i < tokens.length; i++) {
            Stand.assertHolds(sharer, tokens[i], i % 4 * unit, 1, 0x42);
        }
        stand.check();
        for (long token : tokens) {
            Stand.releaseCompletely(sharer, token);
        }
        stand.expect(sharer, 0, 0);
        shared.giveUp(stand);
        stand.check();
    }

    @Test
    @DisplayName("C03 one more sharer costs 0; another provider, device, ledger or mechanism is refused before a price")
    void prices() {
        var stand = sharingStand(Keeping.MUCH);
        var other = stand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var shared = Shared.make(stand, "creator", PREFIX);
        var sharer = stand.open("sharer");
        assertThat(sharer.price(shared.prefix)).isZero();
        assertThat(shared.session.price(shared.prefix)).isZero();
        stand.ledger.limit(sharer.account(), 0);
        long token = attach(stand, sharer, shared, 0);
        stand.check();
        Stand.releaseCompletely(sharer, token);
        stand.expect(sharer, 0, 0);

        // Another mechanism, of the same registry.
        long calls = stand.watch.calls();
        var reference = Services.reference(other.subject.device());
        var elsewhere = stand.registry.bind("other", 1, reference, other.watch.allocator(), other.subject.device());
        var stranger = elsewhere.open("carl", "work");
        long there = stranger.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES);
        assertThatThrownBy(() -> stranger.price(shared.prefix)).isInstanceOf(ForeignTokenException.class);
        assertThatThrownBy(() -> stranger.attach(there, 0, shared.prefix)).isInstanceOf(ForeignTokenException.class);
        assertThatThrownBy(() -> sharer.attach(there, 0, shared.prefix)).isInstanceOf(ForeignTokenException.class);
        assertThat(stand.watch.calls()).as("calls of the allocator").isEqualTo(calls);
        stranger.close();
        assertThat(elsewhere.close(Duration.ZERO)).isZero();

        // Another device and another ledger, which only the allocator can tell.
        var facet = stand.subject.allocator().sharedMapping().orElseThrow();
        var backing = stand.subject.allocator().virtualBacking().orElseThrow();
        long number = facet.share(shared.session.address(shared.token), 0, PREFIX * unit);
        var foreignDevice = stand.ledger.account(new DeviceKey("elsewhere", 1), "carl", "work");
        var foreignLedger = new Ledger().account(stand.subject.device(), "carl", "work");
        var own = stand.ledger.account(stand.subject.device(), "sharer", "work");
        assertThat(facet.price(number, own)).isZero();
        for (var account : List.of(foreignDevice, foreignLedger)) {
            assertThatThrownBy(() -> facet.price(number, account)).isInstanceOf(NotSupportedException.class);
            long address = backing.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES, account);
            assertThatThrownBy(() -> facet.map(number, address, 0)).isInstanceOf(NotSupportedException.class);
            assertThat(backing.committedBytes(address)).isZero();
            stand.check();
            assertThat(stand.subject.allocator().release(address, ROOM * unit, 1, account))
                    .isEqualTo(new Complete(0));
        }
        assertThat(facet.retire(number)).isInstanceOf(Complete.class);
        assertThatThrownBy(() -> facet.price(number, own)).isInstanceOf(StaleTokenException.class);
        shared.giveUp(stand);
        assertThatThrownBy(() -> sharer.price(shared.prefix)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> sharer.price(shared.token)).isInstanceOf(MemoryException.class);
        stand.check();
    }

    @ParameterizedTest(name = "C04 mapping that fails at any granule leaves nothing mapped: keeping {0}")
    @EnumSource
    void failsAtAnyGranule(Keeping keeping) {
        var stand = sharingStand(keeping);
        long unit = stand.subject.unit();
        int granules = 6;
        var shared = Shared.make(stand, "creator", granules);
        var other = stand.open("other");
        long untouched = attach(stand, other, shared, 0);
        var sharer = stand.open("sharer");
        long token = sharer.reserve(ROOM * unit, 1, Ranges.of(0, unit), Extents.PIECES);
        Stand.fill(sharer, token, 0, unit, 0x29);
        stand.expect(sharer, unit, unit);
        stand.check();
        for (Call call : List.of(Call.MAP, Call.PROTECT)) {
            for (int nth = 1; nth <= (call == Call.MAP ? granules : 1); nth++) {
                for (Kind kind : List.of(Kind.OUT_OF_MEMORY, Kind.INVALID)) {
                    stand.subject.gate().fail(call, nth, kind);
                    assertThatThrownBy(() -> sharer.attach(token, unit, shared.prefix))
                            .as("%s number %d: %s", call, nth, kind)
                            .isInstanceOf(DriverFaultException.class)
                            .hasMessageContaining("on request");
                    stand.check();
                    assertThat(sharer.committedBytes(token)).isEqualTo(unit);
                    for (int granule = 1; granule < ROOM; granule++) {
                        long offset = granule * unit;
                        assertThatThrownBy(() -> Stand.read(sharer, token, offset, 1))
                                .isInstanceOf(InvalidRequestException.class);
                    }
                    Stand.assertHolds(sharer, token, 0, unit, 0x29);
                    shared.assertSeen(stand, other, untouched, 0);
                }
            }
        }
        sharer.attach(token, unit, shared.prefix);
        stand.expectMore(sharer, 0, granules * unit);
        stand.check();
        shared.assertSeen(stand, sharer, token, unit);
        Stand.releaseCompletely(sharer, token);
        Stand.releaseCompletely(other, untouched);
        stand.expect(sharer, 0, 0);
        stand.expect(other, 0, 0);
        shared.giveUp(stand);
        stand.check();
    }

    @Test
    @DisplayName("C05 a mapping is refunded once: released twice, never mapped, or from many threads")
    void refundedOnce() throws Exception {
        var stand = sharingStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var shared = Shared.make(stand, "creator", PREFIX);
        var sharer = stand.open("sharer");
        long token = attach(stand, sharer, shared, 0);
        stand.check();
        for (long offset : new long[] {unit, 4 * unit}) {
            assertThat(sharer.detach(token, offset, shared.prefix)).isInstanceOf(Failed.class);
            stand.check();
        }
        assertThat(sharer.detach(token, 0, shared.prefix)).isEqualTo(new Complete(PREFIX * unit));
        stand.expect(sharer, 0, 0);
        stand.check();
        assertThat(sharer.detach(token, 0, shared.prefix)).isInstanceOf(Failed.class);
        stand.check();
        for (int round = 0; round < 30; round++) {
            sharer.attach(token, 0, shared.prefix);
            var outcomes = OrdinaryConformance.inThreads(4, thread -> sharer.detach(token, 0, shared.prefix));
            long refunded = outcomes.stream()
                    .filter(Complete.class::isInstance)
                    .mapToLong(outcome -> ((Complete) outcome).unmappedBytes())
                    .sum();
            assertThat(refunded).isEqualTo(PREFIX * unit);
            assertThat(outcomes).filteredOn(Failed.class::isInstance).hasSize(3);
            stand.check();
        }
        sharer.attach(token, 0, shared.prefix);
        stand.expect(sharer, 0, PREFIX * unit);
        stand.subject.gate().fail(Call.UNMAP, 1, Kind.INVALID);
        assertThat(sharer.detach(token, 0, shared.prefix)).isInstanceOf(Failed.class);
        stand.check();
        shared.assertSeen(stand, sharer, token, 0);
        assertThat(sharer.detach(token, 0, shared.prefix)).isEqualTo(new Complete(PREFIX * unit));
        stand.expect(sharer, 0, 0);
        stand.check();
        // Retired from several threads: ended once.
        var retired = OrdinaryConformance.inThreads(4, thread -> {
            try {
                return shared.session.retire(shared.prefix);
            } catch (StaleTokenException e) {
                return e;
            }
        });
        assertThat(retired).filteredOn(Complete.class::isInstance).hasSize(1);
        assertThat(retired).filteredOn(StaleTokenException.class::isInstance).hasSize(3);
        assertThatThrownBy(() -> sharer.attach(token, 0, shared.prefix)).isInstanceOf(StaleTokenException.class);
        Stand.releaseCompletely(sharer, token);
        Stand.releaseCompletely(shared.session, shared.token);
        stand.expect(shared.session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("C06 a mechanism without a handle pool offers no sharing")
    void noPoolNoSharing() {
        var stand = stand();
        assumeFalse(stand.subject.isLazy(), "it has a handle pool, and offers sharing");
        assertThat(stand.subject.allocator().sharedMapping()).isEmpty();
        var session = stand.open("anna");
        long token = session.allocate(1000, 8);
        assertThatThrownBy(() -> session.share(token, 0, 100)).isInstanceOf(NotSupportedException.class);
        assertThatThrownBy(() -> session.privatise(token, 0, 100)).isInstanceOf(NotSupportedException.class);
        assertThatThrownBy(() -> session.price(token)).isInstanceOf(MemoryException.class);
        assertThatThrownBy(() -> session.attach(token, 0, token)).isInstanceOf(MemoryException.class);
        Stand.releaseCompletely(session, token);
        stand.check();
    }

    @Test
    @DisplayName("C07 a pair whose second prefix fails: the first is undone, and private memory can take its place")
    void pairUndone() {
        var stand = sharingStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var keys = Shared.make(stand, "creator", PREFIX);
        var values = Shared.make(stand, "creator", PREFIX);
        var sharer = stand.open("sharer");
        long[] offsets = {0, 4 * unit};
        long[] prefixes = {keys.prefix, values.prefix};
        for (int nth = PREFIX + 1; nth <= 2 * PREFIX; nth++) {
            long token = sharer.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES);
            stand.subject.gate().fail(Call.MAP, nth, Kind.OUT_OF_MEMORY);
            assertThatThrownBy(() -> sharer.attach(token, offsets, prefixes))
                    .isInstanceOf(DriverFaultException.class)
                    .hasMessageContaining("on request");
            stand.check();
            assertThat(sharer.committedBytes(token)).isZero();
            sharer.commit(token, 0, PREFIX * unit);
            Stand.fill(sharer, token, 0, PREFIX * unit, 0x17);
            stand.expect(sharer, PREFIX * unit, PREFIX * unit);
            stand.check();
            Stand.releaseCompletely(sharer, token);
            stand.expect(sharer, 0, 0);
            stand.check();
        }
        long token = sharer.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES);
        sharer.attach(token, offsets, prefixes);
        stand.expect(sharer, 0, 2 * PREFIX * unit);
        stand.check();
        keys.assertSeen(stand, sharer, token, 0);
        values.assertSeen(stand, sharer, token, 4 * unit);
        Stand.releaseCompletely(sharer, token);
        stand.expect(sharer, 0, 0);
        keys.giveUp(stand);
        values.giveUp(stand);
        stand.check();
    }

    @Test
    @DisplayName(
            "C07 a pair whose second prefix fails and whose first cannot be undone: an error that forbids a fallback")
    void pairNotUndone() {
        var stand = sharingStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var keys = Shared.make(stand, "creator", PREFIX);
        var values = Shared.make(stand, "creator", PREFIX);
        var sharer = stand.open("sharer");
        long token = sharer.reserve(ROOM * unit, 1, Ranges.none(), Extents.PIECES);
        stand.subject.gate().fail(Call.MAP, PREFIX + 1, Kind.OUT_OF_MEMORY);
        stand.subject.gate().fail(Call.UNMAP, 1, Kind.INVALID);
        assertThatThrownBy(
                        () -> sharer.attach(token, new long[] {0, 4 * unit}, new long[] {keys.prefix, values.prefix}))
                .isInstanceOf(UndoFailedException.class)
                .hasCauseInstanceOf(DriverFaultException.class)
                .cause()
                .hasMessageContaining("MAP number");
        stand.expect(sharer, 0, PREFIX * unit);
        stand.check();
        // A fallback onto it would write what others read.
        assertThatThrownBy(() -> Stand.fill(sharer, token, 0, 1, 1)).isInstanceOf(InvalidRequestException.class);
        keys.assertSeen(stand, keys.session, keys.token, 0);
        assertThat(sharer.release(token)).isEqualTo(new Complete(PREFIX * unit));
        stand.expect(sharer, 0, 0);
        keys.giveUp(stand);
        values.giveUp(stand);
        stand.check();
    }

    @Test
    @DisplayName("C08 whether sharing is worth it follows from whole granules, and it is said why not")
    void worthSharing() {
        var stand = sharingStand(Keeping.MUCH);
        long unit = stand.open("anna").granuleBytes();
        assertThat(unit).isEqualTo(stand.subject.unit());
        var random = new Random(8);
        for (int i = 0; i < 2000; i++) {
            long offset = random.nextLong(4 * unit);
            long bytes = random.nextLong(random.nextBoolean() ? 2 * unit : 20 * unit);
            if (i % 5 == 0) {
                offset -= offset % unit;
                bytes -= bytes % unit;
            }
            long whole = 0;
            for (long granule = 0; granule * unit < offset + bytes; granule++) {
                whole += granule * unit >= offset && (granule + 1) * unit <= offset + bytes ? unit : 0;
            }
            var layout = new PrefixLayout(bytes, offset, unit);
            assertThat(layout.sharedBytes()).as("%s", layout).isEqualTo(whole);
            assertThat(layout.privateBytes()).isEqualTo(bytes - whole);
            assertThat(layout.isWorthSharing()).isEqualTo(whole > 0);
            assertThat(layout.explain())
                    .contains(Long.toString(unit))
                    .contains(Long.toString(bytes))
                    .contains(whole > 0 ? Long.toString(whole) : "no whole granule");
        }
        // What is not whole committed granules is not shared.
        var session = stand.open("anna");
        long token = session.reserve(8 * unit, 1, Ranges.of(0, 4 * unit), Extents.PIECES);
        long inOne = session.reserve(8 * unit, 1, Ranges.of(0, 4 * unit), Extents.WHOLE);
        for (LongSupplier wrong : List.<LongSupplier>of(
                () -> session.share(token, 1, unit),
                () -> session.share(token, 0, unit - 1),
                () -> session.share(token, 0, 0),
                () -> session.share(token, 3 * unit, 2 * unit),
                () -> session.share(inOne, 0, unit))) {
            assertThatThrownBy(wrong::getAsLong).isInstanceOf(InvalidRequestException.class);
        }
        Stand.releaseCompletely(session, token);
        Stand.releaseCompletely(session, inOne);
        stand.check();
    }

    @ParameterizedTest(name = "C09 the writer of the boundary granule gets its own copy, the others keep theirs: {0}")
    @EnumSource
    void copyOnWrite(Keeping keeping) {
        var stand = sharingStand(keeping);
        long unit = stand.subject.unit();
        var shared = Shared.make(stand, "creator", 4);
        var writer = stand.open("writer");
        var reader = stand.open("reader");
        long own = attach(stand, writer, shared, 0);
        long theirs = attach(stand, reader, shared, unit);
        long boundary = 3 * unit;
        stand.check();
        assertThatThrownBy(() -> Stand.fill(writer, own, boundary + unit / 2, unit / 2, 0x61))
                .isInstanceOf(InvalidRequestException.class);
        writer.privatise(own, boundary, unit);
        stand.expectMore(writer, unit, 0);
        stand.check();
        Stand.assertHolds(writer, own, boundary, unit, 4);
        Stand.fill(writer, own, boundary + unit / 2, unit / 2, 0x61);
        Stand.assertHolds(writer, own, boundary, unit / 2, 4);
        shared.assertSeen(stand, reader, theirs, unit);
        shared.assertSeen(stand, shared.session, shared.token, 0);
        assertThatThrownBy(() -> Stand.fill(writer, own, 0, 1, 0x61)).isInstanceOf(InvalidRequestException.class);
        // What is private already stays.
        writer.privatise(own, boundary, unit);
        stand.check();
        Stand.assertHolds(writer, own, boundary + unit / 2, unit / 2, 0x61);
        // A budget refuses, and nothing changes.
        stand.ledger.limit(reader.account(), unit - 1);
        assertThatThrownBy(() -> reader.privatise(theirs, unit, unit)).isInstanceOf(MemoryException.class);
        stand.check();
        shared.assertSeen(stand, reader, theirs, unit);
        // The creator leaves first; the sharers' copies and shares stay.
        shared.giveUp(stand);
        stand.expectMore(shared.session, 4 * unit, 0);
        stand.check();
        shared.assertSeen(stand, reader, theirs, unit);
        assertThat(writer.release(own)).isEqualTo(new Complete(4 * unit));
        stand.expect(writer, 0, 0);
        stand.check();
        ReleaseOutcome last = reader.release(theirs);
        assertThat(last).isEqualTo(new Complete(4 * unit));
        stand.expect(reader, 0, 0);
        stand.expect(shared.session, 0, 0);
        stand.check();
    }
}
