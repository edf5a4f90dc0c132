package org.granule.vmm;

import java.util.Arrays;

/**
 * The committed bytes of one reservation: disjoint ascending ranges that grow and shrink. Appending to the
 * last range and cutting at its end, what a growing sequence does, take constant time. Not thread-safe.
 */
final class CommittedRanges {

    /** start 0, end 0 (exclusive), start 1, … */
    private long[] bounds = new long[4];

    private int size;

    void add(long start, long end) {
        if (size > 0 && start >= bounds[size - 2] && start <= bounds[size - 1]) {
            bounds[size - 1] = Math.max(bounds[size - 1], end);
            return;
        }
        // All ranges from the first that ends at or after start to the last that starts at or before end join.
        int first = firstEndingAtOrAfter(start);
        int last = first;
        long joinedStart = start;
        long joinedEnd = end;
        while (last < size && bounds[last] <= end) {
            joinedStart = Math.min(joinedStart, bounds[last]);
            joinedEnd = Math.max(joinedEnd, bounds[last + 1]);
            last += 2;
        }
        replace(first, last, joinedStart, joinedEnd, false, 0, 0);
    }

    void remove(long start, long end) {
        int first = firstEndingAtOrAfter(start + 1);
        int last = first;
        while (last < size && bounds[last] < end) {
            last += 2;
        }
        if (last == first) {
            return;
        }
        long headStart = bounds[first];
        long tailEnd = bounds[last - 1];
        boolean head = headStart < start;
        boolean tail = tailEnd > end;
        if (head) {
            replace(first, last, headStart, start, tail, end, tailEnd);
        } else if (tail) {
            replace(first, last, end, tailEnd, false, 0, 0);
        } else {
            System.arraycopy(bounds, last, bounds, first, size - last);
            size -= last - first;
        }
    }

    /** Tells whether any byte of a range is committed. */
    boolean touches(long start, long end) {
        int first = firstEndingAtOrAfter(start + 1);
        return first < size && bounds[first] < end;
    }

    /** Tells whether every byte of a range is committed. */
    boolean covers(long start, long end) {
        int first = firstEndingAtOrAfter(start + 1);
        return first < size && bounds[first] <= start && bounds[first + 1] >= end;
    }

    void clear() {
        size = 0;
    }

    int count() {
        return size / 2;
    }

    /** Puts one range, or two, in the place of those between two positions. */
    private void replace(int from, int to, long start, long end, boolean second, long start2, long end2) {
        int added = second ? 4 : 2;
        int grown = size - (to - from) + added;
        if (grown > bounds.length) {
            bounds = Arrays.copyOf(bounds, Math.max(grown, 2 * bounds.length));
        }
        System.arraycopy(bounds, to, bounds, from + added, size - to);
        bounds[from] = start;
        bounds[from + 1] = end;
        if (second) {
            bounds[from + 2] = start2;
            bounds[from + 3] = end2;
        }
        size = grown;
    }

    /** Position of the first range whose end is at or after a byte. */
    private int firstEndingAtOrAfter(long position) {
        if (size == 0 || bounds[size - 1] < position) {
            return size;
        }
        int low = 0;
        int high = size / 2 - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (bounds[2 * middle + 1] < position) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return 2 * low;
    }
}
