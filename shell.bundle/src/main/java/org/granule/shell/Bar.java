package org.granule.shell;

/**
 * Use against a limit, such as {@code #####.....   50%}. A bar is empty only when nothing is used, full only when
 * all is, and ends in {@code !} when more is used than the limit allows.
 */
final class Bar {

    private static final int CELLS = 10;

    private Bar() {}

    static String of(long used, long limit) {
        if (limit == Long.MAX_VALUE) {
            return "";
        }
        int filled = filled(used, limit);
        return "#".repeat(filled) + (used > limit ? "!" : ".".repeat(CELLS - filled)) + " "
                + String.format("%5s", percent(used, limit));
    }

    private static int filled(long used, long limit) {
        if (used <= 0) {
            return 0;
        }
        if (used >= limit) {
            return used > limit ? CELLS - 1 : CELLS;
        }
        return Math.clamp(Math.round((double) used * CELLS / limit), 1, CELLS - 1);
    }

    private static String percent(long used, long limit) {
        if (used <= 0) {
            return "0%";
        }
        double percent = limit == 0 ? Double.POSITIVE_INFINITY : 100.0 * used / limit;
        if (percent > 999) {
            return ">999%";
        }
        if (used > limit) {
            return Math.max(101, (long) Math.ceil(percent)) + "%";
        }
        // Rounded down, and never up to 100 by the limits of a double: 100 % means that nothing is left.
        long shown = used == limit ? 100 : Math.min(99, (long) percent);
        return shown == 0 ? "<1%" : shown + "%";
    }
}
