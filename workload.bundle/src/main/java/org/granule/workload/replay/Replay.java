package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.granule.memory.MemoryException;
import org.granule.workload.trace.TraceReader;

/**
 * Serves the requests of a trace from a backing, all of it checked. One run for each object.
 */
public final class Replay {

    private static final long PROGRESS_NANOS = 1_000_000_000L;
    private static final double NANOS = 1e9;

    private final TraceReader trace;
    private final Backing backing;
    private final ReplaySettings settings;
    private final LongSupplier driverCalls;
    private final Books books = new Books();
    private final PrefixCache cache;
    private final Admission admission;
    private final Samples samples = new Samples();
    private volatile boolean stopped;
    private long startNanos;

    /**
     * Prepares a run.
     *
     * @param trace what to serve; closed by the caller
     * @param limit requests at most
     * @param backing the memory; closed at the end of the run
     * @param settings how
     * @param driverCalls a counter of the driver's calls, negative when there is none
     */
    public Replay(TraceReader trace, long limit, Backing backing, ReplaySettings settings, LongSupplier driverCalls) {
        this.trace = trace;
        this.backing = backing;
        this.settings = settings;
        this.driverCalls = driverCalls;
        this.cache = new PrefixCache(settings.retain(), books.inUseBytes);
        this.admission = new Admission(trace, limit, settings.active(), new Pace(settings.speed()));
    }

    /** Ends the run early: active requests give everything back, and what was counted so far is the result. */
    public void stop() {
        stopped = true;
        admission.stop();
    }

    /**
     * Runs to the end of the trace. An interrupt stops it like {@link #stop()}.
     *
     * @param progress told about once a second, on the calling thread
     * @throws org.granule.workload.trace.TraceException when the trace cannot be read to its end; everything
     *     was given back
     */
    public ReplayResult run(Consumer<Progress> progress) {
        long callsBefore = driverCalls.getAsLong();
        startNanos = System.nanoTime();
        samples.add(sample());
        var workers = new ArrayList<Worker>();
        var threads = new ArrayList<Thread>();
        int places = (settings.active() + settings.threads() - 1) / settings.threads();
        for (int i = 0; i < settings.threads(); i++) {
            var worker = new Worker(admission, tools(), places, startNanos);
            workers.add(worker);
            threads.add(Thread.ofPlatform().daemon().name("granule-replay-" + i).start(worker));
        }
        watch(threads, progress);
        var latencies = new Latencies();
        workers.forEach(worker -> latencies.add(worker.latencies()));
        latencies.add(retireAll());
        samples.add(sample());
        close();
        double wallSeconds = seconds();
        workers.forEach(Replay::rethrow);
        return result(latencies, callsBefore, wallSeconds);
    }

    private Tools tools() {
        var memory = new TimedMemory(backing);
        var data = new GranuleData(backing, settings.write() == WriteMode.sparse);
        var retirement = new Retirement(cache, memory, data, books, admission::freed);
        return new Tools(
                memory,
                data,
                cache,
                retirement,
                books,
                new Pace(settings.speed()),
                settings.geometry().bytesPerToken(),
                lost -> admission.stop());
    }

    private void watch(List<Thread> threads, Consumer<Progress> progress) {
        long nextProgress = PROGRESS_NANOS;
        for (var thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join(samples.intervalMillis());
                } catch (InterruptedException e) {
                    stop();
                }
                samples.add(sample());
                long now = System.nanoTime() - startNanos;
                if (now >= nextProgress) {
                    nextProgress = now + PROGRESS_NANOS;
                    progress.accept(progress());
                }
            }
        }
    }

    private Latencies retireAll() {
        var tools = tools();
        tools.retirement().retireAll();
        return tools.memory().latencies();
    }

    private void close() {
        try {
            backing.close();
        } catch (MemoryException e) {
            books.problems.add("the session was not closed: " + e.getMessage());
        }
    }

    private static void rethrow(Worker worker) {
        switch (worker.failure()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    private double seconds() {
        return (System.nanoTime() - startNanos) / NANOS;
    }

    private Progress progress() {
        return new Progress(
                seconds(),
                admission.taken(),
                books.completed.sum(),
                books.active.now(),
                admission.waiting(),
                books.ownedBytes.now(),
                books.blocks.sum(),
                books.blockHits.sum());
    }

    private Sample sample() {
        var ledger = backing.ledger();
        books.ownedBytes.saw(ledger.ownedBytes());
        books.mappedBytes.saw(ledger.mappedBytes());
        return new Sample(
                seconds(),
                books.ownedBytes.now(),
                books.inUseBytes.now(),
                books.mappedBytes.now(),
                books.naiveBytes.now(),
                books.usefulBytes.now(),
                books.savedBytes.now(),
                ledger.ownedBytes(),
                books.active.now(),
                admission.waiting(),
                cache.idleBlocks(),
                books.completed.sum(),
                books.blocks.sum(),
                books.blockHits.sum());
    }

    private ReplayResult result(Latencies latencies, long callsBefore, double wallSeconds) {
        long calls = driverCalls.getAsLong();
        long taken = admission.taken();
        long ended = books.completed.sum() + books.refused.sum() + books.failed.sum();
        return new ReplayResult(
                trace.name(),
                trace.format(),
                trace.badLines(),
                backing.account(),
                backing.granuleBytes(),
                settings,
                taken,
                books.completed.sum(),
                books.refused.sum(),
                books.failed.sum(),
                taken - ended,
                stopped,
                books.preempted.sum(),
                books.tokens.sum(),
                books.blocks.sum(),
                books.blockHits.sum(),
                books.attachedBytes.sum(),
                books.writtenGranules.sum(),
                books.verifiedGranules.sum(),
                books.wrongBytes.sum(),
                books.ownedBytes.peak(),
                books.inUseBytes.peak(),
                books.mappedBytes.peak(),
                books.naiveBytes.peak(),
                books.usefulBytes.peak(),
                books.savedBytes.peak(),
                books.active.peak(),
                callsBefore < 0 || calls < 0 ? -1 : calls - callsBefore,
                wallSeconds,
                latencies.summaries(),
                backing.ledger(),
                samples.all(),
                books.problems.all(),
                books.refusals.all());
    }
}
