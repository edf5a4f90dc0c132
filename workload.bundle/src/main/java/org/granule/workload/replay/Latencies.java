package org.granule.workload.replay;

import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** How long operations took. One for each worker, so that recording needs no lock; added up at the end. */
public final class Latencies {

    /** What is timed. */
    public enum Operation {
        ALLOCATE,
        COMMIT,
        SHARE,
        ATTACH,
        RELEASE,
        RETIRE
    }

    /** Percentiles of one operation, in nanoseconds. */
    public record Summary(long count, double mean, long p50, long p90, long p99, long p999, long max) {}

    /** Three digits: a percentile is right to a thousandth of itself. */
    private static final int DIGITS = 3;

    private final Map<Operation, Histogram> histograms = new EnumMap<>(Operation.class);

    Latencies() {
        for (var operation : Operation.values()) {
            histograms.put(operation, new Histogram(DIGITS));
        }
    }

    void record(Operation operation, long startNanos) {
        histograms.get(operation).recordValue(Math.max(0, System.nanoTime() - startNanos));
    }

    void add(Latencies other) {
        other.histograms.forEach(
                (operation, histogram) -> histograms.get(operation).add(histogram));
    }

    Map<Operation, Summary> summaries() {
        var summaries = new EnumMap<Operation, Summary>(Operation.class);
        histograms.forEach((operation, histogram) -> summaries.put(operation, summary(histogram)));
        return summaries;
    }

    private static Summary summary(Histogram histogram) {
        long count = histogram.getTotalCount();
        return count == 0
                ? new Summary(0, 0, 0, 0, 0, 0, 0)
                : new Summary(
                        count,
                        histogram.getMean(),
                        histogram.getValueAtPercentile(50),
                        histogram.getValueAtPercentile(90),
                        histogram.getValueAtPercentile(99),
                        histogram.getValueAtPercentile(99.9),
                        histogram.getMaxValue());
    }
}
