package org.granule.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Whether sharing is worth it. */
class PrefixLayoutTest {

    @Property(tries = 1000, seed = "22")
    @Label("C08 only whole granules are shared, the edges stay private, and the answer says why")
    void wholeGranules(
            @ForAll @IntRange(max = 500) int bytes,
            @ForAll @IntRange(max = 300) int offset,
            @ForAll @IntRange(max = 7) int shift) {
        int granule = 1 << shift;
        var layout = new PrefixLayout(bytes, offset, granule);
        int whole = 0;
        for (int start = 0; start < offset + bytes; start += granule) {
            whole += start >= offset && start + granule <= offset + bytes ? 1 : 0;
        }
        assertThat(layout.sharedBytes()).isEqualTo((long) whole * granule);
        assertThat(layout.privateBytes()).isEqualTo(bytes - layout.sharedBytes());
        assertThat(layout.isWorthSharing()).isEqualTo(whole > 0);
        assertThat(layout.explain())
                .contains(
                        String.valueOf(bytes), String.valueOf(granule), whole > 0 ? "owned once" : "no whole granule");
    }

    @Example
    @Label("C08 figures out of range are refused")
    void outOfRange() {
        long[][] wrong = {{-1, 0, 1}, {0, -1, 1}, {1, Long.MAX_VALUE, 1}, {1, 0, 0}, {1, 0, 3}, {1, 0, -4}};
        for (long[] figures : wrong) {
            assertThatThrownBy(() -> new PrefixLayout(figures[0], figures[1], figures[2]))
                    .isInstanceOf(InvalidRequestException.class);
        }
        assertThat(new PrefixLayout(Long.MAX_VALUE, 0, 1).sharedBytes()).isEqualTo(Long.MAX_VALUE);
        assertThat(new PrefixLayout(0, Long.MAX_VALUE, 1L << 62).isWorthSharing())
                .isFalse();
    }
}
