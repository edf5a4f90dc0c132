package org.granule.bench;

import java.util.concurrent.TimeUnit;
import org.granule.ledger.Ledger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Create a sequence, append 256 tokens in pages of 16, remove it: books only, pages charged to the ledger. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class PagedCacheBenchmark {

    private static final int TOKENS = 256;
    private static final int PAGE_TOKENS = 16;
    private static final long PAGE_BYTES = 16 * 12L << 10;

    private final PagedCache cache = new PagedCache(Provider.limit(new Ledger()), 4096, PAGE_TOKENS, PAGE_BYTES, 64);

    /** As a model generates. */
    @Benchmark
    public int tokenByToken() {
        int sequence = cache.create();
        int sum = 0;
        for (int i = 0; i < TOKENS; i++) {
            sum += cache.append(sequence);
        }
        cache.remove(sequence);
        return sum;
    }

    /** A page at a time. */
    @Benchmark
    public int byPages() {
        int sequence = cache.create();
        for (int i = 0; i < TOKENS; i += PAGE_TOKENS) {
            cache.append(sequence, PAGE_TOKENS);
        }
        int last = cache.place(sequence, TOKENS - 1);
        cache.remove(sequence);
        return last;
    }

    /** As a prompt comes. */
    @Benchmark
    public int byRanges() {
        int sequence = cache.create();
        cache.append(sequence, TOKENS);
        int last = cache.place(sequence, TOKENS - 1);
        cache.remove(sequence);
        return last;
    }
}
