package org.granule.workload.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class GeneratedTraceTest {

    private static List<Request> requests(long seed, int count) {
        var requests = new ArrayList<Request>();
        try (var trace = new GeneratedTrace(seed, count)) {
            trace.forEachRemaining(requests::add);
        }
        return requests;
    }

    @Test
    void isTheSameForTheSameSeed() {
        var one = requests(7, 500);
        var two = requests(7, 500);
        assertEquals(500, one.size());
        for (int i = 0; i < one.size(); i++) {
            assertEquals(one.get(i).arrivalNanos(), two.get(i).arrivalNanos());
            assertEquals(one.get(i).inputTokens(), two.get(i).inputTokens());
            assertEquals(one.get(i).outputTokens(), two.get(i).outputTokens());
            assertArrayEquals(one.get(i).blockIds(), two.get(i).blockIds());
        }
        assertNotEquals(one.get(0).inputTokens(), requests(8, 1).get(0).inputTokens());
    }

    @Test
    void comesInOrderAndSharesOnlyPrefixes() {
        var seen = new HashSet<Long>();
        long blocks = 0;
        long hits = 0;
        long last = 0;
        for (var request : requests(GeneratedTrace.DEFAULT_SEED, GeneratedTrace.DEFAULT_REQUESTS)) {
            assertTrue(request.arrivalNanos() >= last, "arrivals rise");
            last = request.arrivalNanos();
            assertEquals(Request.blocksOf(request.inputTokens()), request.blockIds().length);
            boolean prefix = true;
            for (long id : request.blockIds()) {
                boolean known = seen.contains(id);
                assertTrue(prefix || !known, "a known block after an unknown one");
                prefix = known;
                hits += known ? 1 : 0;
                blocks++;
            }
            for (long id : request.blockIds()) {
                seen.add(id);
            }
        }
        assertTrue(hits > blocks / 3 && hits < blocks * 9 / 10, hits + " hits of " + blocks);
    }
}
