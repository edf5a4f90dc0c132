package org.granule.workload.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.granule.workload.model.Geometry;
import org.granule.workload.trace.Request;
import org.junit.jupiter.api.Test;

/** Counts that can be checked by hand: a token is 8 bytes, a block 4,096, and so is a granule. */
class DryReplayTest {

    private static final long G = 4096;

    private static ReplayResult run(long retain, int active, long budget, Request... requests) {
        var settings = new ReplaySettings(Geometry.custom(8), retain, 1, active, 0, WriteMode.full);
        return new Replay(new ListTrace(requests), Long.MAX_VALUE, new DryBacking(G, budget), settings, () -> -1)
                .run(progress -> {});
    }

    private static Request request(long index, int input, int output, long... ids) {
        return new Request(index, 0, input, output, ids);
    }

    @Test
    void countsOneAfterTheOther() {
        var result = run(
                Long.MAX_VALUE,
                1,
                Long.MAX_VALUE,
                request(0, 1024, 512, 1, 2),
                request(1, 1536, 512, 1, 2, 3),
                request(2, 600, 0, 1, 9));
        assertEquals(3, result.completed());
        assertEquals(7, result.blocks());
        assertEquals(3, result.blockHits());
        assertEquals(3.0 / 7, result.blockHitRatio());
        assertEquals(3 * G, result.attachedBytes());
        assertEquals(4 * G, result.peakNaiveBytes());
        assertEquals(4 * G, result.peakMappedBytes());
        // Blocks 1 and 2 kept, block 3 and an output granule of the second request.
        assertEquals(4 * G, result.peakOwnedBytes());
        assertEquals(2 * G, result.peakSavedBytes());
        assertEquals(0, result.writtenGranules());
        assertEquals(-1, result.driverCalls());
        assertEquals(LedgerReading.ZERO, result.ledgerAtEnd());
        assertTrue(result.isGood());
    }

    @Test
    void keepsNothingWhenNothingIsRetained() {
        var result = run(0, 1, Long.MAX_VALUE, request(0, 512, 0, 1), request(1, 512, 0, 1));
        assertEquals(0, result.blockHits());
        assertEquals(G, result.peakOwnedBytes());
    }

    @Test
    void sharesAmongActiveRequestsAllTheSame() {
        var result = run(0, 2, Long.MAX_VALUE, request(0, 512, 512, 1), request(1, 512, 512, 1));
        assertEquals(1, result.blockHits());
        assertEquals(4 * G, result.peakNaiveBytes());
        assertEquals(3 * G, result.peakOwnedBytes());
        assertEquals(4 * G, result.peakMappedBytes());
    }

    @Test
    void givesIdlePrefixesUpForRoom() {
        var result = run(Long.MAX_VALUE, 1, 3 * G, request(0, 1024, 0, 1, 2), request(1, 1024, 0, 3, 4));
        assertEquals(2, result.completed());
        assertEquals(0, result.refused());
        assertEquals(3 * G, result.peakOwnedBytes());
    }

    @Test
    void refusesOnlyWhatDoesNotFitAlone() {
        var result = run(
                Long.MAX_VALUE,
                4,
                4 * G,
                request(0, 1024, 512, 1, 2),
                request(1, 5 * 512, 0, 3, 4, 5, 6, 7),
                request(2, 1024, 1024, 8, 9));
        assertEquals(2, result.completed());
        assertEquals(1, result.refused());
        assertEquals(1, result.refusals().size());
        assertTrue(result.isGood(), "a refusal is no failure");
    }

    @Test
    void makesRoomWhenEverybodyWaits() {
        // Each fits alone; together they stop half way, and neither could go on.
        var result = run(0, 2, 4 * G, request(0, 512, 1536, 1), request(1, 512, 1536, 2), request(2, 512, 1536, 3));
        assertEquals(3, result.completed());
        assertEquals(0, result.refused());
        assertTrue(result.preempted() >= 1, "somebody had to make room");
        assertEquals(3, result.blocks(), "a second start is not counted again");
        assertEquals(LedgerReading.ZERO, result.ledgerAtEnd());
    }

    @Test
    void limitsTheRequests() {
        var settings = new ReplaySettings(Geometry.custom(8), 0, 1, 4, 0, WriteMode.full);
        var trace = new ListTrace(request(0, 1, 1), request(1, 1, 1), request(2, 1, 1));
        var result = new Replay(trace, 2, new DryBacking(G, G * 9), settings, () -> -1).run(progress -> {});
        assertEquals(2, result.requests());
        assertEquals(4, result.tokens());
    }
}
