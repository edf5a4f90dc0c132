package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.governor.Binding;
import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.Extents;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.StaleTokenException;
import org.granule.memory.Transfer;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens: who may use which, and for how long. */
@Timeout(60)
class TokenTest {

    private static final long G = PagedAllocator.GRANULE;

    private interface Work<T> {
        T run(int thread) throws Exception;
    }

    private static <T> List<T> together(int count, Work<T> work) throws Exception {
        var barrier = new CyclicBarrier(count);
        List<Callable<T>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int thread = i;
            tasks.add(() -> {
                barrier.await();
                return work.run(thread);
            });
        }
        List<T> results = new ArrayList<>();
        try (var threads = Executors.newFixedThreadPool(count)) {
            for (var result : threads.invokeAll(tasks)) {
                results.add(result.get());
            }
        }
        return results;
    }

    /** Everything that takes a token of an allocation. */
    private static List<ThrowingCallable> uses(MemorySession session, long token) {
        var segment = MemorySegment.ofArray(new byte[4]);
        return List.of(
                () -> session.release(token),
                () -> session.releaseAfter(token, () -> true),
                () -> session.commit(token, 0, 1),
                () -> session.decommit(token, 0, 1),
                () -> session.committedBytes(token),
                () -> session.share(token, 0, G),
                () -> session.price(token),
                () -> session.attach(token, 0, token),
                () -> session.attach(token, new long[] {0}, new long[] {token}),
                () -> session.detach(token, 0, token),
                () -> session.retire(token),
                () -> session.privatise(token, 0, G),
                () -> session.address(token),
                () -> session.bytes(token),
                () -> session.fill(token, 0, 1, (byte) 1),
                () -> session.copy(token, 0, token, 0, 1),
                () -> session.copyIn(token, 0, segment),
                () -> session.copyOut(segment, token, 0));
    }

    @Test
    @DisplayName("A02 an alignment that is no power of two is refused, nothing is charged, nobody called")
    void badAlignment() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            for (long alignment : new long[] {0, -1, -8, 3, 6, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 41}) {
                assertThatThrownBy(() -> session.allocate(8, alignment))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("power of two");
                assertThatThrownBy(() -> session.allocate(0, alignment)).isInstanceOf(InvalidRequestException.class);
            }
            assertThat(allocator.calls).hasValue(0);
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("A03 zero bytes from 64 threads at once: legal, never charged, released as Complete with 0")
    void zeroBytes() throws Exception {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            Set<Long> tokens = ConcurrentHashMap.newKeySet();
            together(64, thread -> {
                for (int i = 0; i < 100; i++) {
                    long token = session.allocate(0, 8);
                    assertThat(tokens.add(token)).isTrue();
                    assertThat(session.address(token)).isZero();
                    assertThat(session.bytes(token)).isZero();
                    assertThat(session.release(token)).isEqualTo(new Complete(0));
                    assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
                }
                return null;
            });
            assertThat(allocator.calls).hasValue(0);
            assertThat(binding.describe().liveAllocations).isZero();
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("A04 negative sizes and Long.MAX_VALUE - k are refused before anybody is called")
    void badSizes() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            allocator.calls.set(0);
            for (long k = 0; k <= 4096; k++) {
                long bytes = Long.MAX_VALUE - k;
                checkRefused(() -> session.allocate(bytes, 1));
                checkRefused(() -> session.allocate(bytes, 4096));
                checkRefused(() -> session.allocate(bytes + Long.MIN_VALUE, 1));
                checkRefused(() -> session.reserve(bytes, 1, Ranges.none(), Extents.PIECES));
            }
            assertThat(allocator.calls).hasValue(0);
            bench.checkLedger(0, 0, 0);
        }
    }

    private static void checkRefused(Runnable operation) {
        try {
            operation.run();
        } catch (InvalidRequestException e) {
            return;
        }
        throw new AssertionError("not refused");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8})
    @DisplayName("A05 released by several threads at once: one Complete, the others a typed error that changed nothing")
    void releasedByMany(int count) throws Exception {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            for (int round = 0; round < 100; round++) {
                long token = session.allocate(64, 64);
                var complete = together(count, thread -> {
                    try {
                        return session.release(token).equals(new Complete(64));
                    } catch (StaleTokenException e) {
                        return false;
                    }
                });
                assertThat(complete).containsOnlyOnce(true);
                bench.checkLedger(0, 0, 0);
                long one = session.allocate(64, 64);
                long other = session.allocate(64, 64);
                assertThat(Math.abs(session.address(one) - session.address(other)))
                        .isGreaterThanOrEqualTo(64);
                session.release(one);
                session.release(other);
            }
            assertThat(allocator.mistakes()).isEmpty();
            assertThat(allocator.liveBlocks()).isZero();
        }
    }

    @Test
    @DisplayName("A06 tokens never issued are refused in every method, the allocator is untouched")
    void neverIssued() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long real = session.allocate(64, 64);
            allocator.calls.set(0);
            for (long token : new long[] {
                0,
                1,
                -1,
                real + 1,
                real - 1,
                session.address(real),
                real + (1L << 26),
                real ^ 1L << 48,
                Long.MIN_VALUE | real,
                Long.MAX_VALUE
            }) {
                for (var use : uses(session, token)) {
                    assertThatThrownBy(use).isInstanceOfAny(StaleTokenException.class, ForeignTokenException.class);
                }
            }
            assertThat(allocator.calls).hasValue(0);
            assertThat(session.release(real)).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("A06 F05 a token of another session or binding is refused in every method, nobody is called")
    void foreign() {
        try (var bench = new Bench()) {
            var mine = new PagedAllocator();
            var theirs = new PagedAllocator();
            var binding = bench.bind(mine);
            var session = binding.open("a", "kv");
            var colleague = binding.open("a", "kv");
            var stranger = bench.bind(theirs).open("a", "kv");
            long token = session.reserve(8 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES);
            long prefix = session.share(token, 0, G);
            mine.calls.set(0);
            theirs.calls.set(0);
            for (var other : List.of(colleague, stranger)) {
                for (var use : uses(other, token)) {
                    assertThatThrownBy(use).isInstanceOfAny(ForeignTokenException.class, InvalidRequestException.class);
                }
                assertThatThrownBy(() -> other.release(prefix)).isInstanceOf(ForeignTokenException.class);
                assertThatThrownBy(() -> other.retire(prefix)).isInstanceOf(ForeignTokenException.class);
            }
            assertThatThrownBy(() -> stranger.price(prefix)).isInstanceOf(ForeignTokenException.class);
            long their = stranger.reserve(8 * G, 1, Ranges.none(), Extents.PIECES);
            theirs.calls.set(0);
            assertThatThrownBy(() -> stranger.attach(their, 0, prefix)).isInstanceOf(ForeignTokenException.class);
            assertThatThrownBy(() -> stranger.detach(their, 0, prefix)).isInstanceOf(ForeignTokenException.class);
            assertThat(mine.calls).hasValue(0);
            assertThat(theirs.calls).hasValue(0);
            assertThat(session.release(token)).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("A06 what has no addresses never reaches the allocator as a reservation")
    void prefixesAreNoReservations() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long reservation = session.reserve(8 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES);
            long prefix = session.share(reservation, 0, 2 * G);
            long empty = session.allocate(0, 1);
            allocator.calls.set(0);
            for (long token : new long[] {prefix, empty}) {
                assertThatThrownBy(() -> session.commit(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
                assertThatThrownBy(() -> session.decommit(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
                assertThatThrownBy(() -> session.share(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
                assertThatThrownBy(() -> session.attach(token, 0, prefix)).isInstanceOf(InvalidRequestException.class);
                assertThatThrownBy(() -> session.detach(token, 0, prefix)).isInstanceOf(InvalidRequestException.class);
                assertThatThrownBy(() -> session.privatise(token, 0, 0)).isInstanceOf(InvalidRequestException.class);
            }
            assertThatThrownBy(() -> session.retire(reservation)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> session.price(reservation)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> session.attach(reservation, 4 * G, reservation))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> session.fill(prefix, 0, 1, (byte) 1)).isInstanceOf(InvalidRequestException.class);
            assertThat(allocator.calls).hasValue(0);
            assertThat(session.committedBytes(reservation)).isEqualTo(2 * G);
        }
    }

    @Test
    @DisplayName("A08 the same address handed out again is a new generation, the old token stale everywhere")
    void sameAddressAgain() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            Set<Long> tokens = new HashSet<>();
            long old = session.allocate(64, 64);
            long address = session.address(old);
            tokens.add(old);
            for (int i = 0; i < 50; i++) {
                assertThat(session.release(old)).isInstanceOf(Complete.class);
                long next = session.allocate(64, 64);
                assertThat(session.address(next)).isEqualTo(address);
                assertThat(tokens.add(next)).isTrue();
                allocator.calls.set(0);
                for (var use : uses(session, old)) {
                    assertThatThrownBy(use).isInstanceOf(StaleTokenException.class);
                }
                assertThat(allocator.calls).hasValue(0);
                old = next;
            }
        }
    }

    @Test
    @DisplayName("A09 F05 after the binding closed every token is stale and the allocator is not called")
    void afterTheBinding() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES);
            assertThat(binding.close(Duration.ofSeconds(5))).isZero();
            assertThat(allocator.liveBlocks()).isZero();
            allocator.calls.set(0);
            for (var use : uses(session, token)) {
                assertThatThrownBy(use).isInstanceOf(StaleTokenException.class);
            }
            assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> session.allocate(0, 1)).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> session.reserve(1, 1, Ranges.none(), Extents.WHOLE))
                    .isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> session.estimate(Ranges.none())).isInstanceOf(ClosedException.class);
            assertThatThrownBy(session::granuleBytes).isInstanceOf(ClosedException.class);
            assertThatThrownBy(session::synchronise).isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> binding.open("a", "kv")).isInstanceOf(ClosedException.class);
            session.close();
            assertThat(binding.close(Duration.ZERO)).isZero();
            assertThat(allocator.calls).hasValue(0);
            assertThat(bench.registry.bindings()).isEmpty();
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("A09 after the session closed its tokens are stale and those of others live on")
    void afterTheSession() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            var other = binding.open("a", "kv");
            long token = session.allocate(64, 64);
            long kept = other.allocate(64, 64);
            session.close();
            session.close();
            allocator.calls.set(0);
            for (var use : uses(session, token)) {
                assertThatThrownBy(use).isInstanceOf(StaleTokenException.class);
            }
            assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
            assertThat(allocator.calls).hasValue(0);
            assertThat(other.bytes(kept)).isEqualTo(64);
            assertThat(binding.describe().sessions).isEqualTo(1);
            assertThat(allocator.liveBlocks()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("A10 an allocator with only the required members has no facets, and what needs them is refused")
    void noFacets() {
        try (var bench = new Bench()) {
            var session = bench.bind(new EagerAllocator()).open("a", "kv");
            long token = session.allocate(64, 64);
            assertThat(session.committedBytes(token)).isEqualTo(64);
            List<ThrowingCallable> refused = List.of(
                    () -> session.reserve(64, 1, Ranges.none(), Extents.PIECES),
                    () -> session.commit(token, 0, 1),
                    () -> session.decommit(token, 0, 1),
                    () -> session.estimate(Ranges.none()),
                    session::granuleBytes,
                    () -> session.share(token, 0, 64),
                    () -> session.privatise(token, 0, 64),
                    () -> session.fill(token, 0, 1, (byte) 0));
            for (var use : refused) {
                assertThatThrownBy(use).isInstanceOf(NotSupportedException.class);
            }
            bench.checkLedger(64, 64, 0);
            assertThat(session.release(token)).isEqualTo(new Complete(64));
            bench.checkLedger(0, 0, 0);
        }
    }

    /** An allocator over an arena that only one thread may close. */
    private static final class ArenaAllocator implements DeviceAllocator {
        private final Arena arena;

        ArenaAllocator(Arena arena) {
            this.arena = arena;
        }

        @Override
        public DeviceKey device() {
            return new DeviceKey("host", 9);
        }

        @Override
        public long allocate(long bytes, long alignment, Account account) {
            return arena.allocate(bytes, alignment).address();
        }

        @Override
        public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
            return Complete.NOTHING_UNMAPPED;
        }
    }

    private static WeakReference<DeviceAllocator> useArena(Bench bench, List<Object> kept) {
        try (var arena = Arena.ofConfined()) {
            var allocator = new ArenaAllocator(arena);
            var binding = bench.registry.bind("arena", 1, Fakes.reference(55), allocator, allocator.device());
            var session = binding.open("a", "kv");
            kept.add(binding);
            kept.add(session);
            long token = session.allocate(100, 64);
            long copy = session.allocate(100, 64);
            session.fill(token, 0, 100, (byte) 7);
            session.copy(copy, 10, token, 0, 90);
            var bytes = new byte[100];
            session.copyOut(MemorySegment.ofArray(bytes), copy, 0);
            assertThat(bytes[99]).isEqualTo((byte) 7);
            session.copyIn(copy, 50, MemorySegment.ofArray(new byte[] {1, 2}));
            session.copyOut(MemorySegment.ofArray(bytes), copy, 0);
            assertThat(bytes[51]).isEqualTo((byte) 2);
            for (long[] range : new long[][] {{-1, 1}, {0, 101}, {100, 1}, {1, Long.MAX_VALUE}, {0, -1}}) {
                assertThatThrownBy(() -> session.fill(token, range[0], range[1], (byte) 0))
                        .isInstanceOf(InvalidRequestException.class);
            }
            session.synchronise();
            assertThat(binding.close(Duration.ofSeconds(5))).isZero();
            return new WeakReference<>(allocator);
        }
    }

    @Test
    @DisplayName("A11 a short-lived allocator over a confined arena works and is not kept reachable afterwards")
    void shortLived() {
        try (var bench = new Bench()) {
            List<Object> kept = new ArrayList<>();
            var allocator = useArena(bench, kept);
            Bench.await(() -> {
                System.gc();
                return allocator.get() == null;
            });
            assertThat(kept).hasSize(2);
        }
    }

    @Test
    @DisplayName("A07 E01 16 threads allocate and release near a limit: never above it, tokens unique, ends at 0")
    void manyThreads() throws Exception {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            bench.ledger.limit("fake:0/a", 40 * 64);
            Set<Long> tokens = ConcurrentHashMap.newKeySet();
            together(16, thread -> {
                var random = new Random(thread);
                List<Long> live = new ArrayList<>();
                try (var session = binding.open("a", "r" + thread % 3)) {
                    for (int i = 0; i < 2000; i++) {
                        if (live.size() < 4 && random.nextBoolean()) {
                            try {
                                long token = session.allocate(1 + random.nextInt(64), 64);
                                assertThat(tokens.add(token)).isTrue();
                                live.add(token);
                            } catch (BudgetExceededException e) {
                                assertThat(e.limitedBy()).isEqualTo("fake:0/a");
                            }
                        } else if (!live.isEmpty()) {
                            assertThat(session.release(live.removeLast())).isInstanceOf(Complete.class);
                        }
                    }
                }
                return null;
            });
            assertThat(allocator.mistakes()).isEmpty();
            assertThat(allocator.liveBlocks()).isZero();
            bench.checkLedger(0, 0, 0);
            assertThat(bench.row("fake:0/a").peakOwnedBytes).isLessThanOrEqualTo(40 * 64);
        }
    }

    @Test
    void facetsAreAskedOnce() {
        try (var bench = new Bench()) {
            var asked = new ArrayList<String>();
            var allocator = new EagerAllocator() {
                @Override
                public Optional<Transfer> transfer() {
                    asked.add("transfer");
                    return Optional.empty();
                }
            };
            Binding binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            session.release(session.allocate(1, 1));
            assertThat(asked).containsExactly("transfer");
        }
    }
}
