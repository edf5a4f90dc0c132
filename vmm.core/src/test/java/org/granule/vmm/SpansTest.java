package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Free addresses against a bit for each unit. */
class SpansTest {

    private static final long BASE = 0x7000_0000_0000L;
    private static final int UNITS = 256;

    private record Taken(int start, int length) {}

    @Property(tries = 300, seed = "1")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(min = 1, max = 32) int largest) {
        var random = new Random(seed);
        var spans = new Spans(BASE, UNITS);
        var free = new BitSet(UNITS);
        free.set(0, UNITS);
        List<Taken> taken = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            if (random.nextInt(5) < 3) {
                int length = 1 + random.nextInt(largest);
                int alignment = 1 << random.nextInt(6);
                long start = spans.take(length, alignment);
                if (start < 0) {
                    assertThat(fits(free, length, alignment))
                            .as("room for %d at %d", length, alignment)
                            .isFalse();
                    continue;
                }
                int unit = (int) (start - BASE);
                assertThat(start % alignment).isZero();
                assertThat(free.get(unit, unit + length).cardinality())
                        .as("only free addresses")
                        .isEqualTo(length);
                free.clear(unit, unit + length);
                taken.add(new Taken(unit, length));
            } else if (!taken.isEmpty()) {
                var back = taken.remove(random.nextInt(taken.size()));
                spans.give(BASE + back.start, back.length);
                free.set(back.start, back.start + back.length);
            }
            assertThat(spans.freeBytes()).isEqualTo(free.cardinality());
            assertThat(spans.count()).as("neighbours are joined").isEqualTo(runs(free));
        }
        taken.forEach(back -> spans.give(BASE + back.start, back.length));
        assertThat(spans.count()).isEqualTo(1);
        assertThat(spans.freeBytes()).isEqualTo(UNITS);
    }

    private static boolean fits(BitSet free, int length, int alignment) {
        for (int start = 0; start + length <= UNITS; start++) {
            if ((BASE + start) % alignment == 0
                    && free.get(start, start + length).cardinality() == length) {
                return true;
            }
        }
        return false;
    }

    private static int runs(BitSet bits) {
        int runs = 0;
        for (int start = bits.nextSetBit(0); start >= 0; start = bits.nextSetBit(bits.nextClearBit(start))) {
            runs++;
        }
        return runs;
    }

    @Example
    void aRangeCanComeBackInParts() {
        var spans = new Spans(BASE, 10);
        long start = spans.take(10, 1);
        spans.give(start + 4, 2);
        spans.give(start, 4);
        spans.give(start + 6, 4);
        assertThat(spans.count()).isEqualTo(1);
    }

    @Example
    void whatIsFreeCannotComeBack() {
        var spans = new Spans(BASE, 10);
        long start = spans.take(4, 1);
        spans.give(start, 4);
        assertThatThrownBy(() -> spans.give(start, 4)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> spans.give(start + 9, 1)).isInstanceOf(IllegalStateException.class);
        assertThat(spans.freeBytes()).isEqualTo(10);
    }

    @Example
    void theSmallestSpanThatFitsIsCut() {
        var spans = new Spans(BASE, 100);
        long first = spans.take(10, 1);
        spans.take(1, 1);
        long second = spans.take(5, 1);
        spans.take(1, 1);
        spans.give(first, 10);
        spans.give(second, 5);
        assertThat(spans.take(5, 1)).isEqualTo(second);
        assertThat(spans.take(6, 1)).isEqualTo(first);
    }
}
