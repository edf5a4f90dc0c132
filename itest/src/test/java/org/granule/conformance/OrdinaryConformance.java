package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.granule.ledger.Ledger;
import org.granule.memory.Account;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.Extents;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;
import org.granule.registry.Registry;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Group A: what holds for every allocator. */
abstract class OrdinaryConformance extends Conformance {

    private static final int MAX_SHIFT = 21;
    private static final long PIECE = 64;

    /** What an allocation must be charged: the length asked for, or whole granules. */
    private static long charge(Stand stand, long bytes) {
        long unit = stand.subject.unit();
        return stand.subject.isLazy() ? (bytes + unit - 1) & -unit : bytes;
    }

    private record Block(long token, long address, long bytes, int value) {}

    /** Allocates, checks the address and that nothing live is overlapped, and writes both ends. */
    private static Block allocate(
            Stand stand, MemorySession session, long bytes, long alignment, TreeMap<Long, Block> live, int value) {
        long token = session.allocate(bytes, alignment);
        long address = session.address(token);
        assertThat(address).as("address of %d bytes", bytes).isNotZero();
        assertThat(address & alignment - 1)
                .as("0x%x aligned to %d", address, alignment)
                .isZero();
        assertThat(session.bytes(token)).isEqualTo(bytes);
        var below = live.floorEntry(address + bytes - 1);
        if (below != null) {
            assertThat(below.getValue().address + below.getValue().bytes)
                    .as("end of the block below 0x%x", address)
                    .isLessThanOrEqualTo(address);
        }
        var block = new Block(token, address, bytes, value);
        live.put(address, block);
        for (long offset : places(bytes)) {
            Stand.fill(session, token, offset, Math.min(PIECE, bytes - offset), value);
        }
        stand.expectMore(session, charge(stand, bytes), charge(stand, bytes));
        return block;
    }

    /** Where blocks are written and read: both ends, and now and then between them. */
    private static long[] places(long bytes) {
        return new long[] {0, bytes / 3, bytes / 2, Math.max(0, bytes - PIECE)};
    }

    private static void checkAndRelease(Stand stand, MemorySession session, Block block, TreeMap<Long, Block> live) {
        for (long offset : places(block.bytes)) {
            Stand.assertHolds(session, block.token, offset, Math.min(PIECE, block.bytes - offset), block.value);
        }
        Stand.releaseCompletely(session, block.token);
        live.remove(block.address);
        stand.expectMore(session, -charge(stand, block.bytes), -charge(stand, block.bytes));
    }

    @Test
    @DisplayName("A01 alignments to 2^21 and sizes around their multiples: aligned, disjoint, read back")
    void alignmentsAndSizes() {
        var stand = stand();
        var session = stand.open("anna");
        var live = new TreeMap<Long, Block>();
        for (int shift = 0; shift <= MAX_SHIFT; shift++) {
            long alignment = 1L << shift;
            for (long bytes :
                    new long[] {1, alignment - 1, alignment, alignment + 1, 2 * alignment - 1, 2 * alignment + 1}) {
                if (bytes > 0) {
                    allocate(stand, session, bytes, alignment, live, live.size() + 1);
                    stand.check();
                }
            }
        }
        for (Block block : List.copyOf(live.values())) {
            checkAndRelease(stand, session, block, live);
            stand.checkLedger();
        }
        stand.check();
    }

    @Test
    @DisplayName("A02 alignments that are not a power of two are refused, and nothing is charged")
    void wrongAlignments() {
        var stand = stand();
        var session = stand.open("anna");
        long calls = stand.watch.calls();
        for (long alignment : new long[] {0, -1, -8, Long.MIN_VALUE, 3, 6, 4097, (1 << 20) + 1, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> session.allocate(100, alignment))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("power of two");
            assertThatThrownBy(() -> session.reserve(100, alignment, Ranges.none(), Extents.PIECES))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("power of two");
        }
        assertThat(stand.watch.calls()).as("calls of the allocator").isEqualTo(calls);
        stand.check();
    }

    @Test
    @DisplayName("A03 zero bytes are legal, from 64 threads at once, and never charged")
    void zeroBytes() throws Exception {
        var stand = stand();
        var session = stand.open("anna");
        long calls = stand.watch.calls();
        inThreads(64, thread -> {
            for (int i = 0; i < 50; i++) {
                long token = session.allocate(0, 1L << i % 20);
                assertThat(token).isNotZero();
                assertThat(session.address(token)).isZero();
                assertThat(session.bytes(token)).isZero();
                assertThat(session.committedBytes(token)).isZero();
                session.fill(token, 0, 0, (byte) 1);
                assertThat(session.release(token)).isEqualTo(new Complete(0));
                assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            }
            return null;
        });
        assertThat(stand.watch.calls()).as("calls of the allocator").isEqualTo(calls);
        stand.check();
        assertThat(stand.all()).isEqualTo(Stand.Figures.NOTHING);
        assertThat(stand.registry.allocations()).isEmpty();
    }

    @Test
    @DisplayName("A04 negative and enormous sizes are refused before any rounding overflows")
    void impossibleSizes() {
        var stand = stand();
        var session = stand.open("anna");
        long calls = stand.watch.calls();
        for (long alignment : new long[] {1, 64, 1 << MAX_SHIFT}) {
            for (long k = 0; k <= 4096; k++) {
                refused(session, Long.MAX_VALUE - k, alignment);
            }
            for (long bytes : new long[] {-1, -4096, Long.MIN_VALUE, Long.MIN_VALUE + 1}) {
                refused(session, bytes, alignment);
            }
        }
        assertThat(stand.watch.calls()).as("calls of the allocator").isEqualTo(calls);
        // Legal, but more than any device has.
        for (long bytes : new long[] {Long.MAX_VALUE >> 1, 1L << 60, 1L << 52}) {
            assertThatThrownBy(() -> session.allocate(bytes, 1))
                    .isInstanceOf(MemoryException.class)
                    .isNotInstanceOf(AllocatorFaultException.class);
            stand.check();
        }
    }

    private static void refused(MemorySession session, long bytes, long alignment) {
        assertThatThrownBy(() -> session.allocate(bytes, alignment)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> session.reserve(bytes, alignment, Ranges.none(), Extents.WHOLE))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    @DisplayName("A05 of two releases, also at once, one is complete and the other changes nothing")
    void releaseTwice() throws Exception {
        var stand = stand();
        var session = stand.open("anna");
        long once = session.allocate(1000, 8);
        Stand.releaseCompletely(session, once);
        assertThatThrownBy(() -> session.release(once)).isInstanceOf(StaleTokenException.class);
        stand.check();
        for (int round = 0; round < 100; round++) {
            long token = session.allocate(1000, 8);
            long before = stand.releases();
            var outcomes = inThreads(2, thread -> {
                try {
                    return session.release(token);
                } catch (StaleTokenException e) {
                    return e;
                }
            });
            assertThat(outcomes).hasAtLeastOneElementOfType(Complete.class);
            assertThat(outcomes).hasAtLeastOneElementOfType(StaleTokenException.class);
            assertThat(stand.releases() - before)
                    .as("releases that reached the allocator")
                    .isEqualTo(1);
            var live = new TreeMap<Long, Block>();
            allocate(stand, session, 1000, 8, live, 1);
            allocate(stand, session, 1000, 8, live, 2);
            for (Block block : List.copyOf(live.values())) {
                checkAndRelease(stand, session, block, live);
            }
            stand.checkLedger();
        }
        stand.check();
    }

    @Test
    @DisplayName("A06 what was never issued, and what is somebody else's, is refused and the allocator untouched")
    void foreignTokens() {
        var stand = stand();
        var other = stand();
        var session = stand.open("anna");
        var neighbour = stand.open("bert");
        long mine = session.allocate(1000, 8);
        long address = session.address(mine);
        stand.expect(session, charge(stand, 1000), charge(stand, 1000));
        // A second binding of one registry, with an allocator of its own.
        var reference = Services.reference(other.subject.device());
        var elsewhere = stand.registry.bind("other", 1, reference, other.watch.allocator(), other.subject.device());
        var stranger = elsewhere.open("carl", "work");
        long theirs = stranger.allocate(1000, 8);
        long calls = stand.watch.calls() + other.watch.calls();
        var random = new Random(6);
        List<Long> neverIssued = new ArrayList<>(
                List.of(0L, -1L, 1L, mine + 1, mine - 1, mine + (1L << 40), address, address + 500, Long.MIN_VALUE));
        random.longs(50).forEach(neverIssued::add);
        for (long token : neverIssued) {
            assertThatThrownBy(() -> session.release(token))
                    .isInstanceOfAny(StaleTokenException.class, ForeignTokenException.class);
        }
        for (TokenUse use : TokenUse.all(theirs)) {
            if (!use.name().matches("attach|attach several|detach|copy from")) {
                assertThatThrownBy(() -> use.action().use(stranger, mine))
                        .as(use.name())
                        .isInstanceOf(ForeignTokenException.class);
            }
        }
        assertThatThrownBy(() -> neighbour.release(mine)).isInstanceOf(ForeignTokenException.class);
        assertThatThrownBy(() -> neighbour.fill(mine, 0, 1, (byte) 0)).isInstanceOf(ForeignTokenException.class);
        assertThat(stand.watch.calls() + other.watch.calls())
                .as("calls of the allocators")
                .isEqualTo(calls);
        stranger.close();
        assertThat(elsewhere.close(Duration.ZERO)).isZero();
        Stand.releaseCompletely(session, mine);
        stand.expect(session, 0, 0);
        stand.checkLedger();
    }

    @Test
    @DisplayName("A07 10,000 allocations and releases in random order end where they began, without growth")
    void randomOrder() {
        var stand = stand();
        var session = stand.open("anna");
        var random = new Random(7);
        for (int round = 0; round < 4; round++) {
            var live = new TreeMap<Long, Block>();
            var blocks = new ArrayList<Block>();
            for (int i = 0; i < 2500; i++) {
                if (blocks.size() < 200 && (blocks.isEmpty() || random.nextInt(5) < 3)) {
                    long bytes = 1 + (long) Math.pow(2, random.nextDouble() * 16);
                    blocks.add(allocate(stand, session, bytes, 1L << random.nextInt(7), live, i));
                } else {
                    checkAndRelease(stand, session, remove(blocks, random), live);
                }
                stand.checkLedger();
                if (i % 64 == 0) {
                    stand.checkDevice();
                }
            }
            while (!blocks.isEmpty()) {
                checkAndRelease(stand, session, remove(blocks, random), live);
            }
            stand.check();
            assertThat(stand.registry.allocations()).isEmpty();
            stand.registry.trim(stand.subject.device(), Long.MAX_VALUE);
            stand.check();
            assertThat(stand.all()).as("after round %d", round).isEqualTo(Stand.Figures.NOTHING);
        }
    }

    @Test
    @DisplayName("A07 the addresses are one free span afterwards, and no more were reserved than in the first round")
    void oneFreeSpan() {
        var stand = stand(Keeping.NOTHING);
        assumeTrue(stand.subject.freeSpans().isPresent(), "the C library keeps its own books of addresses");
        var session = stand.open("anna");
        var random = new Random(71);
        long reservedAfterFirst = -1;
        for (int round = 0; round < 4; round++) {
            var live = new TreeMap<Long, Block>();
            var blocks = new ArrayList<Block>();
            for (int i = 0; i < 300; i++) {
                blocks.add(allocate(stand, session, 1 + random.nextInt(300_000), 1L << random.nextInt(20), live, i));
            }
            Collections.shuffle(blocks, random);
            blocks.forEach(block -> checkAndRelease(stand, session, block, live));
            stand.check();
            assertThat(stand.subject.freeSpans()).hasValue(1);
            long reserved = stand.subject.gate().calls(Call.RESERVE);
            reservedAfterFirst = round == 0 ? reserved : reservedAfterFirst;
            assertThat(reserved).as("reservations made").isEqualTo(reservedAfterFirst);
        }
    }

    private static Block remove(List<Block> blocks, Random random) {
        int index = random.nextInt(blocks.size());
        var block = blocks.get(index);
        blocks.set(index, blocks.getLast());
        blocks.removeLast();
        return block;
    }

    @Test
    @DisplayName("A08 an address that is handed out again is a new generation: the old token is stale everywhere")
    void newGeneration() {
        var stand = stand();
        var session = stand.open("anna");
        var neighbour = stand.open("bert");
        long old = session.allocate(5000, 8);
        long address = session.address(old);
        Stand.fill(session, old, 0, 5000, 0x77);
        Stand.releaseCompletely(session, old);
        var held = new ArrayList<Long>();
        long again;
        do {
            assertThat(held.size())
                    .as("allocations until the address comes again")
                    .isLessThan(1000);
            again = neighbour.allocate(5000, 8);
            held.add(again);
        } while (neighbour.address(again) != address);
        assertThat(again).isNotEqualTo(old);
        // It went to another account, which must not see what was there.
        Stand.assertHolds(neighbour, again, 0, 5000, 0);
        Stand.fill(neighbour, again, 0, 5000, 0x11);
        stand.expect(neighbour, held.size() * charge(stand, 5000), held.size() * charge(stand, 5000));
        stand.check();
        long live = session.allocate(100, 1);
        stand.expect(session, charge(stand, 100), charge(stand, 100));
        long calls = stand.watch.calls() - stand.watch.calls("access");
        long looks = stand.watch.calls("access");
        for (TokenUse use : TokenUse.all(live)) {
            assertThatThrownBy(() -> use.action().use(session, old))
                    .as(use.name())
                    .isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> use.action().use(neighbour, old))
                    .as("%s in the other session", use.name())
                    .isInstanceOfAny(StaleTokenException.class, ForeignTokenException.class);
        }
        // To copy from the old token, the access of the live one is looked at first.
        assertThat(stand.watch.calls("access") - looks).isLessThanOrEqualTo(1);
        assertThat(stand.watch.calls() - stand.watch.calls("access"))
                .as("calls of the allocator")
                .isEqualTo(calls);
        Stand.assertHolds(neighbour, again, 0, 5000, 0x11);
        stand.check();
        held.forEach(token -> Stand.releaseCompletely(neighbour, token));
        Stand.releaseCompletely(session, live);
        stand.expect(session, 0, 0);
        stand.expect(neighbour, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("A09 a token that is used after its binding closed is stale, and the allocator is not called")
    void afterTheBinding() {
        var stand = stand();
        var session = stand.open("anna");
        long token = session.allocate(5000, 8);
        long live = session.allocate(100, 8);
        assertThat(stand.binding.close(Duration.ofSeconds(1))).isZero();
        stand.check();
        assertThat(stand.all()).isEqualTo(Stand.Figures.NOTHING);
        long calls = stand.watch.calls();
        for (TokenUse use : TokenUse.all(live)) {
            assertThatThrownBy(() -> use.action().use(session, token))
                    .as(use.name())
                    .isInstanceOf(StaleTokenException.class);
        }
        assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> session.allocate(0, 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> session.reserve(1, 1, Ranges.none(), Extents.WHOLE))
                .isInstanceOf(ClosedException.class);
        assertThatThrownBy(session::granuleBytes).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> session.estimate(Ranges.none())).isInstanceOf(ClosedException.class);
        assertThatThrownBy(session::synchronise).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> stand.binding.open("anna", "work")).isInstanceOf(ClosedException.class);
        session.close();
        assertThat(stand.binding.close(Duration.ZERO)).isZero();
        assertThat(stand.watch.calls()).as("calls of the allocator").isEqualTo(calls);
        stand.check();
    }

    /** All that an allocator must have. */
    private static final class Minimal implements DeviceAllocator {

        private final DeviceKey device;
        private final Arena arena;
        private final Map<Long, MemorySegment> blocks = new HashMap<>();

        Minimal(DeviceKey device, Arena arena) {
            this.device = device;
            this.arena = arena;
        }

        @Override
        public DeviceKey device() {
            return device;
        }

        @Override
        public long allocate(long bytes, long alignment, Account account) {
            var block = arena.allocate(bytes, alignment);
            blocks.put(block.address(), block);
            return block.address();
        }

        @Override
        public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
            assertThat(blocks.remove(address).byteSize()).isEqualTo(bytes);
            return Complete.NOTHING_UNMAPPED;
        }
    }

    @Test
    @DisplayName("A10 an eager allocator has neither facet, and the three required members are enough")
    void eagerIsEnough() {
        var stand = stand();
        requireEager(stand);
        var allocator = stand.subject.allocator();
        assertThat(allocator.virtualBacking()).isEmpty();
        assertThat(allocator.sharedMapping()).isEmpty();
        assertThat(allocator.commitsOnDemand()).isFalse();
        var session = stand.open("anna");
        withoutFacets(session);
        stand.check();
        var ledger = new Ledger();
        try (var registry = new Registry(ledger, List::of, line -> {});
                var arena = Arena.ofConfined()) {
            var device = new DeviceKey(DeviceKey.HOST, 3);
            var binding = registry.bind("minimal", 1, Services.reference(device), new Minimal(device, arena), device);
            var minimal = binding.open("anna", "work");
            long token = minimal.allocate(1000, 256);
            Stand.fill(minimal, token, 0, 1000, 9);
            Stand.assertHolds(minimal, token, 0, 1000, 9);
            withoutFacets(minimal);
            assertThat(ledger.ledger().getFirst().ownedBytes).isEqualTo(1000);
            Stand.releaseCompletely(minimal, token);
            assertThat(binding.close(Duration.ZERO)).isZero();
            assertThat(ledger.ledger().getFirst().ownedBytes).isZero();
        }
    }

    private static void withoutFacets(MemorySession session) {
        assertThatThrownBy(session::granuleBytes)
                .isInstanceOf(NotSupportedException.class)
                .hasMessageContaining("virtual backing");
        assertThatThrownBy(() -> session.estimate(Ranges.of(0, 1))).isInstanceOf(NotSupportedException.class);
        assertThatThrownBy(() -> session.reserve(100, 1, Ranges.none(), Extents.WHOLE))
                .isInstanceOf(NotSupportedException.class);
        long token = session.allocate(100, 1);
        assertThatThrownBy(() -> session.commit(token, 0, 1)).isInstanceOf(NotSupportedException.class);
        assertThatThrownBy(() -> session.decommit(token, 0, 1)).isInstanceOf(NotSupportedException.class);
        assertThat(session.committedBytes(token)).isEqualTo(100);
        Stand.releaseCompletely(session, token);
    }

    @Test
    @DisplayName("A11 an allocator is not kept reachable after its binding closed")
    void notKept() throws Exception {
        var ledger = new Ledger();
        try (var registry = new Registry(ledger, List::of, line -> {})) {
            List<MemorySession> kept = new ArrayList<>();
            var gone = useAndDrop(registry, kept);
            await("the allocator is collected", () -> {
                System.gc();
                return gone.get() == null;
            });
            assertThat(kept).hasSize(1);
            assertThat(ledger.ledger().getFirst().ownedBytes).isZero();
        }
    }

    /** In a frame of its own, so that no local variable keeps it. */
    private WeakReference<DeviceAllocator> useAndDrop(Registry registry, List<MemorySession> kept) {
        try (var subject = subject(Keeping.MUCH)) {
            var allocator = subject.allocator();
            var binding = registry.bind("short", 1, Services.reference(subject.device()), allocator, subject.device());
            var session = binding.open("anna", "work");
            kept.add(session);
            long one = session.allocate(10_000, 64);
            session.allocate(20_000, 64);
            Stand.releaseCompletely(session, one);
            assertThat(binding.close(Duration.ofSeconds(1))).isZero();
            return new WeakReference<>(allocator);
        }
    }

    @Test
    @DisplayName("A11 a short-lived allocator over a confined arena works and is collected")
    void confinedArena() throws Exception {
        var stand = stand();
        requireEager(stand);
        var ledger = new Ledger();
        try (var registry = new Registry(ledger, List::of, line -> {})) {
            var gone = useConfined(registry);
            await("the allocator is collected", () -> {
                System.gc();
                return gone.get() == null;
            });
            assertThat(ledger.ledger().getFirst().ownedBytes).isZero();
            assertThat(registry.bindings()).isEmpty();
        }
    }

    private static WeakReference<DeviceAllocator> useConfined(Registry registry) {
        var device = new DeviceKey(DeviceKey.HOST, 4);
        try (var arena = Arena.ofConfined()) {
            var allocator = new Minimal(device, arena);
            var binding = registry.bind("confined", 1, Services.reference(device), allocator, device);
            try (var session = binding.open("anna", "work")) {
                for (int i = 1; i < 100; i++) {
                    long token = session.allocate(i, 8);
                    Stand.fill(session, token, 0, i, i);
                    Stand.assertHolds(session, token, 0, i, i);
                    if (i % 2 == 0) {
                        Stand.releaseCompletely(session, token);
                    }
                }
            }
            assertThat(binding.close(Duration.ZERO)).isZero();
            return new WeakReference<>(allocator);
        }
    }

    @Test
    @DisplayName("A12 device keys: equal by both parts, a text form that round-trips, nonsense refused")
    void deviceKeys() {
        var stand = stand();
        assertThat(new DeviceKey("cuda", 0)).isNotEqualTo(new DeviceKey("cuda", 1));
        assertThat(new DeviceKey("cuda", 0)).isNotEqualTo(new DeviceKey(DeviceKey.HOST, 0));
        assertThat(new DeviceKey("cuda", 1)).isEqualTo(DeviceKey.parse("cuda:1"));
        assertThat(DeviceKey.parse(stand.subject.device().toString())).isEqualTo(stand.subject.device());
        for (int ordinal : new int[] {0, 1, 9, 10, 65_535}) {
            var key = new DeviceKey("ab9", ordinal);
            assertThat(DeviceKey.parse(key.toString())).isEqualTo(key);
        }
        for (String nonsense : List.of(
                "",
                ":",
                "host",
                "host:",
                ":0",
                "host:-1",
                "host:00",
                "host:01",
                "host:65536",
                "host:0 ",
                " host:0",
                "Host:0",
                "9a:0",
                "host:0:0",
                "host:x",
                "host:99999999999",
                "ho st:0",
                "host:٣",
                "a".repeat(33) + ":0")) {
            assertThatThrownBy(() -> DeviceKey.parse(nonsense))
                    .as("'%s'", nonsense)
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> new DeviceKey("cuda", -1)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new DeviceKey("", 0)).isInstanceOf(InvalidRequestException.class);
    }

    private static final List<Throwable> UNCHECKED =
            List.of(new IllegalStateException("broken"), new StackOverflowError(), new NoClassDefFoundError("gone"));

    @Test
    @DisplayName("A13 an allocator that throws from a method: a typed error, the ledger as before, the next call works")
    void throwsFromMethods() {
        for (Throwable thrown : UNCHECKED) {
            var stand = stand();
            var session = stand.open("anna");
            long token = session.allocate(5000, 8);
            stand.expect(session, charge(stand, 5000), charge(stand, 5000));
            contained(stand, thrown, "allocate", () -> session.allocate(5000, 8));
            contained(stand, thrown, "trim", () -> stand.registry.trim(stand.subject.device(), 1));
            if (stand.subject.allocator().transfer().isPresent()) {
                var bytes = MemorySegment.ofArray(new byte[10]);
                contained(stand, thrown, "fill", () -> session.fill(token, 0, 10, (byte) 1));
                contained(stand, thrown, "copy", () -> session.copy(token, 0, token, 100, 10));
                contained(stand, thrown, "copyIn", () -> session.copyIn(token, 0, bytes));
                contained(stand, thrown, "copyOut", () -> session.copyOut(bytes, token, 0));
                contained(stand, thrown, "synchronise", session::synchronise);
            }
            Stand.releaseCompletely(session, token);
            stand.expect(session, 0, 0);
            stand.check();
        }
    }

    @Test
    @DisplayName("A13 a facet that throws from a method: a typed error, the ledger as before, the next call works")
    void throwsFromFacets() {
        for (Throwable thrown : UNCHECKED) {
            var stand = stand();
            requireLazy(stand);
            long unit = stand.subject.unit();
            var session = stand.open("anna");
            long token = session.reserve(8 * unit, 1, Ranges.of(0, 4 * unit), Extents.PIECES);
            long other = session.reserve(8 * unit, 1, Ranges.none(), Extents.PIECES);
            long prefix = session.share(token, 0, 2 * unit);
            stand.expect(session, 4 * unit, 4 * unit);
            contained(stand, thrown, "reserve", () -> session.reserve(unit, 1, Ranges.none(), Extents.PIECES));
            contained(stand, thrown, "commit", () -> session.commit(token, 4 * unit, unit));
            contained(stand, thrown, "committedBytes", () -> session.committedBytes(token));
            contained(stand, thrown, "estimate", () -> session.estimate(Ranges.of(0, 1)));
            contained(stand, thrown, "granuleBytes", session::granuleBytes);
            contained(stand, thrown, "access", () -> session.fill(token, 0, 1, (byte) 1));
            contained(stand, thrown, "driverCalls", stand.binding::describe);
            contained(stand, thrown, "share", () -> session.share(token, 0, unit));
            contained(stand, thrown, "price", () -> session.price(prefix));
            contained(stand, thrown, "map", () -> session.attach(other, 0, prefix));
            session.attach(other, 0, prefix);
            stand.expect(session, 4 * unit, 6 * unit);
            contained(stand, thrown, "privatise", () -> session.privatise(other, 0, unit));
            quarantined(stand, thrown, "unmap", () -> session.detach(other, 0, prefix));
            quarantined(stand, thrown, "decommit", () -> session.decommit(token, 3 * unit, unit));
            // Both threw before they did anything, and what is there can still be given back.
            Stand.assertComplete(session.detach(other, 0, prefix));
            Stand.assertComplete(session.retire(prefix));
            Stand.releaseCompletely(session, other);
            Stand.releaseCompletely(session, token);
            stand.expect(session, 0, 0);
            stand.check();
        }
    }

    @Test
    @DisplayName("A13 an allocator that throws from release: everything stays charged, and the next call works")
    void throwsFromRelease() {
        for (Throwable thrown : UNCHECKED) {
            var stand = stand();
            var session = stand.open("anna");
            long bytes = 3 * stand.subject.unit();
            long token = session.allocate(bytes, 8);
            long address = session.address(token);
            stand.expect(session, bytes, bytes);
            var left = quarantined(stand, thrown, "release", () -> session.release(token));
            assertThat(left.ownedBytes()).isEqualTo(bytes);
            assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            assertThat(stand.quarantine()).singleElement().satisfies(dto -> {
                assertThat(dto.token).isEqualTo(token);
                assertThat(dto.ownedBytes).isEqualTo(bytes);
            });
            assertThat(stand.figures(session).owned()).isEqualTo(bytes);
            stand.accept(session);
            var next = session.allocate(bytes, 8);
            assertThat(session.address(next)).isNotEqualTo(address);
            Stand.releaseCompletely(session, next);
            stand.check();
            stand.abandon();
        }
    }

    @Test
    @DisplayName("A13 an allocator that throws while it is bound: a typed error, and the next bind works")
    void throwsWhileBound() {
        for (String method : List.of("device", "commitsOnDemand", "virtualBacking", "sharedMapping", "transfer")) {
            var subject = subject(Keeping.MUCH);
            try (subject;
                    var registry = new Registry(new Ledger(), List::of, line -> {})) {
                var watch = new Watch(subject.allocator());
                var reference = Services.reference(subject.device());
                for (Throwable thrown : UNCHECKED) {
                    watch.throwAtNext(method, thrown);
                    assertThatThrownBy(() -> registry.bind("p", 1, reference, watch.allocator(), subject.device()))
                            .isInstanceOf(AllocatorFaultException.class)
                            .hasMessageContaining(method);
                    assertThat(registry.bindings()).isEmpty();
                }
                if (!"commitsOnDemand".equals(method)) {
                    watch.atNext(method, call -> null);
                    assertThatThrownBy(() -> registry.bind("p", 1, reference, watch.allocator(), subject.device()))
                            .isInstanceOf(AllocatorFaultException.class)
                            .hasMessageContaining("null");
                }
                var binding = registry.bind("p", 1, reference, watch.allocator(), subject.device());
                try (var session = binding.open("anna", "work")) {
                    Stand.releaseCompletely(session, session.allocate(10, 1));
                }
                assertThat(binding.close(Duration.ZERO)).isZero();
            }
        }
    }

    /** Lets a method throw and checks that a typed error comes out, or nothing where nothing is at stake. */
    private static void contained(Stand stand, Throwable thrown, String method, Runnable work) {
        stand.check();
        long faults = stand.binding.describe().faults;
        stand.watch.throwAtNext(method, thrown);
        if (List.of("trim", "driverCalls").contains(method)) {
            // Nobody's request depends on these: the answer is that of an allocator without them.
            work.run();
        } else {
            assertThatThrownBy(work::run)
                    .as("%s throws %s", method, thrown)
                    .isInstanceOf(AllocatorFaultException.class)
                    .hasCause(thrown)
                    .hasMessageContaining(method);
        }
        assertThat(stand.watch.isSet(method)).as("%s was called", method).isFalse();
        assertThat(stand.binding.describe().faults).as("faults").isEqualTo(faults + 1);
        assertUnhealthy(stand);
        stand.check();
    }

    /** Lets a method throw that gives something back, where nobody can say how far it got. */
    private static Quarantined quarantined(
            Stand stand, Throwable thrown, String method, Callable<ReleaseOutcome> work) {
        stand.check();
        stand.watch.throwAtNext(method, thrown);
        try {
            var outcome = work.call();
            assertThat(outcome).as("%s throws %s", method, thrown).isInstanceOf(Quarantined.class);
            var left = (Quarantined) outcome;
            assertThat(left.cause()).isInstanceOf(AllocatorFaultException.class).hasCause(thrown);
            assertThat(left.unmappedBytes()).isZero();
            assertUnhealthy(stand);
            return left;
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertUnhealthy(Stand stand) {
        var dto = stand.registry.describe(stand.reference);
        assertThat(dto.state).isEqualTo("UNHEALTHY");
        assertThat(dto.reason).isNotEmpty();
        assertThat(stand.reports).isNotEmpty();
    }

    @Test
    @DisplayName("A14 answers that cannot be: a typed error that names them, nothing handed out, marked unhealthy")
    void impossibleAnswers() {
        long[] wrong = {0, -64, Long.MAX_VALUE - 63, 0x7FFF_0000_0001L, 0x7FFF_0000_0020L, Long.MIN_VALUE};
        for (long address : wrong) {
            var stand = stand();
            var session = stand.open("anna");
            impossible(stand, "allocate", address, () -> session.allocate(1000, 64));
            if (stand.subject.isLazy()) {
                impossible(stand, "reserve", address, () -> session.reserve(1000, 64, Ranges.none(), Extents.WHOLE));
            }
            Stand.releaseCompletely(session, session.allocate(1000, 64));
        }
    }

    private static void impossible(Stand stand, String method, long address, Runnable work) {
        stand.watch.atNext(method, call -> address);
        // What cannot be passed on is given back, and must not reach the real allocator.
        stand.watch.atNext("release", call -> Complete.NOTHING_UNMAPPED);
        assertThatThrownBy(work::run)
                .as("%s answers 0x%x", method, address)
                .isInstanceOf(AllocatorFaultException.class)
                .hasMessageContaining("0x" + Long.toHexString(address));
        assertThat(stand.watch.isSet("release"))
                .as("0x%x is not given back", address)
                .isEqualTo(address == 0);
        stand.watch.atNext("release", Watch.Call::proceed);
        assertThat(stand.registry.allocations()).isEmpty();
        assertUnhealthy(stand);
        stand.check();
    }

    @Test
    @DisplayName("A14 a range that overlaps a live one: a typed error, the live one untouched, marked unhealthy")
    void overlappingAnswers() {
        var bytes = 4096L;
        for (long shift : new long[] {0, 64, bytes - 64, 64 - bytes, -64}) {
            var stand = stand();
            var session = stand.open("anna");
            long token = session.allocate(bytes, 64);
            Stand.fill(session, token, 0, bytes, 0x33);
            long address = session.address(token);
            stand.expect(session, charge(stand, bytes), charge(stand, bytes));
            long releases = stand.releases();
            stand.watch.atNext("allocate", call -> address + shift);
            assertThatThrownBy(() -> session.allocate(bytes, 64))
                    .as("overlap by %d", shift)
                    .isInstanceOf(AllocatorFaultException.class)
                    .hasMessageContaining("0x" + Long.toHexString(address + shift))
                    .hasMessageContaining("overlaps");
            assertThat(stand.releases()).as("releases").isEqualTo(releases);
            assertThat(stand.registry.allocations()).hasSize(1);
            assertUnhealthy(stand);
            stand.check();
            Stand.assertHolds(session, token, 0, bytes, 0x33);
            Stand.releaseCompletely(session, token);
            stand.expect(session, 0, 0);
            stand.check();
        }
    }

    @Test
    @DisplayName("A14 null where an outcome must be: a typed error, everything stays charged, marked unhealthy")
    void nullOutcome() {
        var stand = stand();
        var session = stand.open("anna");
        long bytes = 2 * stand.subject.unit();
        long token = session.allocate(bytes, 1);
        stand.watch.atNext("release", call -> null);
        var outcome = session.release(token);
        assertThat(outcome).isInstanceOf(Quarantined.class);
        assertThat(((Quarantined) outcome).ownedBytes()).isEqualTo(bytes);
        assertThat(((Quarantined) outcome).cause())
                .isInstanceOf(AllocatorFaultException.class)
                .hasMessageContaining("null");
        assertUnhealthy(stand);
        assertThat(stand.figures(session).owned()).isEqualTo(bytes);
        stand.checkDevice();
        stand.abandon();
    }

    /** Runs something in threads that start together; returns what each answered. */
    static List<Object> inThreads(int count, ThreadWork work) throws Exception {
        var barrier = new CyclicBarrier(count);
        var number = new AtomicInteger();
        var answers = new ArrayList<Object>();
        try (var threads = Executors.newFixedThreadPool(count)) {
            List<Future<Object>> futures = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                futures.add(threads.submit(() -> {
                    int mine = number.getAndIncrement();
                    barrier.await();
                    return work.run(mine);
                }));
            }
            for (Future<Object> future : futures) {
                answers.add(future.get());
            }
        }
        return answers;
    }

    /** What a thread does. */
    @FunctionalInterface
    interface ThreadWork {
        Object run(int thread) throws Exception;
    }
}
