package org.granule.workload.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.granule.memory.ClosedException;
import org.granule.memory.DriverFaultException;
import org.granule.workload.model.Geometry;
import org.granule.workload.trace.GeneratedTrace;
import org.granule.workload.trace.Request;
import org.granule.workload.trace.TraceException;
import org.granule.workload.trace.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ReplayTest {

    private static final long G = FakeSession.GRANULE;

    private static Replay replay(TraceReader trace, FakeSession session, ReplaySettings settings) {
        return new Replay(
                trace, Long.MAX_VALUE, new SessionBacking(session, session::ledger), settings, new Calls()::next);
    }

    private static ReplaySettings settings(long bytesPerToken, long retain, int threads, double speed) {
        return new ReplaySettings(Geometry.custom(bytesPerToken), retain, threads, 16, speed, WriteMode.full);
    }

    /** Counts up by ten at each look. */
    private static final class Calls {
        private long value;

        long next() {
            return value += 10;
        }
    }

    /** Bytes a token that make a block one granule, one and a half, and a quarter of one; tight and wide budgets. */
    @ParameterizedTest
    @CsvSource({
        "8, 4, 1, 400, full",
        "8, 1000000, 4, 400, sparse",
        "12, 64, 3, 400, full",
        "2, 16, 2, 400, full",
        "16, 1000000, 4, 80, full",
        "8, 0, 2, 40, sparse",
    })
    void servesAGeneratedTraceAndLeavesNothing(
            long bytesPerToken, long retain, int threads, long budgetGranules, WriteMode write) {
        var session = new FakeSession(budgetGranules * G);
        var settings = new ReplaySettings(Geometry.custom(bytesPerToken), retain, threads, 16, 0, write);
        var result = replay(new GeneratedTrace(3, 400), session, settings).run(progress -> {});
        assertEquals("[]", result.problems().toString());
        assertEquals(400, result.requests());
        assertEquals(400, result.completed() + result.refused());
        assertTrue(result.completed() > 390, result.refusals()::toString);
        assertEquals(0, result.wrongBytes());
        assertEquals(LedgerReading.ZERO, result.ledgerAtEnd());
        assertTrue(result.isGood());
        assertTrue(result.peakOwnedBytes() <= budgetGranules * G);
        assertTrue(result.verifiedGranules() >= result.writtenGranules(), "every granule is verified before it goes");
        // How far the workers overlap with each other is up to the machine; one worker alone has several places.
        assertTrue(session.mostReservations > 1, "lifetimes overlap");
        assertEquals(10, result.driverCalls());
        var last = result.samples().getLast();
        assertEquals(0, last.ownedBytes());
        assertEquals(0, last.inUseBytes());
        assertEquals(0, last.mappedBytes());
        assertEquals(0, last.naiveBytes());
        assertEquals(0, last.usefulBytes());
        assertEquals(0, last.savedBytes());
    }

    @Test
    void agreesWithADryRun() {
        var settings = settings(8, 32, 1, 0);
        var wet = replay(new GeneratedTrace(4, 300), new FakeSession(300 * G), settings)
                .run(progress -> {});
        var dry = new Replay(new GeneratedTrace(4, 300), Long.MAX_VALUE, new DryBacking(G, 300 * G), settings, () -> -1)
                .run(progress -> {});
        assertEquals(dry.blockHits(), wet.blockHits());
        assertEquals(dry.peakOwnedBytes(), wet.peakOwnedBytes());
        assertEquals(dry.peakNaiveBytes(), wet.peakNaiveBytes());
        assertEquals(dry.attachedBytes(), wet.attachedBytes());
    }

    @Test
    void reportsAWrongByteOfARequestWithAddressAndOwner() {
        var session = new FakeSession(100 * G);
        session.corruptWrite = 2;
        var trace = new ListTrace(new Request(0, 0, 700, 10, Request.NO_BLOCKS));
        var result = replay(trace, session, settings(8, 4, 1, 0)).run(progress -> {});
        assertEquals(1, result.wrongBytes());
        assertEquals(1, result.failed());
        assertEquals(0, result.completed());
        assertFalse(result.isGood());
        long address = (101L << 32) + G + 77;
        var problem = result.problems().getFirst();
        assertTrue(
                problem.startsWith("wrong byte at address 0x" + Long.toHexString(address) + ", owner request 0: 0x"),
                problem);
        assertEquals(LedgerReading.ZERO, result.ledgerAtEnd());
    }

    @Test
    void reportsAWrongByteOfABlockToItsSharersAndAtItsEnd() {
        var session = new FakeSession(100 * G);
        session.corruptWrite = 1;
        var trace =
                new ListTrace(new Request(0, 0, 512, 0, new long[] {42}), new Request(1, 0, 512, 0, new long[] {42}));
        var result = replay(trace, session, settings(8, 4, 1, 0)).run(progress -> {});
        assertEquals(2, result.wrongBytes());
        assertEquals(1, result.completed(), "the one that only wrote it");
        assertEquals(1, result.failed(), "the one that read it");
        assertTrue(result.problems().get(0).contains("owner block 42 (attached by request 1)"));
        assertTrue(result.problems().get(1).contains("owner block 42 (at its end)"));
    }

    @Test
    void aFaultEndsOneRequestOnly() {
        var session = new FakeSession(1000 * G);
        session.failCommit = 3;
        session.failure = new DriverFaultException(DriverFaultException.Kind.INVALID, "the device refused");
        var result = replay(new GeneratedTrace(5, 50), session, settings(8, 64, 2, 0))
                .run(progress -> {});
        assertEquals(1, result.failed());
        assertEquals(49, result.completed());
        assertEquals(LedgerReading.ZERO, result.ledgerAtEnd());
        assertTrue(result.problems().getFirst().contains("the device refused"));
    }

    @Test
    void aLostProviderEndsTheRun() {
        var session = new FakeSession(1000 * G);
        session.failCommit = 3;
        session.failure = new ClosedException("the provider has ended");
        var result = replay(new GeneratedTrace(5, 5000), session, settings(8, 64, 2, 0))
                .run(progress -> {});
        assertEquals(1, result.failed());
        assertTrue(result.requests() < 5000);
        assertEquals(result.requests(), result.completed() + result.failed() + result.stopped());
    }

    @Test
    void anInterruptStopsCleanly() throws InterruptedException {
        var session = new FakeSession(1000 * G);
        // In trace time this takes minutes.
        var replay = replay(new GeneratedTrace(6, 2000), session, settings(8, 64, 2, 1));
        var result = new ReplayResult[1];
        var thread = Thread.ofPlatform().start(() -> result[0] = replay.run(progress -> {}));
        thread.join(Duration.ofMillis(1500));
        thread.interrupt();
        assertTrue(thread.join(Duration.ofSeconds(10)));
        assertTrue(result[0].interrupted());
        assertTrue(result[0].stopped() > 0);
        assertEquals(LedgerReading.ZERO, result[0].ledgerAtEnd());
        assertTrue(result[0].isGood());
    }

    @Test
    void keepsToTraceTime() {
        var trace = new ListTrace(
                new Request(0, 0, 80, 4, Request.NO_BLOCKS), new Request(1, 500_000_000, 80, 4, Request.NO_BLOCKS));
        var result =
                replay(trace, new FakeSession(100 * G), settings(8, 4, 1, 2)).run(progress -> {});
        assertEquals(2, result.completed());
        // The second one arrives at 250 ms and takes 5 ms for its prompt and 50 ms for its output.
        assertTrue(result.wallSeconds() > 0.3 && result.wallSeconds() < 5, result.wallSeconds() + " s");
    }

    @Test
    void aBrokenTraceStopsTheRunAndLeavesNothing() {
        var session = new FakeSession(1000 * G);
        var good = new GeneratedTrace(7, 100);
        var trace = new BreakingTrace(good);
        var replay = replay(trace, session, settings(8, 64, 3, 0));
        assertThrows(TraceException.class, () -> replay.run(progress -> {}));
        assertEquals(LedgerReading.ZERO, session.ledger());
    }

    /** Breaks in the middle. */
    private record BreakingTrace(GeneratedTrace good) implements TraceReader {
        @Override
        public boolean hasNext() {
            return true;
        }

        @Override
        public Request next() {
            if (!good.hasNext()) {
                throw new TraceException("file:101: nonsense");
            }
            return good.next();
        }

        @Override
        public String name() {
            return "breaking";
        }

        @Override
        public String format() {
            return "list";
        }

        @Override
        public long badLines() {
            return 0;
        }

        @Override
        public void close() {
            good.close();
        }
    }
}
