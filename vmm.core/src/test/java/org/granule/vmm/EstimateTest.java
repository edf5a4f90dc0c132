package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.granule.vmm.Rig.G;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.vmm.Rig.Sizes;

/** What an engine says a commit will cost. */
class EstimateTest {

    @Property(tries = 200, seed = "4")
    @Label("B03 the estimate is what commit charges where nothing was committed, and never below it")
    void estimate(@ForAll long seed, @ForAll Extents extents) {
        var random = new Random(seed);
        var rig = new Rig(Sizes.POOLING);
        var ranges = Ranges.none();
        for (int i = random.nextInt(12); i >= 0; i--) {
            ranges = ranges.and(random.nextInt((int) (60 * G)), random.nextInt((int) (3 * G)));
        }
        long estimate = rig.backing.estimate(ranges);
        long fresh = rig.backing.reserve(64 * G, 1, ranges, extents, rig.anna);
        assertThat(rig.anna.figures().owned()).isEqualTo(estimate);
        assertThat(rig.backing.committedBytes(fresh)).isEqualTo(estimate);
        rig.check();
        long used = rig.backing.reserve(64 * G, 1, Ranges.of(7 * G + 3, 9 * G), extents, rig.bert);
        long before = rig.bert.figures().owned();
        for (int i = 0; i < ranges.count(); i++) {
            rig.backing.commit(used, ranges.offset(i), ranges.length(i));
        }
        assertThat(rig.bert.figures().owned() - before).isLessThanOrEqualTo(estimate);
        rig.check();
        rig.releaseCompletely(fresh, 64 * G, rig.anna);
        rig.releaseCompletely(used, 64 * G, rig.bert);
        rig.checkSpotless();
    }
}
