package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Writes and verifies granules. Has buffers of its own, so one for each worker. */
final class GranuleData {

    private static final int CHUNK_BYTES = 256 * 1024;
    private static final int PAGE_BYTES = 4096;

    /** Where a byte is not what its owner wrote. */
    record Wrong(long bytes, long firstOffset, int expected, int actual) {}

    private final Backing backing;
    private final long granuleBytes;
    private final boolean sparse;
    private final long[] expected;
    private final long[] actual;
    private final MemorySegment expectedBytes;
    private final MemorySegment actualBytes;

    GranuleData(Backing backing, boolean sparse) {
        this.backing = backing;
        this.granuleBytes = backing.granuleBytes();
        this.sparse = sparse;
        int chunk = (int) Math.min(granuleBytes, sparse ? PAGE_BYTES : CHUNK_BYTES);
        this.expected = new long[chunk / Long.BYTES];
        this.actual = new long[expected.length];
        this.expectedBytes = MemorySegment.ofArray(expected);
        this.actualBytes = MemorySegment.ofArray(actual);
    }

    void write(long token, long offset, long seed) {
        long end = end(seed);
        for (long at = start(seed); at < end; at += expectedBytes.byteSize()) {
            Pattern.fill(expectedBytes, expected, seed, at / Long.BYTES);
            backing.copyIn(token, offset + at, expectedBytes);
        }
    }

    /**
     * Compares a granule with what its owner wrote.
     *
     * @return null when it is right
     */
    Wrong verify(long token, long offset, long seed) {
        long wrong = 0;
        long first = -1;
        int expectedByte = 0;
        int actualByte = 0;
        long end = end(seed);
        for (long at = start(seed); at < end; at += expectedBytes.byteSize()) {
            Pattern.fill(expectedBytes, expected, seed, at / Long.BYTES);
            backing.copyOut(actualBytes, token, offset + at);
            long mismatch = expectedBytes.mismatch(actualBytes);
            if (mismatch >= 0) {
                if (first < 0) {
                    first = offset + at + mismatch;
                    expectedByte = Byte.toUnsignedInt(expectedBytes.get(ValueLayout.JAVA_BYTE, mismatch));
                    actualByte = Byte.toUnsignedInt(actualBytes.get(ValueLayout.JAVA_BYTE, mismatch));
                }
                wrong += differences(mismatch);
            }
        }
        return wrong == 0 ? null : new Wrong(wrong, first, expectedByte, actualByte);
    }

    private long differences(long from) {
        long count = 0;
        for (long i = from; i < expectedBytes.byteSize(); i++) {
            if (expectedBytes.get(ValueLayout.JAVA_BYTE, i) != actualBytes.get(ValueLayout.JAVA_BYTE, i)) {
                count++;
            }
        }
        return count;
    }

    /** A sparse run uses one page of each granule, not always the same one. */
    private long start(long seed) {
        long pages = granuleBytes / expectedBytes.byteSize();
        return sparse ? Long.remainderUnsigned(seed, pages) * expectedBytes.byteSize() : 0;
    }

    private long end(long seed) {
        return sparse ? start(seed) + expectedBytes.byteSize() : granuleBytes;
    }
}
