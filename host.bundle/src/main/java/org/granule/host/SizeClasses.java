package org.granule.host;

/**
 * The sizes that blocks are rounded up to: four for each doubling, so that at most a fifth of a block is unused.
 */
final class SizeClasses {

    private static final int SMALLEST_SHIFT = 6;
    private static final int STEPS_SHIFT = 2;
    private static final int STEPS = 1 << STEPS_SHIFT;
    private static final int LARGEST_SHIFT = 26;

    static final long SMALLEST = 1L << SMALLEST_SHIFT;
    static final long LARGEST = 1L << LARGEST_SHIFT;
    static final int COUNT = (LARGEST_SHIFT - SMALLEST_SHIFT) * STEPS + 1;

    private SizeClasses() {}

    /** The class of the smallest blocks that hold so many bytes, at most {@link #LARGEST}. */
    static int of(long bytes) {
        if (bytes <= SMALLEST) {
            return 0;
        }
        int shift = 63 - Long.numberOfLeadingZeros(bytes - 1);
        long step = 1L << shift - STEPS_SHIFT;
        int steps = (int) ((bytes - 1 - (1L << shift)) / step) + 1;
        return (shift - SMALLEST_SHIFT) * STEPS + steps;
    }

    /** The size of a class's blocks. */
    static long bytes(int sizeClass) {
        int shift = SMALLEST_SHIFT + sizeClass / STEPS;
        return (1L << shift) + (long) (sizeClass % STEPS) * (1L << shift - STEPS_SHIFT);
    }
}
