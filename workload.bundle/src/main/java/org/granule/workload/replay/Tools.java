package org.granule.workload.replay;

import java.util.function.Consumer;
import org.granule.memory.MemoryException;

/**
 * What a worker needs to serve requests. Memory and data are the worker's own, the rest is everybody's.
 *
 * @param memory timed access to the memory
 * @param data writes and verifies
 * @param cache the prefix blocks that are present
 * @param retirement gives prefix blocks back
 * @param books counts
 * @param pace how fast tokens come
 * @param bytesPerToken bytes
 * @param onLost told when the provider has ended, so that nothing more can succeed
 */
record Tools(
        TimedMemory memory,
        GranuleData data,
        PrefixCache cache,
        Retirement retirement,
        Books books,
        Pace pace,
        long bytesPerToken,
        Consumer<MemoryException> onLost) {

    boolean verify(long token, long offset, long seed, String owner) {
        return Verification.verify(books, memory.backing(), data, token, offset, seed, owner);
    }
}
