package org.granule.workload.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.granule.workload.trace.Request;
import org.junit.jupiter.api.Test;

class ContextLayoutTest {

    private static final Request REQUEST = new Request(5, 0, 1200, 100, new long[] {70, 71, 72});

    @Test
    void aBlockIsExactlyItsGranulesWhenItIsAMultiple() {
        // 512 tokens of 16 bytes are 8,192: two granules.
        var layout = new ContextLayout(REQUEST, 16, 4096);
        assertEquals(8192, layout.sharedBytes(0));
        assertEquals(8192, layout.sharedOffset(1));
        assertEquals(0, layout.sharedBytes(2), "176 tokens fill no granule");
        assertEquals(6 * 4096, layout.reservedBytes(), "1,300 tokens of 16 bytes are 20,800");
        assertEquals(5, layout.granules(1200));
    }

    @Test
    void onlyWholeGranulesInsideAreSharedWhenItIsNot() {
        // 512 tokens of 12 bytes are 6,144: one and a half granules.
        var layout = new ContextLayout(REQUEST, 12, 4096);
        assertEquals(4096, layout.sharedBytes(0));
        assertEquals(0, layout.sharedOffset(0));
        assertEquals(4096, layout.sharedBytes(1));
        assertEquals(8192, layout.sharedOffset(1));
    }

    @Test
    void aGranuleLargerThanABlockIsNeverShared() {
        var layout = new ContextLayout(REQUEST, 1, 4096);
        assertEquals(0, layout.sharedBytes(0));
        assertEquals(4096, layout.reservedBytes());
    }

    @Test
    void everySharerDerivesTheSameSeedAndNobodyElse() {
        var other = new Request(9, 0, 1500, 0, new long[] {70, 99, 98});
        var mine = new ContextLayout(REQUEST, 12, 4096);
        var theirs = new ContextLayout(other, 12, 4096);
        assertEquals(Pattern.ofBlock(70, 0), mine.seed(0));
        assertEquals(mine.seed(0), theirs.seed(0));
        assertEquals(Pattern.ofRequest(5, 1), mine.seed(1), "it straddles two blocks");
        assertNotEquals(mine.seed(1), theirs.seed(1));
        assertEquals(Pattern.ofBlock(71, 0), mine.seed(2));
        assertNotEquals(mine.seed(2), theirs.seed(2));
        assertEquals(Pattern.ofRequest(5, 3), mine.seed(3), "output");
    }
}
