package org.granule.workload.replay;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** A quantity that goes up and down, and how high it was. */
final class Gauge {

    private final AtomicLong now = new AtomicLong();
    private final LongAccumulator peak = new LongAccumulator(Math::max, 0);

    void add(long amount) {
        peak.accumulate(now.addAndGet(amount));
    }

    /** Takes a reading of the same quantity from elsewhere into the peak. */
    void saw(long reading) {
        peak.accumulate(reading);
    }

    long now() {
        return now.get();
    }

    long peak() {
        return peak.get();
    }
}
