package org.granule.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Sets of bytes against a bit for each byte. */
class RangesTest {

    private static final int BYTES = 400;

    @Property(tries = 500, seed = "21")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(max = 20) int count) {
        var random = new Random(seed);
        var ranges = Ranges.none();
        var model = new BitSet(BYTES);
        for (int i = 0; i < count; i++) {
            int offset = random.nextInt(BYTES);
            int length = random.nextInt(Math.min(60, BYTES - offset));
            ranges = ranges.and(offset, length);
            model.set(offset, offset + length);
        }
        int at = 0;
        for (int i = 0; i < ranges.count(); i++) {
            int start = model.nextSetBit(at);
            assertThat(ranges.offset(i)).isEqualTo(start);
            at = model.nextClearBit(start);
            assertThat(ranges.length(i)).isEqualTo(at - start);
        }
        assertThat(model.nextSetBit(at)).as("no range is missing").isEqualTo(-1);
        assertThat(ranges.end()).isEqualTo(model.length());
        for (int granule = 1; granule <= 1024; granule *= 2) {
            var touched = new BitSet();
            int size = granule;
            model.stream().forEach(bit -> touched.set(bit / size));
            assertThat(ranges.granuleUnion(granule)).isEqualTo((long) touched.cardinality() * granule);
        }
        var again = Ranges.none();
        for (int i = ranges.count() - 1; i >= 0; i--) {
            again = again.and(ranges.offset(i), ranges.length(i));
        }
        assertThat(again).isEqualTo(ranges).hasSameHashCodeAs(ranges).hasToString(ranges.toString());
    }

    @Example
    void theEmptySet() {
        assertThat(Ranges.none().count()).isZero();
        assertThat(Ranges.none().end()).isZero();
        assertThat(Ranges.none().granuleUnion(4096)).isZero();
        assertThat(Ranges.of(7, 0)).isEqualTo(Ranges.none());
        assertThat(Ranges.none()).hasToString("{}");
        assertThat(Ranges.of(1, 2).and(5, 1)).hasToString("{[1, 3), [5, 6)}");
    }

    @Example
    void whatOverflowsIsRefused() {
        long[][] wrong = {{-1, 1}, {1, -1}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}, {Long.MIN_VALUE, Long.MIN_VALUE}};
        for (long[] range : wrong) {
            assertThatThrownBy(() -> Ranges.of(range[0], range[1])).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> Ranges.of(0, 9).and(range[0], range[1]))
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThat(Ranges.of(0, Long.MAX_VALUE).end()).isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> Ranges.of(0, Long.MAX_VALUE).granuleUnion(4096))
                .isInstanceOf(InvalidRequestException.class);
        assertThat(Ranges.of(0, Long.MAX_VALUE).granuleUnion(1)).isEqualTo(Long.MAX_VALUE);
        for (long granule : new long[] {0, -1, 3, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> Ranges.none().granuleUnion(granule))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("power of two");
        }
    }
}
