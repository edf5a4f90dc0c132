package org.granule.bench.report;

import java.util.Arrays;
import java.util.Locale;

/**
 * A time or a ratio, and how far it spreads.
 *
 * @param median of all iterations of all forks; a mean would follow whatever else the machine does
 * @param spread half of the range in which the middle half of the iterations is; not a number when unknown
 */
record Figure(double median, double spread) {

    /** Summarises iterations. */
    static Figure of(double[] iterations) {
        var sorted = iterations.clone();
        Arrays.sort(sorted);
        return new Figure(quantile(sorted, 0.5), (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2);
    }

    private static double quantile(double[] sorted, double part) {
        double place = part * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    /** How many times as large this is as another. */
    Figure over(Figure other) {
        double ratio = median / other.median;
        return new Figure(ratio, ratio * Math.hypot(spread / median, other.spread / other.median));
    }

    @Override
    public String toString() {
        return rounded(median) + (Double.isNaN(spread) ? "" : " ± " + rounded(spread));
    }

    /** Three digits that say something, as the spread allows no more. */
    static String rounded(double value) {
        int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return String.format(Locale.ROOT, "%,." + decimals + "f", value);
    }
}
