package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.governor.AllocationDTO;
import org.granule.governor.Binding;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InUseException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work that is queued on ranges: who waits for it, for which of it, and where it ends. */
@Timeout(60)
class QueuedWorkTest {

    private static final long G = PagedAllocator.GRANULE;

    /** A point in a stream that is passed when a test says so, and knows how often it was asked. */
    private static class Point implements Fence {
        final AtomicInteger asked = new AtomicInteger();
        volatile boolean passed;

        @Override
        public boolean passed() {
            asked.incrementAndGet();
            return passed;
        }
    }

    /** What went wrong within fences, which must not throw. */
    private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void nothingWentWrongInFences() {
        assertThat(failures).isEmpty();
    }

    /** Passes when it is asked for the n-th time, and does something then, on another thread. */
    private Fence passesAt(int nth, Runnable work) {
        var asked = new AtomicInteger();
        return () -> {
            if (asked.incrementAndGet() == nth) {
                try {
                    elsewhere(work);
                } catch (RuntimeException e) {
                    failures.add(e);
                }
            }
            return asked.get() >= nth;
        };
    }

    private static void elsewhere(Runnable work) {
        CompletableFuture.runAsync(work, task -> Thread.ofVirtual().start(task)).join();
    }

    private static AllocationDTO find(Bench bench, long token) {
        return bench.registry.allocations().stream()
                .filter(dto -> dto.token == token)
                .findFirst()
                .orElseThrow();
    }

    private static boolean isListed(Bench bench, long token) {
        return bench.registry.allocations().stream().anyMatch(dto -> dto.token == token);
    }

    private static long reserve(MemorySession session, long granules) {
        return session.reserve(granules * G, 1, Ranges.of(0, granules * G), Extents.PIECES);
    }

    // What is recorded

    @Test
    @DisplayName("a fence that has passed is asked once and not kept; one that throws is refused and not kept")
    void passedOrThrowing() {
        try (var bench = new Bench()) {
            var session = bench.bind(new PagedAllocator()).open("a", "kv");
            long token = reserve(session, 2);
            var done = new Point();
            done.passed = true;
            session.usedUntil(token, 0, 2 * G, done);
            assertThatThrownBy(() -> session.usedUntil(token, 0, G, () -> {
                        throw new IllegalStateException("boom");
                    }))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("boom");
            assertThatThrownBy(() -> session.usedUntil(token, 0, G, null)).isInstanceOf(NullPointerException.class);
            assertThat(session.release(token)).isEqualTo(new Complete(2 * G));
            assertThat(done.asked).hasValue(1);
        }
    }

    @Test
    @DisplayName("ranges outside, prefixes, and tokens that are stale or another's are refused; the fence is not asked")
    void refused() {
        try (var bench = new Bench()) {
            var binding = bench.bind(new PagedAllocator());
            var session = binding.open("a", "kv");
            var stranger = binding.open("b", "kv");
            long token = reserve(session, 2);
            long prefix = session.share(token, 0, G);
            long gone = session.allocate(64, 64);
            long empty = session.allocate(0, 1);
            session.release(gone);
            var point = new Point();
            assertThatThrownBy(() -> session.usedUntil(token, G, G + 1, point))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("" + 2 * G);
            for (long[] range : new long[][] {{-1, 1}, {0, -1}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}}) {
                assertThatThrownBy(() -> session.usedUntil(token, range[0], range[1], point))
                        .isInstanceOf(InvalidRequestException.class);
            }
            assertThatThrownBy(() -> session.usedUntil(empty, 0, 1, point)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> session.usedUntil(prefix, 0, G, point))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("prefix");
            assertThatThrownBy(() -> stranger.usedUntil(token, 0, G, point)).isInstanceOf(ForeignTokenException.class);
            assertThatThrownBy(() -> session.usedUntil(gone, 0, 1, point)).isInstanceOf(StaleTokenException.class);
            session.usedUntil(token, 2 * G, 0, point);
            session.usedUntil(empty, 0, 0, point);
            assertThat(session.release(token)).isEqualTo(new Complete(2 * G));
            assertThatThrownBy(() -> session.usedUntil(token, 0, G, point)).isInstanceOf(StaleTokenException.class);
            assertThat(point.asked).hasValue(0);
        }
    }

    @Test
    @DisplayName("what is kept is bounded by what is queued, and adding costs a few questions on average")
    void bounded() {
        try (var bench = new Bench()) {
            var session = bench.bind(new EagerAllocator()).open("a", "kv");
            long token = session.allocate(64, 64);
            var points = new ArrayList<Point>();
            for (int i = 0; i < 10_000; i++) {
                points.add(new Point());
                session.usedUntil(token, 0, 64, points.getLast());
                if (i >= 4) {
                    points.get(i - 4).passed = true;
                }
            }
            assertThat(points.stream().mapToInt(point -> point.asked.get()).sum())
                    .isLessThan(40_000);
            points.forEach(point -> point.passed = true);
            session.release(token);
            assertThat(points.stream().filter(point -> point.asked.get() == 0)).isEmpty();
            // Whoever was asked again at the release was still kept.
            int before = points.stream().mapToInt(point -> point.asked.get()).sum();
            assertThat(before).isLessThan(40_000);

            long crowded = session.allocate(64, 64);
            var stuck = new ArrayList<Point>();
            for (int i = 0; i < 4_096; i++) {
                stuck.add(new Point());
                session.usedUntil(crowded, 0, 64, stuck.getLast());
            }
            assertThat(stuck.stream().mapToInt(point -> point.asked.get()).sum())
                    .as("questions although none has passed")
                    .isLessThan(4 * 4_096);
            stuck.forEach(point -> point.passed = true);
            session.release(crowded);
        }
    }

    // Who waits for what

    @Test
    @DisplayName("D09 a decommit of granules that no work touches waits for nothing; the fences are not even asked")
    void untouched() {
        try (var bench = new Bench()) {
            var session = bench.bind(new PagedAllocator()).open("a", "kv");
            long token = reserve(session, 8);
            long other = reserve(session, 1);
            var point = new Point();
            session.usedUntil(token, 3 * G + 10, G, point);
            int asked = point.asked.get();
            assertThat(session.decommit(token, 0, 3 * G)).isEqualTo(new Complete(3 * G));
            assertThat(session.decommit(token, 5 * G, 3 * G)).isEqualTo(new Complete(3 * G));
            session.commit(token, 0, 8 * G);
            session.privatise(token, 0, 3 * G);
            session.fill(token, 3 * G, G, (byte) 1);
            assertThat(session.release(other)).isEqualTo(new Complete(G));
            assertThatThrownBy(() -> session.decommit(token, 3 * G, 0)).isInstanceOf(InvalidRequestException.class);
            assertThat(point.asked).hasValue(asked);
            point.passed = true;
            assertThat(session.decommit(token, 3 * G, 1)).isEqualTo(new Complete(G));
        }
    }

    @Test
    @DisplayName("D09 a decommit waits for work on its granules, and other operations on the memory go on meanwhile")
    void overlapping() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = reserve(session, 8);
            var decommits = new AtomicInteger();
            allocator.before = method -> {
                if ("decommit".equals(method)) {
                    decommits.incrementAndGet();
                }
            };
            // Other bytes than those that are decommitted, in the same granule.
            session.usedUntil(token, 4 * G, 10, passesAt(20, () -> {
                assertThat(decommits).hasValue(0);
                session.fill(token, 4 * G, G, (byte) 1);
                session.commit(token, 0, G);
                session.decommit(token, 6 * G, G);
                session.usedUntil(token, 0, G, () -> false);
                assertThat(decommits).hasValue(1);
            }));
            assertThat(session.decommit(token, 4 * G + 20, G)).isEqualTo(new Complete(2 * G));
            assertThat(decommits).hasValue(2);
        }
    }

    @Test
    @DisplayName("D09 work that never ends: typed errors with figures after a second, nothing has changed")
    void timesOut() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long creator = reserve(session, 2);
            long prefix = session.share(creator, 0, 2 * G);
            long token = session.reserve(8 * G, 1, Ranges.of(4 * G, G), Extents.PIECES);
            session.attach(token, 0, prefix);
            session.usedUntil(token, 0, 5 * G, () -> false);
            session.usedUntil(token, G, G, () -> false);
            long calls = allocator.calls.get();
            var waiting = new ArrayList<CompletableFuture<?>>();
            for (ThrowingCallable operation : List.<ThrowingCallable>of(
                    () -> session.release(token),
                    () -> session.decommit(token, 4 * G, G),
                    () -> session.detach(token, 0, prefix),
                    () -> session.privatise(token, G, G))) {
                waiting.add(CompletableFuture.runAsync(
                        () -> assertThatThrownBy(operation)
                                .isInstanceOf(InUseException.class)
                                .hasMessageStartingWith("G220")
                                .hasMessageContaining("fence")
                                .hasMessageMatching(".*the oldest recorded \\d+ ms ago.*")
                                .hasMessageContaining("1000 ms")
                                .hasMessageContaining("nothing has changed"),
                        work -> Thread.ofVirtual().start(work)));
            }
            waiting.forEach(CompletableFuture::join);
            assertThatThrownBy(() -> session.release(token)).hasMessageContaining("2 fences");
            assertThat(allocator.calls.get()).as("the allocator was not called").isEqualTo(calls);
            assertThat(session.committedBytes(token)).isEqualTo(3 * G);
            assertThat(find(bench, token).state).isEqualTo(AllocationDTO.LIVE);
            bench.checkLedger(3 * G, 5 * G, 0);
        }
    }

    @Test
    @DisplayName("D09 detach and privatise wait for work on just their range, and retire for none")
    void detachAndPrivatise() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long creator = reserve(session, 2);
            long prefix = session.share(creator, 0, 2 * G);
            long token = session.reserve(8 * G, 1, Ranges.none(), Extents.PIECES);
            session.attach(token, 0, prefix);
            session.attach(token, 4 * G, prefix);
            var before = new ArrayList<String>();
            allocator.before = before::add;
            var never = new Point();
            session.usedUntil(token, 2 * G, 2 * G, never);
            session.usedUntil(creator, 0, 2 * G, never);
            int asked = never.asked.get();
            session.usedUntil(
                    token, 2 * G - 1, 1, passesAt(5, () -> assertThat(before).doesNotContain("unmap")));
            assertThat(session.detach(token, 0, prefix)).isEqualTo(new Complete(2 * G));
            session.usedUntil(
                    token, 5 * G, 1, passesAt(5, () -> assertThat(before).doesNotContain("privatise")));
            session.privatise(token, 5 * G, G);
            assertThat(before).contains("unmap", "privatise");
            assertThat(session.retire(prefix)).isEqualTo(Complete.NOTHING_UNMAPPED);
            assertThat(never.asked).hasValue(asked);
            never.passed = true;
        }
    }

    @Test
    @DisplayName("D09 a release waits for all work on the token, in whatever order it ends")
    void release() {
        try (var bench = new Bench()) {
            for (var allocator : List.of(new EagerAllocator(), new PagedAllocator())) {
                var session = bench.bind(allocator).open("a", "kv");
                long token = session.allocate(4 * G, 64);
                var order = new ArrayList<Integer>();
                session.usedUntil(token, 0, 1, passesAt(30, () -> order.add(1)));
                session.usedUntil(token, 4 * G - 1, 1, passesAt(10, () -> order.add(2)));
                session.usedUntil(token, 0, 4 * G, passesAt(20, () -> order.add(3)));
                assertThat(session.release(token)).isEqualTo(new Complete(4 * G));
                assertThat(order).containsExactly(2, 3, 1);
                assertThat(allocator.liveBlocks()).isZero();
            }
        }
    }

    @Test
    @DisplayName("D09 work that is recorded during the wait is waited for too")
    void addedWhileWaiting() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = session.allocate(64, 64);
            var second = new AtomicBoolean();
            var recorded = new AtomicBoolean();
            // Asked when it is recorded; the next time it has passed, and there is more.
            var asked = new AtomicInteger();
            session.usedUntil(token, 0, 64, () -> {
                if (asked.incrementAndGet() == 2) {
                    session.usedUntil(token, 0, 64, passesAt(5, () -> {
                        assertThat(allocator.liveBlocks()).isEqualTo(1);
                        second.set(true);
                    }));
                    recorded.set(true);
                }
                return asked.get() >= 2;
            });
            assertThat(session.release(token)).isEqualTo(new Complete(64));
            assertThat(recorded).isTrue();
            assertThat(second).isTrue();
        }
    }

    @Test
    @DisplayName("D09 work that is recorded after all has passed, before the memory is taken, sends the release back")
    void addedBeforeTheSeize() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = session.allocate(G, 1);
            var releasing = Thread.currentThread();
            var second = new AtomicBoolean();
            var filling = new CountDownLatch(1);
            allocator.before = method -> {
                if ("fill".equals(method)) {
                    filling.countDown();
                    // It parks only while it waits for this operation to let go of the memory.
                    Bench.await(() -> releasing.getState() == Thread.State.TIMED_WAITING);
                    session.usedUntil(token, 0, 1, passesAt(5, () -> second.set(allocator.liveBlocks() == 1)));
                }
            };
            var fill = new AtomicReference<CompletableFuture<?>>();
            var asked = new AtomicInteger();
            session.usedUntil(token, 0, G, () -> {
                if (asked.incrementAndGet() == 2) {
                    fill.set(CompletableFuture.runAsync(() -> session.fill(token, 0, G, (byte) 1)));
                    try {
                        filling.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                return asked.get() >= 2;
            });
            assertThat(session.release(token)).isEqualTo(new Complete(G));
            fill.get().join();
            assertThat(second).isTrue();
        }
    }

    @Test
    @DisplayName("D09 a fence that throws while it is waited for has not passed")
    void throwsLater() {
        try (var bench = new Bench()) {
            var session = bench.bind(new EagerAllocator()).open("a", "kv");
            long token = session.allocate(64, 64);
            var asked = new AtomicInteger();
            session.usedUntil(token, 0, 64, () -> {
                int time = asked.incrementAndGet();
                if (time > 1 && time < 10) {
                    throw new AssertionError("boom");
                }
                return time >= 10;
            });
            assertThat(session.release(token)).isEqualTo(new Complete(64));
            assertThat(asked).hasValue(10);
        }
    }

    @Test
    @DisplayName("D09 recording races with release: the release waits for the fence, or the token is stale")
    void races() throws Exception {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            var seen = new AtomicBoolean();
            int won = 0;
            for (int round = 0; round < 2_000; round++) {
                long token = session.allocate(64, 64);
                var start = new CyclicBarrier(2);
                var done = new Point();
                allocator.inside = () -> seen.set(done.passed);
                var adding = CompletableFuture.supplyAsync(() -> {
                    try {
                        start.await();
                        session.usedUntil(token, 0, 64, done);
                        return true;
                    } catch (StaleTokenException e) {
                        return false;
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    } finally {
                        done.passed = true;
                    }
                });
                start.await();
                for (int i = 0; i < round % 50; i++) {
                    Thread.onSpinWait();
                }
                assertThat(session.release(token)).isEqualTo(new Complete(64));
                if (adding.join()) {
                    won++;
                    assertThat(seen).as("passed at the release").isTrue();
                }
                allocator.inside = () -> {};
            }
            assertThat(won).isPositive();
            bench.checkLedger(0, 0, 0);
            assertThat(allocator.mistakes()).isEmpty();
        }
    }

    // Where it ends

    /** A way for memory to go whose queued work is done. */
    @FunctionalInterface
    private interface Way {
        void go(Bench bench, MemorySession session, long token);
    }

    @Test
    @DisplayName("the next life of the memory knows nothing of the work on the one before")
    void nextGeneration() {
        List<Way> ways = List.of(
                (bench, session, token) -> session.release(token),
                (bench, session, token) -> session.releaseAfter(token, () -> true)
                        .toCompletableFuture()
                        .join(),
                (bench, session, token) -> session.releaseAfter(token, passesAt(3, () -> {}))
                        .toCompletableFuture()
                        .join(),
                (bench, session, token) -> session.close());
        for (Way way : ways) {
            try (var bench = new Bench()) {
                var binding = bench.bind(new EagerAllocator());
                var session = binding.open("a", "kv");
                long token = session.allocate(64, 64);
                long address = session.address(token);
                var point = new Point();
                session.usedUntil(token, 0, 64, point);
                point.passed = true;
                way.go(bench, session, token);
                bench.checkLedger(0, 0, 0);
                // It would stand in the way if it were still known.
                point.passed = false;
                int asked = point.asked.get();
                var next = binding.open("a", "kv");
                long again = next.allocate(64, 64);
                assertThat(next.address(again)).isEqualTo(address);
                assertThat(next.release(again)).isEqualTo(new Complete(64));
                assertThat(point.asked).hasValue(asked);
            }
        }
    }

    @Test
    @DisplayName("D08 releaseAfter waits for its fence and for all that is recorded, whichever passes last")
    void releaseAfter() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            for (int last = 0; last < 3; last++) {
                long token = session.allocate(64, 64);
                var points = List.of(new Point(), new Point(), new Point());
                session.usedUntil(token, 0, 1, points.get(0));
                session.usedUntil(token, 8, 8, points.get(1));
                var release = session.releaseAfter(token, points.get(2)).toCompletableFuture();
                assertThatThrownBy(() -> session.usedUntil(token, 0, 1, () -> false))
                        .isInstanceOf(StaleTokenException.class);
                assertThat(find(bench, token).reason).contains("3 fences");
                for (int i = 1; i <= 2; i++) {
                    points.get((last + i) % 3).passed = true;
                }
                var asked = points.get(last).asked;
                int now = asked.get();
                Bench.await(() -> asked.get() > now + 2);
                assertThat(release).isNotDone();
                assertThat(allocator.liveBlocks()).isEqualTo(1);
                points.get(last).passed = true;
                assertThat(release.join()).isEqualTo(new Complete(64));
                bench.checkLedger(0, 0, 0);
            }
        }
    }

    @Test
    @DisplayName("D08 two streams, one stuck: what waits for the other settles; the age of what waits is visible")
    void twoStreams() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            var stuck = new Point();
            var good = new Point();
            var waitsForStuck = new ArrayList<Long>();
            var settles = new ArrayList<CompletableFuture<?>>();
            for (int i = 0; i < 10; i++) {
                long one = session.allocate(64, 64);
                session.usedUntil(one, 0, 64, stuck);
                session.releaseAfter(one, good);
                waitsForStuck.add(one);
                long two = session.allocate(64, 64);
                session.usedUntil(two, 0, 64, good);
                settles.add(session.releaseAfter(two, good).toCompletableFuture());
            }
            assertThat(binding.describe().pendingReleases).isEqualTo(20);
            good.passed = true;
            settles.forEach(CompletableFuture::join);
            Bench.await(() -> binding.describe().pendingReleases == 10);
            bench.checkLedger(640, 640, 0);
            assertThat(allocator.liveBlocks()).isEqualTo(10);
            long first = waitsForStuck.getFirst();
            Bench.await(() -> find(bench, first).pendingNanos > 5_000_000);
            assertThat(binding.describe().oldestPendingNanos)
                    .isGreaterThanOrEqualTo(find(bench, waitsForStuck.getLast()).pendingNanos);
            long live = session.allocate(64, 64);
            assertThat(find(bench, live).pendingNanos).isZero();
            session.release(live);
            stuck.passed = true;
            Bench.await(() -> binding.describe().pendingReleases == 0);
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("D08 a session that closes does not wait: memory with queued work is pending, then settles")
    void sessionCloses() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = reserve(session, 4);
            long done = session.allocate(64, 64);
            long free = session.allocate(64, 64);
            var point = new Point();
            var passes = new Point();
            session.usedUntil(token, 0, G, point);
            session.usedUntil(done, 0, 64, passes);
            passes.passed = true;
            session.close();
            assertThat(isListed(bench, done)).as("work is done").isFalse();
            assertThat(isListed(bench, free)).as("never any work").isFalse();
            assertThat(find(bench, token)).satisfies(dto -> {
                assertThat(dto.state).isEqualTo(AllocationDTO.PENDING);
                assertThat(dto.reason).contains("fence");
                assertThat(dto.account).isEqualTo("fake:0/a/kv");
            });
            assertThat(binding.describe().pendingReleases).isEqualTo(1);
            bench.checkLedger(4 * G, 4 * G, 0);
            assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            session.close();
            point.passed = true;
            Bench.await(() -> binding.describe().pendingReleases == 0);
            bench.checkLedger(0, 0, 0);
            assertThat(bench.row("fake:0").reservedBytes).isZero();
            assertThat(bench.registry.allocations()).isEmpty();
            assertThat(allocator.liveBlocks()).isZero();
            assertThat(bench.reports).isEmpty();
        }
    }

    @Test
    @DisplayName("D08 what a closed session left pending and fails to go is set aside: nobody else would try again")
    void pendingOfClosedSessionFails() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(64, 64);
            var point = new Point();
            session.usedUntil(token, 0, 64, point);
            session.close();
            allocator.outcome = given -> new Failed(new DriverFaultException(Kind.INVALID, "stuck"));
            point.passed = true;
            Bench.await(() -> AllocationDTO.QUARANTINED.equals(find(bench, token).state));
            assertThat(find(bench, token).reason).contains("stuck");
            bench.checkLedger(64, 64, 64);
            allocator.outcome = given -> given;
            assertThat(bench.registry.settle(token)).isEqualTo(new Complete(64));
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("D08 a binding that ends waits for queued work up to its bound, and quarantines what never passes")
    void bindingCloses() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = reserve(session, 4);
            session.usedUntil(token, 0, G, passesAt(20, () -> assertThat(allocator.liveBlocks())
                    .isEqualTo(1)));
            assertThat(binding.close(Duration.ofSeconds(60))).isZero();
            bench.checkLedger(0, 0, 0);

            var other = new PagedAllocator();
            var second = bench.bind(other);
            var left = second.open("a", "kv");
            long stuck = reserve(left, 4);
            long free = reserve(left, 2);
            left.usedUntil(stuck, 0, G, () -> false);
            assertThat(second.close(Duration.ofMillis(50))).isEqualTo(4 * G);
            bench.checkLedger(4 * G, 4 * G, 4 * G);
            assertThat(other.liveBlocks()).isEqualTo(1);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> {
                assertThat(dto.token).isEqualTo(stuck);
                assertThat(dto.state).isEqualTo(AllocationDTO.QUARANTINED);
                assertThat(dto.reason).contains("fence");
            });
            assertThatThrownBy(() -> left.release(free)).isInstanceOf(StaleTokenException.class);
        }
    }

    @Test
    @DisplayName("D08 a session that closes while its binding ends leaves nothing pending behind")
    void sessionClosesDuringTheEnd() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(64, 64);
            var asked = new AtomicInteger();
            session.usedUntil(token, 0, 64, () -> {
                if (asked.incrementAndGet() == 2) {
                    elsewhere(() -> binding.close(Duration.ZERO));
                }
                return false;
            });
            session.close();
            assertThat(asked).hasValue(2);
            assertThat(binding.describe().pendingReleases).isZero();
            bench.checkLedger(64, 64, 64);
            assertThat(allocator.liveBlocks()).isEqualTo(1);
        }
    }

    /** Opens a session in a frame of its own, so that nothing keeps it. */
    private static long dropped(Binding binding, Fence fence) {
        var session = binding.open("a", "kv");
        long token = session.allocate(64, 64);
        session.usedUntil(token, 0, 64, fence);
        return token;
    }

    @Test
    @DisplayName("D07 a dropped session's memory is quarantined as ever; an operator's release waits for the work too")
    void sessionIsDropped() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var point = new Point();
            long token = dropped(binding, point);
            Bench.await(() -> {
                System.gc();
                return AllocationDTO.QUARANTINED.equals(find(bench, token).state);
            });
            bench.checkLedger(64, 64, 64);
            assertThatThrownBy(() -> bench.registry.settle(token))
                    .isInstanceOf(InUseException.class)
                    .hasMessageContaining("1 fence");
            assertThat(find(bench, token).state).isEqualTo(AllocationDTO.QUARANTINED);
            bench.checkLedger(64, 64, 64);
            point.passed = true;
            assertThat(bench.registry.settle(token)).isEqualTo(new Complete(64));
            bench.checkLedger(0, 0, 0);
            point.passed = false;
            var session = binding.open("a", "kv");
            long next = session.allocate(64, 64);
            assertThatCode(() -> session.release(next)).doesNotThrowAnyException();
        }
    }

    @Test
    @DisplayName("D01 a release that is quarantined or fails after its work was done keeps no fences")
    void notReleased() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var session = bench.bind(allocator).open("a", "kv");
            long token = session.allocate(64, 64);
            var point = new Point();
            session.usedUntil(token, 0, 64, point);
            point.passed = true;
            var cause = new DriverFaultException(Kind.INVALID, "no");
            allocator.outcome = given -> new Failed(cause);
            assertThat(session.release(token)).isInstanceOf(Failed.class);
            point.passed = false;
            allocator.outcome = given -> new Quarantined(0, 64, cause);
            assertThat(session.release(token)).isInstanceOf(Quarantined.class);
            bench.checkLedger(64, 64, 64);
        }
    }
}
