package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.provider.MemorySession;

/** Random ranges and fences against a plain list: what is taken away has waited for the work on it and no other. */
class QueuedWorkModelTest {

    private static final long G = PagedAllocator.GRANULE;
    private static final int GRANULES = 12;

    /** Queued work. While somebody waits it passes when it was asked a few times. */
    private static final class Work implements Fence {
        final long first;
        final long last;
        final Model model;
        int questions;
        boolean passed;
        /** Whether it was asked since the present operation began. */
        boolean asked;

        Work(Model model, long offset, long length, int questions) {
            this.model = model;
            this.first = offset / G;
            this.last = (offset + length - 1) / G;
            this.questions = questions;
        }

        boolean touches(long firstGranule, long lastGranule) {
            return first <= lastGranule && firstGranule <= last;
        }

        @Override
        public boolean passed() {
            asked = true;
            passed |= model.waiting && --questions <= 0;
            return passed;
        }
    }

    private static final class Model {
        final Random random;
        final Bench bench = new Bench();
        final PagedAllocator allocator = new PagedAllocator();
        final MemorySession session = bench.bind(allocator).open("a", "kv");
        final List<Work> queued = new ArrayList<>();
        boolean[] committed = new boolean[GRANULES];
        long token;
        boolean waiting;
        int calls;

        Model(long seed) {
            random = new Random(seed);
            reserve();
        }

        void reserve() {
            token = session.reserve(
                    GRANULES * G, 1, Ranges.none(), random.nextBoolean() ? Extents.PIECES : Extents.WHOLE);
            queued.clear();
            committed = new boolean[GRANULES];
        }

        void step() {
            long offset = random.nextLong(GRANULES * G);
            long length = 1 + random.nextLong(Math.min(GRANULES * G - offset, 1 + random.nextLong(4 * G)));
            long first = offset / G;
            long last = (offset + length - 1) / G;
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> {
                    session.commit(token, offset, length);
                    for (long at = first; at <= last; at++) {
                        committed[(int) at] = true;
                    }
                }
                case 3, 4, 5, 6 -> {
                    var work = new Work(this, offset, length, random.nextInt(4));
                    session.usedUntil(token, offset, length, work);
                    queued.add(work);
                }
                case 7 -> queued.stream().filter(work -> random.nextInt(3) == 0).forEach(work -> work.passed = true);
                case 8, 9, 10 -> {
                    long left = 0;
                    for (long at = first; at <= last; at++) {
                        left += committed[(int) at] ? G : 0;
                        committed[(int) at] = false;
                    }
                    assertThat(taken(first, last, "decommit", () -> session.decommit(token, offset, length)))
                            .isEqualTo(new Complete(left));
                }
                default -> {
                    assertThat(taken(0, GRANULES - 1, "release", () -> session.release(token)))
                            .isInstanceOf(Complete.class);
                    reserve();
                }
            }
            long mapped = 0;
            for (boolean is : committed) {
                mapped += is ? G : 0;
            }
            bench.checkLedger(mapped, mapped, 0);
        }

        /** Takes granules away, and asserts what has happened when the allocator is called. */
        private Object taken(long first, long last, String method, Supplier<?> operation) {
            queued.forEach(work -> work.asked = false);
            int before = calls;
            allocator.before = called -> {
                if (called.equals(method)) {
                    calls++;
                    for (Work work : queued) {
                        assertThat(work.passed || !work.touches(first, last))
                                .as("done or elsewhere: granules %d to %d", work.first, work.last)
                                .isTrue();
                        assertThat(work.asked && !work.touches(first, last))
                                .as("asked although it is elsewhere: granules %d to %d", work.first, work.last)
                                .isFalse();
                    }
                }
            };
            waiting = true;
            try {
                return operation.get();
            } finally {
                waiting = false;
                allocator.before = called -> {};
                assertThat(calls).isEqualTo(before + 1);
            }
        }
    }

    @Property(tries = 200, seed = "41")
    @Label("D09 random work on random ranges: each change of a mapping waits for the work on its granules alone")
    void work(@ForAll long seed) {
        var model = new Model(seed);
        try (var bench = model.bench) {
            for (int i = 0; i < 120; i++) {
                model.step();
            }
            model.queued.forEach(work -> work.passed = true);
            model.session.close();
            bench.checkLedger(0, 0, 0);
        }
    }
}
