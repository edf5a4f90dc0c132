package org.granule.vmm;

import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The free parts of one contiguous range of addresses. Neighbours are joined, so a range that is wholly free
 * is one span. The smallest span that fits is cut first. Not thread-safe.
 */
final class Spans {

    private record Span(long start, long length) {}

    private static final Comparator<Span> SMALLEST_FIRST =
            Comparator.comparingLong(Span::length).thenComparingLong(Span::start);

    private final TreeMap<Long, Span> byStart = new TreeMap<>();
    private final TreeSet<Span> byLength = new TreeSet<>(SMALLEST_FIRST);
    private long freeBytes;
    /** No address from here on was ever taken. */
    private long untouched;

    Spans(long start, long length) {
        untouched = start;
        add(new Span(start, length));
    }

    /** Takes an aligned range, or returns −1 when no span has room. */
    long take(long length, long alignment) {
        for (Span span : byLength.tailSet(new Span(Long.MIN_VALUE, length), true)) {
            long start = (span.start + alignment - 1) & -alignment;
            if (start >= span.start && start - span.start <= span.length - length) {
                cut(span, start, length);
                return start;
            }
        }
        return -1;
    }

    /** Takes just this range, when all of it is free. */
    boolean takeAt(long start, long length) {
        var at = byStart.floorEntry(start);
        boolean free = at != null && start + length <= at.getKey() + at.getValue().length;
        if (free) {
            cut(at.getValue(), start, length);
        }
        return free;
    }

    private void cut(Span span, long start, long length) {
        remove(span);
        if (start > span.start) {
            add(new Span(span.start, start - span.start));
        }
        long end = start + length;
        long spanEnd = span.start + span.length;
        if (end < spanEnd) {
            add(new Span(end, spanEnd - end));
        }
        untouched = Math.max(untouched, end);
    }

    /** Hands over the start and length of each free span, as far as addresses were ever taken. */
    void forEachUsedBefore(LongBinaryConsumer action) {
        for (Span span : byStart.headMap(untouched).values()) {
            action.accept(span.start, Math.min(span.length, untouched - span.start));
        }
    }

    /** Takes a range. */
    @FunctionalInterface
    interface LongBinaryConsumer {
        void accept(long start, long length);
    }

    /** Gives a range back that was taken, whole or in part. */
    void give(long start, long length) {
        long from = start;
        long to = start + length;
        var below = byStart.lowerEntry(start);
        var above = byStart.ceilingEntry(start);
        if (below != null && below.getValue().start + below.getValue().length > start
                || above != null && above.getKey() < to) {
            throw new IllegalStateException(
                    "addresses " + Long.toHexString(start) + " + " + length + " are free already");
        }
        if (below != null && below.getValue().start + below.getValue().length == start) {
            from = below.getKey();
            remove(below.getValue());
        }
        if (above != null && above.getKey() == to) {
            to = above.getKey() + above.getValue().length;
            remove(above.getValue());
        }
        add(new Span(from, to - from));
    }

    long freeBytes() {
        return freeBytes;
    }

    int count() {
        return byStart.size();
    }

    private void add(Span span) {
        byStart.put(span.start, span);
        byLength.add(span);
        freeBytes += span.length;
    }

    private void remove(Span span) {
        byStart.remove(span.start);
        byLength.remove(span);
        freeBytes -= span.length;
    }
}
