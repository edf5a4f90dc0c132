package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.ClosedException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InUseException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.memory.Transfer;
import org.granule.memory.UndoFailedException;
import org.granule.memory.VirtualBacking;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Allocators that break their contract. */
@Timeout(60)
class FaultsTest {

    private static final long G = PagedAllocator.GRANULE;

    @Test
    @DisplayName(
            "A13 an allocator throws from each of its methods: a typed error, the ledger as before, the next call works")
    void throwsFromEachMethod() {
        for (var thrown :
                List.of(new IllegalStateException("boom"), new StackOverflowError("boom"), new AssertionError())) {
            try (var bench = new Bench()) {
                var allocator = new PagedAllocator();
                var binding = bench.bind(allocator);
                var session = binding.open("a", "kv");
                long token = session.reserve(8 * G, 1, Ranges.of(0, 4 * G), Extents.PIECES);
                long prefix = session.share(token, 0, G);
                var bytes = MemorySegment.ofArray(new byte[8]);
                List<ThrowingCallable> calls = List.of(
                        () -> session.allocate(1, 1),
                        () -> session.reserve(1, 1, Ranges.of(0, 1), Extents.PIECES),
                        () -> session.commit(token, 6 * G, 1),
                        () -> session.committedBytes(token),
                        () -> session.estimate(Ranges.none()),
                        session::granuleBytes,
                        () -> session.share(token, 0, G),
                        () -> session.price(prefix),
                        () -> session.attach(token, 6 * G, prefix),
                        () -> session.privatise(token, 0, G),
                        () -> session.fill(token, 0, 1, (byte) 1),
                        () -> session.copy(token, 0, token, 1, 1),
                        () -> session.copyIn(token, 0, bytes),
                        () -> session.copyOut(bytes, token, 0),
                        session::synchronise);
                long faults = 0;
                for (var call : calls) {
                    allocator.before = method -> sneak(thrown);
                    assertThatThrownBy(call)
                            .isInstanceOf(AllocatorFaultException.class)
                            .hasMessageContaining("threw");
                    allocator.before = method -> {};
                    bench.checkLedger(4 * G, 4 * G, 0);
                    assertThat(binding.describe().faults).isGreaterThan(faults);
                    faults = binding.describe().faults;
                    assertThat(session.committedBytes(token)).isEqualTo(4 * G);
                }
                allocator.before = method -> sneak(thrown);
                assertThat(session.decommit(token, 0, G)).isInstanceOf(Quarantined.class);
                assertThat(session.detach(token, 0, prefix)).isInstanceOf(Quarantined.class);
                assertThat(binding.describe().driverCalls).isEqualTo(-1);
                assertThat(bench.registry.bindings()).hasSize(1);
                assertThat(bench.registry.trim(Bench.DEVICE, 1)).isZero();
                allocator.before = method -> {};
                bench.checkLedger(4 * G, 4 * G, 0);
                assertThat(session.release(token)).isInstanceOf(Complete.class);
                bench.checkLedger(0, 0, 0);
                assertThat(bench.registry.describe(Fakes.reference(101)).state).isEqualTo("UNHEALTHY");
            }
        }
    }

    private static void sneak(Throwable thrown) {
        switch (thrown) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalArgumentException(thrown);
        }
    }

    @Test
    @DisplayName("A13 an eager allocator throws: nothing stays charged; from release: all of it is quarantined")
    void eagerThrows() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            allocator.inside = () -> {
                throw new IllegalStateException("boom");
            };
            assertThatThrownBy(() -> session.allocate(64, 64)).isInstanceOf(AllocatorFaultException.class);
            bench.checkLedger(0, 0, 0);
            allocator.inside = () -> {
                throw new DriverFaultException(Kind.OUT_OF_MEMORY, "no more");
            };
            assertThatThrownBy(() -> session.allocate(64, 64)).isInstanceOf(DriverFaultException.class);
            bench.checkLedger(0, 0, 0);
            allocator.inside = () -> {};
            long token = session.allocate(64, 64);
            allocator.inside = () -> {
                throw new IllegalStateException("boom");
            };
            assertThat(session.release(token)).isInstanceOfSatisfying(Quarantined.class, left -> {
                assertThat(left.ownedBytes()).isEqualTo(64);
                assertThat(left.cause()).isInstanceOf(AllocatorFaultException.class);
            });
            bench.checkLedger(64, 64, 64);
            assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            assertThat(bench.registry.settle(token)).as("still throwing").isInstanceOf(Quarantined.class);
            bench.checkLedger(64, 64, 64);
            allocator.inside = () -> {};
            assertThat(bench.registry.settle(token))
                    .as("an operator tries again")
                    .isInstanceOf(Complete.class);
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("A13 facets that throw or are null are refused when binding, nothing stays bound")
    void facetsThatThrow() {
        try (var bench = new Bench()) {
            var throwing = new EagerAllocator() {
                @Override
                public Optional<VirtualBacking> virtualBacking() {
                    throw new IllegalStateException("boom");
                }
            };
            var nothing = new EagerAllocator() {
                @Override
                public Optional<Transfer> transfer() {
                    return null;
                }
            };
            var contradicting = new EagerAllocator() {
                @Override
                public Optional<VirtualBacking> virtualBacking() {
                    return Optional.of(new PagedAllocator());
                }
            };
            for (var allocator : List.of(throwing, nothing, contradicting)) {
                assertThatThrownBy(() -> bench.bind(allocator)).isInstanceOf(AllocatorFaultException.class);
                assertThat(bench.registry.bindings()).isEmpty();
            }
            bench.bind(new EagerAllocator());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 33})
    @DisplayName("A14 address 0 or misaligned: a typed error naming the allocator, nothing charged, marked unhealthy")
    void badAnswer(long wrong) {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            allocator.answer = address -> wrong;
            assertThatThrownBy(() -> session.allocate(64, 64))
                    .isInstanceOf(AllocatorFaultException.class)
                    .hasMessageContainingAll("allocator 101 of fake.allocator 1.2.3", "64 bytes");
            bench.checkLedger(0, 0, 0);
            var description = bench.registry.describe(Fakes.reference(101));
            assertThat(description.state).isEqualTo("UNHEALTHY");
            assertThat(bench.reports).isNotEmpty();
            allocator.answer = address -> address;
            assertThat(session.release(session.allocate(64, 64))).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("A14 a range that overlaps a live one is not handed out, in whatever way it overlaps")
    void overlaps() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(4096, 4096);
            long address = session.address(token);
            long[][] overlapping = {
                {address, 4096},
                {address, 1},
                {address, 8192},
                {address + 64, 64},
                {address - 64, 128},
                {address - 64, 1 << 20},
                {address + 4095, 1}
            };
            for (long[] range : overlapping) {
                allocator.answer = given -> range[0];
                assertThatThrownBy(() -> session.allocate(range[1], 1))
                        .isInstanceOf(AllocatorFaultException.class)
                        .hasMessageContaining("overlaps");
                bench.checkLedger(4096, 4096, 0);
            }
            for (long beside : new long[] {address - 64, address + 4096}) {
                allocator.answer = given -> beside;
                session.allocate(64, 64);
            }
            assertThat(binding.describe().faults).isEqualTo(overlapping.length);
            assertThat(binding.describe().liveAllocations).isEqualTo(3);
        }
    }

    @Test
    @DisplayName("A14 an answer of null where an outcome is due means that nothing is known")
    void nullOutcomes() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = session.reserve(8 * G, 1, Ranges.of(0, 4 * G), Extents.PIECES);
            long prefix = session.share(token, 0, G);
            session.attach(token, 6 * G, prefix);
            allocator.nulls = true;
            assertThat(session.decommit(token, 0, G)).isInstanceOf(Quarantined.class);
            assertThat(session.detach(token, 6 * G, prefix)).isInstanceOf(Quarantined.class);
            assertThatThrownBy(() -> session.fill(token, 0, 1, (byte) 0)).isInstanceOf(AllocatorFaultException.class);
            assertThat(session.retire(prefix)).isInstanceOf(Quarantined.class);
        }
    }

    @Test
    @DisplayName("D01 the three outcomes of a release: the ledger follows each")
    void outcomes() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(100, 1);
            var cause = new DriverFaultException(Kind.INVALID, "no");
            allocator.outcome = given -> new Failed(cause);
            assertThat(session.release(token)).isEqualTo(new Failed(cause));
            bench.checkLedger(100, 100, 0);
            assertThat(session.bytes(token)).as("still live").isEqualTo(100);
            allocator.outcome = given -> new Quarantined(60, 40, cause);
            assertThat(session.release(token)).isInstanceOf(Quarantined.class);
            bench.checkLedger(40, 40, 40);
            assertThatThrownBy(() -> session.bytes(token)).isInstanceOf(StaleTokenException.class);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> {
                assertThat(dto.state).isEqualTo("QUARANTINED");
                assertThat(dto.ownedBytes).isEqualTo(40);
                assertThat(dto.reason).contains("no");
                assertThat(dto.token).isEqualTo(token);
            });
            allocator.outcome = given -> given;
            for (int i = 0; i < 20; i++) {
                long next = session.allocate(100, 1);
                assertThat(next).isNotEqualTo(token);
            }
            session.close();
            bench.checkLedger(40, 40, 40);
            assertThat(binding.close(Duration.ZERO)).isEqualTo(40);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> assertThat(dto.token)
                    .isEqualTo(token));
            assertThatThrownBy(() -> bench.registry.settle(token)).isInstanceOf(NotSupportedException.class);
            assertThatThrownBy(() -> bench.registry.settle(token + 1)).isInstanceOf(StaleTokenException.class);
        }
    }

    @Test
    @DisplayName("C07 a prefix pair: the second fails, the first is undone; if the undo fails it is said")
    void prefixPair() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = session.reserve(8 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES);
            long keys = session.share(token, 0, G);
            long values = session.share(token, G, G);
            long sharer = session.reserve(8 * G, 1, Ranges.none(), Extents.PIECES);
            failAtMap(allocator, 2);
            assertThatThrownBy(() -> session.attach(sharer, new long[] {0, G}, new long[] {keys, values}))
                    .isInstanceOf(DriverFaultException.class);
            bench.checkLedger(2 * G, 2 * G, 0);
            assertThat(session.committedBytes(sharer)).isZero();
            failAtMap(allocator, 2);
            allocator.outcome = given -> new Failed(new DriverFaultException(Kind.INVALID, "stuck"));
            assertThatThrownBy(() -> session.attach(sharer, new long[] {0, G}, new long[] {keys, values}))
                    .isInstanceOf(UndoFailedException.class)
                    .hasCauseInstanceOf(DriverFaultException.class);
            allocator.outcome = given -> given;
            allocator.before = method -> {};
            bench.checkLedger(2 * G, 3 * G, 0);
            session.release(sharer);
            bench.checkLedger(2 * G, 2 * G, 0);
            long again = session.reserve(8 * G, 1, Ranges.none(), Extents.PIECES);
            session.retire(values);
            allocator.calls.set(0);
            assertThatThrownBy(() -> session.attach(again, new long[] {0, G}, new long[] {keys, values}))
                    .isInstanceOf(StaleTokenException.class);
            assertThat(allocator.calls).as("refused before the first").hasValue(0);
            session.attach(again, 0, keys);
            assertThat(session.detach(again, 0, keys)).isInstanceOf(Complete.class);
        }
    }

    private static void failAtMap(PagedAllocator allocator, int nth) {
        int[] count = new int[1];
        allocator.before = method -> {
            if ("map".equals(method) && ++count[0] == nth) {
                throw new DriverFaultException(Kind.OUT_OF_MEMORY, "no");
            }
        };
    }

    @Test
    void aRefusalOfTheDeviceTrimsAndTriesAgain() {
        try (var bench = new Bench()) {
            var idle = new long[] {1000};
            var allocator = new EagerAllocator() {
                @Override
                public long trim(long bytes) {
                    long given = idle[0];
                    idle[0] = 0;
                    bench.ledger.idle(Bench.DEVICE).refund(given, 0);
                    return given;
                }
            };
            var session = bench.bind(allocator).open("a", "kv");
            bench.ledger.idle(Bench.DEVICE).charge(1000, 0);
            bench.ledger.limit("fake:0", 1500);
            long token = session.allocate(1200, 1);
            bench.checkLedger(1200, 1200, 0);
            assertThatThrownBy(() -> session.allocate(301, 1)).isInstanceOf(BudgetExceededException.class);
            session.release(token);
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("F08 an allocator that calls back into registry, governor and its own binding: no deadlock")
    void reEntrant() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long first = session.allocate(64, 64);
            List<Long> nested = new ArrayList<>();
            allocator.inside = () -> {
                allocator.inside = () -> {};
                bench.registry.bindings();
                bench.registry.allocations();
                bench.registry.allocators();
                bench.ledger.ledger();
                bench.ledger.limit("fake:0/b", 10);
                bench.registry.trim(Bench.DEVICE, 1);
                nested.add(session.allocate(32, 32));
                nested.add(binding.open("b", "kv").allocate(0, 1));
                CompletableFuture.runAsync(() -> session.release(first)).join();
                bench.bind(new EagerAllocator()).close(Duration.ZERO);
            };
            nested.add(session.allocate(64, 64));
            assertThat(nested).doesNotHaveDuplicates().hasSize(3);
            bench.checkLedger(96, 96, 0);
            allocator.inside = () -> {
                allocator.inside = () -> {};
                binding.close(Duration.ofSeconds(5));
            };
            assertThat(binding.close(Duration.ofSeconds(5))).isZero();
            bench.checkLedger(0, 0, 0);
            assertThat(bench.registry.bindings()).isEmpty();
        }
    }

    @Test
    @DisplayName("F08 an allocator whose release waits for another thread that closes the binding: no deadlock")
    void closedFromWithin() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            binding.open("a", "kv").allocate(64, 64);
            allocator.inside =
                    () -> CompletableFuture.runAsync(binding::describe).join();
            assertThat(binding.close(Duration.ofSeconds(5))).isZero();
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("F09 a call that is in the allocator when its binding gives up waiting leaks nothing")
    void inFlightAtTheEnd() throws Exception {
        try (var bench = new Bench()) {
            for (boolean paged : new boolean[] {false, true}) {
                EagerAllocator allocator = paged ? new PagedAllocator() : new EagerAllocator();
                var binding = bench.bind(allocator);
                var session = binding.open("a", "kv");
                var entered = new CountDownLatch(1);
                var leave = new CountDownLatch(1);
                allocator.inside = () -> {
                    allocator.inside = () -> {};
                    entered.countDown();
                    try {
                        leave.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                };
                var call = CompletableFuture.supplyAsync(() ->
                        paged ? session.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES) : session.allocate(64, 64));
                entered.await();
                // The paged allocator holds its own lock in there, so only what is not released now is looked at.
                assertThat(binding.close(Duration.ZERO)).isZero();
                assertThat(bench.registry.bindings()).isEmpty();
                leave.countDown();
                assertThatThrownBy(call::join).hasCauseInstanceOf(ClosedException.class);
                assertThat(allocator.liveBlocks()).isZero();
                bench.checkLedger(0, 0, 0);
                assertThat(bench.row("fake:0").reservedBytes).isZero();
                assertThat(bench.reports).anyMatch(line -> line.contains("have not returned"));
            }
        }
    }

    @Test
    @DisplayName("D07 memory that is touched while its binding ends is quarantined untouched, within the bound")
    void pinnedAtTheEnd() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.reserve(8 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES);
            long free = session.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES);
            var entered = new CountDownLatch(1);
            var leave = new CountDownLatch(1);
            allocator.before = method -> {
                if ("fill".equals(method)) {
                    entered.countDown();
                    try {
                        leave.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            var touch = CompletableFuture.runAsync(() -> session.fill(token, 0, 1, (byte) 0));
            assertThatThrownBy(() -> {
                        entered.await();
                        session.release(token);
                    })
                    .isInstanceOf(InUseException.class);
            assertThat(binding.close(Duration.ofMillis(50))).isEqualTo(2 * G);
            bench.checkLedger(2 * G, 2 * G, 2 * G);
            assertThat(allocator.liveBlocks()).isEqualTo(1);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> {
                assertThat(dto.token).isEqualTo(token);
                assertThat(dto.state).isEqualTo("QUARANTINED");
                assertThat(dto.reason).contains("in use");
            });
            leave.countDown();
            touch.join();
            assertThat(session.account()).isEqualTo("fake:0/a/kv");
            assertThat(free).isNotEqualTo(token);
        }
    }
}
