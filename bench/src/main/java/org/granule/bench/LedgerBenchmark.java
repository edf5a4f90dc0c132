package org.granule.bench;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.ledger.Ledger;
import org.granule.ledger.LedgerAccount;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Charge and refund of a page with limits on device, tenant and role. All threads use one account. For reference: an
 * atomic counter for each level, and one lock over all three.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class LedgerBenchmark {

    private static final long PAGE = 4096;
    private static final long[] LIMITS = {8L << 30, 12L << 30, 16L << 30};

    private final Ledger ledger = new Ledger();
    private final LedgerAccount account = Provider.limit(ledger);

    private final AtomicLong[] counters = {new AtomicLong(), new AtomicLong(), new AtomicLong()};
    private final long[] locked = new long[LIMITS.length];

    /** What each allocation pays. */
    @Benchmark
    public void chargeAndRefund() {
        account.charge(PAGE, PAGE);
        account.refund(PAGE, PAGE);
    }

    /** With an object that gives it back once. */
    @Benchmark
    public void lease() {
        ledger.claim(account, PAGE).close();
    }

    /** Reference. */
    @Benchmark
    public void atomicCounters() {
        for (int level = 0; level < LIMITS.length; level++) {
            add(counters[level], LIMITS[level]);
        }
        for (var counter : counters) {
            counter.getAndAdd(-PAGE);
        }
    }

    private static void add(AtomicLong counter, long limit) {
        long used = counter.get();
        while (!counter.compareAndSet(used, used + PAGE)) {
            used = counter.get();
        }
        if (used > limit - PAGE) {
            throw new IllegalStateException("over the limit");
        }
    }

    /** Reference. */
    @Benchmark
    public void oneLock() {
        synchronized (locked) {
            for (int level = 0; level < LIMITS.length; level++) {
                if (locked[level] > LIMITS[level] - PAGE) {
                    throw new IllegalStateException("over the limit");
                }
                locked[level] += PAGE;
            }
        }
        synchronized (locked) {
            for (int level = 0; level < LIMITS.length; level++) {
                locked[level] -= PAGE;
            }
        }
    }
}
