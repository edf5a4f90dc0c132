package org.granule.registry;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Time for ages, to a tenth of a second. Asking the system for the time would cost an allocation more than finding
 * its memory.
 */
final class Ticker implements AutoCloseable {

    static final long TICK_NANOS = 100_000_000L;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            work -> Thread.ofPlatform().daemon().name("granule-ticker").unstarted(work));
    private volatile long ticks;

    Ticker() {
        timer.scheduleAtFixedRate(this::tick, TICK_NANOS, TICK_NANOS, TimeUnit.NANOSECONDS);
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void tick() {
        ticks++;
    }

    long ticks() {
        return ticks;
    }

    long nanosSince(long then) {
        return (ticks - then) * TICK_NANOS;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
