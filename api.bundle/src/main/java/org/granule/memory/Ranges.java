package org.granule.memory;

import java.util.Arrays;

/**
 * An immutable set of bytes, as disjoint ranges in ascending order. Ranges that touch or overlap are
 * joined.
 */
public final class Ranges {

    private static final Ranges NONE = new Ranges(new long[0]);

    /** start 0, end 0 (exclusive), start 1, end 1, … */
    private final long[] bounds;

    private Ranges(long[] bounds) {
        this.bounds = bounds;
    }

    /**
     * Returns the empty set.
     *
     * @return a set without ranges
     */
    public static Ranges none() {
        return NONE;
    }

    /**
     * Returns a set of one range.
     *
     * @param offset first byte, at least 0
     * @param length bytes, at least 0; 0 gives the empty set
     * @return the set
     * @throws InvalidRequestException when an argument is negative or their sum overflows
     */
    public static Ranges of(long offset, long length) {
        requireValid(offset, length);
        return length == 0 ? NONE : new Ranges(new long[] {offset, offset + length});
    }

    /**
     * Returns this set with one more range.
     *
     * @param offset first byte, at least 0
     * @param length bytes, at least 0
     * @return a set that holds both
     * @throws InvalidRequestException when an argument is negative or their sum overflows
     */
    public Ranges and(long offset, long length) {
        requireValid(offset, length);
        if (length == 0) {
            return this;
        }
        long start = offset;
        long end = offset + length;
        long[] joined = new long[bounds.length + 2];
        int size = 0;
        int i = 0;
        for (; i < bounds.length && bounds[i + 1] < start; i += 2) {
            joined[size++] = bounds[i];
            joined[size++] = bounds[i + 1];
        }
        for (; i < bounds.length && bounds[i] <= end; i += 2) {
            start = Math.min(start, bounds[i]);
            end = Math.max(end, bounds[i + 1]);
        }
        joined[size++] = start;
        joined[size++] = end;
        for (; i < bounds.length; i++) {
            joined[size++] = bounds[i];
        }
        return new Ranges(Arrays.copyOf(joined, size));
    }

    /**
     * Returns the number of disjoint ranges.
     *
     * @return 0 for the empty set
     */
    public int count() {
        return bounds.length / 2;
    }

    /**
     * Returns where a range starts.
     *
     * @param index 0 to {@link #count()} − 1
     * @return its first byte
     */
    public long offset(int index) {
        return bounds[2 * index];
    }

    /**
     * Returns how long a range is.
     *
     * @param index 0 to {@link #count()} − 1
     * @return bytes, at least 1
     */
    public long length(int index) {
        return bounds[2 * index + 1] - bounds[2 * index];
    }

    /**
     * Returns where the last range ends.
     *
     * @return the byte after the last one, 0 for the empty set
     */
    public long end() {
        return bounds.length == 0 ? 0 : bounds[bounds.length - 1];
    }

    /**
     * Returns the size of all granules that the set touches, each counted once.
     *
     * @param granuleBytes a power of two
     * @return bytes, a multiple of the granule
     * @throws InvalidRequestException when the granule is no power of two, or the sum overflows
     */
    public long granuleUnion(long granuleBytes) {
        if (granuleBytes <= 0 || Long.bitCount(granuleBytes) != 1) {
            throw new InvalidRequestException("granule of " + granuleBytes + " bytes is not a power of two");
        }
        int shift = Long.numberOfTrailingZeros(granuleBytes);
        long granules = 0;
        long next = 0;
        for (int i = 0; i < bounds.length; i += 2) {
            long first = Math.max(next, bounds[i] >>> shift);
            long last = (bounds[i + 1] - 1) >>> shift;
            if (last >= first) {
                granules += last - first + 1;
                next = last + 1;
            }
        }
        if (granules > Long.MAX_VALUE >>> shift) {
            throw new InvalidRequestException(
                    granules + " granules of " + granuleBytes + " bytes exceed " + Long.MAX_VALUE + " bytes");
        }
        return granules << shift;
    }

    private static void requireValid(long offset, long length) {
        if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
            throw new InvalidRequestException("range at offset " + offset + " of " + length
                    + " bytes: both must be at least 0 and their sum at most " + Long.MAX_VALUE);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ranges ranges && Arrays.equals(bounds, ranges.bounds);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bounds);
    }

    /** Returns the ranges as {@code [start, end)} pairs. */
    @Override
    public String toString() {
        var text = new StringBuilder("{");
        for (int i = 0; i < bounds.length; i += 2) {
            text.append(i == 0 ? "[" : ", [")
                    .append(bounds[i])
                    .append(", ")
                    .append(bounds[i + 1])
                    .append(')');
        }
        return text.append('}').toString();
    }
}
