package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.granule.vmm.Rig.G;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.granule.memory.Extents;
import org.granule.vmm.TestLedger.TestAccount;

/** Kept blocks against a list of them, used from several threads so that room lies in several stripes. */
class KeptBlocksTest {

    private static final int STRIPES = 8;
    private static final int PLACES = 16 * STRIPES;
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;

    private final TestLedger ledger = new TestLedger();
    private final TestAccount anna = ledger.account("anna", Long.MAX_VALUE);
    private final TestAccount bert = ledger.account("bert", Long.MAX_VALUE);
    private long nextAddress = 1L << 40;

    /** A block in use, charged to its account. */
    private Reservation block(long span, TestAccount account) {
        account.charge(span, span);
        long address = nextAddress;
        nextAddress += span;
        return new Reservation(address, span, span, G, Extents.WHOLE, true, account);
    }

    /** Threads that take turns; mostly each has a stripe of its own. */
    private static final class Turns implements AutoCloseable {
        private final List<ExecutorService> threads = new ArrayList<>();

        Turns(int count) {
            for (int i = 0; i < count; i++) {
                threads.add(Executors.newSingleThreadExecutor());
            }
        }

        <T> T on(int thread, Supplier<T> call) {
            try {
                return threads.get(thread).submit(call::get).get();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() {
            threads.forEach(ExecutorService::close);
        }
    }

    @Example
    void aBlockAsLargeAsTheBoundIsKept() {
        var kept = new KeptBlocks(4 * GIB, 32);
        var block = block(4 * GIB, anna);
        assertThat(kept.offer(block)).isTrue();
        assertThat(ledger.idle.figures().owned()).isEqualTo(4 * GIB);
        assertThat(kept.offer(block(G, anna))).as("the bound is reached").isFalse();
        assertThat(kept.take(4 * GIB, 1, anna)).isSameAs(block);
        assertThat(kept.putBack(block)).isTrue();
        assertThat(kept.evict()).isSameAs(block);
        assertThat(kept.offer(block(4 * GIB + G, anna))).as("above the bound").isFalse();
        assertThat(kept.accountedBytes()).isEqualTo(4 * GIB);
    }

    @Example
    void roomThatWasSpreadComesTogether() {
        var kept = new KeptBlocks(GIB, STRIPES);
        try (var turns = new Turns(STRIPES)) {
            for (int round = 0; round < 20; round++) {
                List<Reservation> small = new ArrayList<>();
                for (int i = 0; i < STRIPES; i++) {
                    var block = block(GIB / STRIPES, anna);
                    small.add(block);
                    assertThat(turns.on(i, () -> kept.offer(block))).isTrue();
                }
                var large = block(GIB, anna);
                assertThat(kept.offer(large)).as("while others are kept").isFalse();
                for (int i = 0; i < STRIPES; i++) {
                    assertThat(turns.on(i, () -> kept.take(GIB / STRIPES, 1, anna)))
                            .isIn(small);
                }
                assertThat(turns.on(round % STRIPES, () -> kept.offer(large))).isTrue();
                assertThat(kept.accountedBytes()).isEqualTo(GIB);
                assertThat(turns.on(0, () -> kept.take(GIB, 1, anna))).isSameAs(large);
            }
        }
    }

    @Example
    void smallBlocksMayFillTheBoundFromOneThread() {
        var kept = new KeptBlocks(PLACES * MIB, STRIPES);
        for (int i = 0; i < PLACES; i++) {
            assertThat(kept.offer(block(MIB, anna))).isTrue();
        }
        assertThat(kept.offer(block(G, anna))).isFalse();
        for (int i = 0; i < PLACES; i++) {
            assertThat(kept.take(MIB, 1, bert)).isNotNull();
        }
        assertThat(kept.take(MIB, 1, bert)).isNull();
    }

    @Example
    void whereNothingMayBeKeptNothingIs() {
        var kept = new KeptBlocks(0, STRIPES);
        assertThat(kept.offer(block(G, anna))).isFalse();
        assertThat(ledger.idle.figures().owned()).isZero();
    }

    @Example
    void theEngineKeepsABlockAsLargeAsTheBound() {
        var rig = new Rig(Rig.Sizes.BARE.withKept(256 * G));
        rig.releaseCompletely(rig.allocate(256 * G, rig.anna), 256 * G, rig.anna);
        long before = rig.driver.calls();
        rig.releaseCompletely(rig.allocate(256 * G, rig.anna), 256 * G, rig.anna);
        assertThat(rig.driver.calls()).isEqualTo(before);
        rig.checkSpotless();
    }

    @Property(tries = 100, seed = "11")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(min = 1, max = 200) int boundGranules) {
        var random = new Random(seed);
        long bound = boundGranules * G + random.nextInt(2) * G / 2;
        var kept = new KeptBlocks(bound, STRIPES);
        List<Reservation> model = new ArrayList<>();
        try (var turns = new Turns(4)) {
            for (int step = 0; step < 300; step++) {
                int thread = random.nextInt(4);
                long span = (1 + random.nextInt(random.nextInt(4) == 0 ? boundGranules : 3)) * G;
                var account = random.nextBoolean() ? anna : bert;
                switch (random.nextInt(8)) {
                    case 0, 1, 2, 3 -> {
                        var block = block(span, account);
                        boolean fits = span <= bound - bytes(model) && model.size() < PLACES;
                        assertThat(turns.on(thread, () -> kept.offer(block)))
                                .as("%d beside %d of %d", span, bytes(model), bound)
                                .isEqualTo(fits);
                        if (fits) {
                            model.add(block);
                        }
                    }
                    case 4, 5, 6 -> {
                        long alignment = 1L << random.nextInt(15);
                        var taken = turns.on(thread, () -> kept.take(span, alignment, account));
                        if (taken == null) {
                            assertThat(model).noneMatch(block -> block.span == span && block.address % alignment == 0);
                        } else {
                            assertThat(taken.span).isEqualTo(span);
                            assertThat(taken.address % alignment).isZero();
                            assertThat(model.remove(taken)).isTrue();
                            if (random.nextBoolean()) {
                                assertThat(turns.on(random.nextInt(4), () -> kept.putBack(taken)))
                                        .as("its room is still there")
                                        .isTrue();
                                model.add(taken);
                            }
                        }
                    }
                    default -> {
                        var evicted = turns.on(thread, kept::evict);
                        assertThat(evicted == null).isEqualTo(model.isEmpty());
                        model.remove(evicted);
                    }
                }
                assertThat(kept.accountedBytes()).isEqualTo(bound);
            }
        }
    }

    private static long bytes(List<Reservation> blocks) {
        return blocks.stream().mapToLong(block -> block.span).sum();
    }

    @Example
    void theBoundIsNeverPassedByManyThreads() throws Exception {
        int threads = 16;
        long bound = 40 * G;
        var kept = new KeptBlocks(bound, STRIPES);
        List<List<Reservation>> blocks = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            List<Reservation> own = new ArrayList<>();
            for (int k = 0; k < 6; k++) {
                own.add(block((1L << k) * G, k % 2 == 0 ? anna : bert));
            }
            blocks.add(own);
        }
        // Counted after a block is kept and before it is taken, so never more than what is really kept.
        var counted = new AtomicLong();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            var random = new Random(i);
            var own = blocks.get(i);
            tasks.add(() -> {
                for (int step = 0; step < 20_000; step++) {
                    if (random.nextBoolean() && !own.isEmpty()) {
                        var block = own.remove(random.nextInt(own.size()));
                        if (!kept.putBack(block)) {
                            own.add(block);
                            continue;
                        }
                        assertThat(counted.addAndGet(block.span)).isLessThanOrEqualTo(bound);
                    } else {
                        long span = (1L << random.nextInt(6)) * G;
                        counted.addAndGet(-span);
                        var block = kept.take(span, 1, random.nextBoolean() ? anna : bert);
                        if (block == null) {
                            counted.addAndGet(span);
                        } else {
                            own.add(block);
                        }
                    }
                }
                return null;
            });
        }
        try (var pool = Executors.newFixedThreadPool(threads)) {
            for (var result : pool.invokeAll(tasks)) {
                result.get();
            }
        }
        assertThat(kept.accountedBytes()).isEqualTo(bound);
        while (kept.evict() != null) {}
        assertThat(kept.putBack(block(bound, anna)))
                .as("all room comes together again")
                .isTrue();
    }
}
