package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;

/**
 * What a granule holds: 8-byte words that start at the owner's seed and grow by a fixed step, so that a
 * granule, page or word in the wrong place never looks right. Everyone who shares a block derives the same.
 */
final class Pattern {

    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final long REQUESTS = 0x52455155L;
    private static final long BLOCKS = 0x424C4F43L;

    private Pattern() {}

    static long ofRequest(long request, long granule) {
        return mix(mix(mix(REQUESTS) + request) + granule);
    }

    static long ofBlock(long blockId, long granuleInBlock) {
        return mix(mix(mix(BLOCKS) + blockId) + granuleInBlock);
    }

    /** Writes the words that belong at a position of a granule. */
    static void fill(MemorySegment words, long[] buffer, long seed, long firstWord) {
        long word = seed + firstWord * STEP;
        int count = (int) (words.byteSize() / Long.BYTES);
        for (int i = 0; i < count; i++) {
            buffer[i] = word + i * STEP;
        }
    }

    /** The finisher of SplitMix64: neighbouring owners get unrelated seeds. */
    static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
