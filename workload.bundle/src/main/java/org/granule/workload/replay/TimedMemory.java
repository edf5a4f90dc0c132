package org.granule.workload.replay;

import org.granule.memory.ReleaseOutcome;
import org.granule.workload.replay.Latencies.Operation;

/** One worker's way to the memory: each operation that is judged by its latency goes through here. */
final class TimedMemory {

    private final Backing backing;
    private final Latencies latencies = new Latencies();

    TimedMemory(Backing backing) {
        this.backing = backing;
    }

    /** For what is not timed. */
    Backing backing() {
        return backing;
    }

    Latencies latencies() {
        return latencies;
    }

    long reserve(long bytes) {
        long start = System.nanoTime();
        long token = backing.reserve(bytes);
        latencies.record(Operation.ALLOCATE, start);
        return token;
    }

    /** A refused commit is timed too: the caller waited for the answer. */
    void commit(long token, long offset, long length) {
        long start = System.nanoTime();
        try {
            backing.commit(token, offset, length);
        } finally {
            latencies.record(Operation.COMMIT, start);
        }
    }

    long share(long token, long offset, long length) {
        long start = System.nanoTime();
        long prefix = backing.share(token, offset, length);
        latencies.record(Operation.SHARE, start);
        return prefix;
    }

    void attach(long token, long[] offsets, long[] prefixes) {
        long start = System.nanoTime();
        backing.attach(token, offsets, prefixes);
        latencies.record(Operation.ATTACH, start);
    }

    ReleaseOutcome release(long token) {
        long start = System.nanoTime();
        var outcome = backing.release(token);
        latencies.record(Operation.RELEASE, start);
        return outcome;
    }

    ReleaseOutcome retire(long prefix) {
        long start = System.nanoTime();
        var outcome = backing.retire(prefix);
        latencies.record(Operation.RETIRE, start);
        return outcome;
    }
}
