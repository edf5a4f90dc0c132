package org.granule.workload.replay;

import java.util.List;
import org.granule.memory.MemoryException;
import org.granule.memory.ReleaseOutcome;

/** Gives evicted prefix blocks back, each verified a last time. One for each worker. */
final class Retirement {

    private final PrefixCache cache;
    private final TimedMemory memory;
    private final GranuleData data;
    private final Books books;
    private final Runnable onFreed;

    Retirement(PrefixCache cache, TimedMemory memory, GranuleData data, Books books, Runnable onFreed) {
        this.cache = cache;
        this.memory = memory;
        this.data = data;
        this.books = books;
        this.onFreed = onFreed;
    }

    /**
     * Retires idle blocks until they free what is asked for, least recently used first.
     *
     * @return whether any could be retired
     */
    boolean makeRoom(long bytes) {
        var evicted = cache.evict(Math.max(1, bytes));
        retire(evicted);
        return !evicted.isEmpty();
    }

    /** Retires everything that nobody uses. */
    void retireAll() {
        retire(cache.evict(Long.MAX_VALUE));
    }

    void retire(List<SharedBlock> evicted) {
        for (var block : evicted) {
            if (block.prefix() != SharedBlock.NO_PREFIX) {
                retire(block);
            }
        }
        if (!evicted.isEmpty()) {
            onFreed.run();
        }
    }

    private void retire(SharedBlock block) {
        try {
            if (memory.backing().holdsBytes()) {
                verify(block);
            }
            books.ownedBytes.add(-block.bytes());
            books.usefulBytes.add(-block.bytes());
            switch (memory.retire(block.prefix())) {
                case ReleaseOutcome.Complete done -> {}
                case ReleaseOutcome.Failed failed -> problem(block, failed.cause());
                case ReleaseOutcome.Quarantined left -> problem(block, left.cause());
            }
        } catch (MemoryException e) {
            problem(block, e);
        }
    }

    /** Nobody maps an idle block any more, so it is mapped once more to be read. */
    private void verify(SharedBlock block) {
        var backing = memory.backing();
        long token = backing.reserve(block.bytes());
        try {
            backing.attach(token, new long[] {0}, new long[] {block.prefix()});
            books.mappedBytes.add(block.bytes());
            long granule = backing.granuleBytes();
            for (long i = 0; i < block.bytes() / granule; i++) {
                long seed = Pattern.ofBlock(block.id(), i);
                var owner = "block " + block.id() + " (at its end)";
                Verification.verify(books, backing, data, token, i * granule, seed, owner);
            }
            books.mappedBytes.add(-block.bytes());
        } finally {
            backing.release(token);
        }
    }

    private void problem(SharedBlock block, MemoryException cause) {
        books.problems.add("block " + block.id() + " was not retired: " + cause.getMessage());
    }
}
