package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Committed bytes against a bit for each byte. */
class CommittedRangesTest {

    private static final int BYTES = 200;

    @Property(tries = 500, seed = "2")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int longest) {
        var random = new Random(seed);
        var ranges = new CommittedRanges();
        var model = new BitSet(BYTES);
        for (int step = 0; step < 120; step++) {
            int start = random.nextInt(BYTES);
            int end = Math.min(BYTES, start + 1 + random.nextInt(longest));
            if (random.nextBoolean()) {
                ranges.add(start, end);
                model.set(start, end);
            } else {
                ranges.remove(start, end);
                model.clear(start, end);
            }
            assertThat(ranges.count()).as("ranges that touch are joined").isEqualTo(runs(model));
            int from = random.nextInt(BYTES);
            int to = from + 1 + random.nextInt(BYTES - from);
            int set = model.get(from, to).cardinality();
            assertThat(ranges.touches(from, to))
                    .as("[%d, %d) in %s", from, to, model)
                    .isEqualTo(set > 0);
            assertThat(ranges.covers(from, to))
                    .as("[%d, %d) in %s", from, to, model)
                    .isEqualTo(set == to - from);
        }
        ranges.clear();
        assertThat(ranges.count()).isZero();
        assertThat(ranges.touches(0, BYTES)).isFalse();
    }

    private static int runs(BitSet bits) {
        int runs = 0;
        for (int start = bits.nextSetBit(0); start >= 0; start = bits.nextSetBit(bits.nextClearBit(start))) {
            runs++;
        }
        return runs;
    }

    @Example
    void growingAtTheEndStaysOneRange() {
        var ranges = new CommittedRanges();
        for (int step = 0; step < 10_000; step++) {
            ranges.add(step * 16L, (step + 1) * 16L);
        }
        assertThat(ranges.count()).isEqualTo(1);
        assertThat(ranges.covers(0, 160_000)).isTrue();
        assertThat(ranges.covers(0, 160_001)).isFalse();
    }
}
