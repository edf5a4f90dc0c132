package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Mappings by granule against a sorted map of their starts. */
class MappingTableTest {

    @Property(tries = 100, seed = "3")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(min = 1, max = 3000) int granules) {
        var random = new Random(seed);
        var table = new MappingTable(granules);
        var model = new TreeMap<Long, Mapping>();
        for (int step = 0; step < 200; step++) {
            long first = random.nextInt(granules);
            long count = 1 + random.nextInt((int) Math.min(700, granules - first));
            var present = touching(model, first, first + count);
            if (present == null) {
                var mapping = new Mapping(null, first, count, null, false);
                table.put(mapping);
                model.put(first, mapping);
            } else if (random.nextBoolean()) {
                table.remove(present);
                model.remove(present.first());
            }
            long from = random.nextInt(granules);
            long to = from + 1 + random.nextInt((int) (granules - from));
            assertThat(table.next(from, to)).isSameAs(touching(model, from, to));
            assertThat(table.get(from)).isSameAs(touching(model, from, from + 1));
        }
    }

    private static Mapping touching(TreeMap<Long, Mapping> model, long from, long to) {
        var below = model.floorEntry(from);
        if (below != null && below.getValue().end() > from) {
            return below.getValue();
        }
        var next = model.ceilingEntry(from);
        return next != null && next.getKey() < to ? next.getValue() : null;
    }

    @Example
    void anEmptyRangeHasNoMapping() {
        assertThat(new MappingTable(1 << 20).next(0, 1 << 20)).isNull();
    }
}
