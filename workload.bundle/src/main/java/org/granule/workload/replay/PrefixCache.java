package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.granule.workload.trace.Request;

/**
 * Which prefix blocks are present. A block with users stays; one without is idle and goes, least recently used
 * first, when there are more idle ones than may be kept or when room is needed. Who gets an evicted block from
 * here has to retire it: nothing here calls the provider, so nobody waits for memory while holding the lock.
 */
final class PrefixCache {

    private final long retain;
    /** Told of every block that becomes idle, and of every idle one that finds a user. */
    private final Gauge inUseBytes;

    private final Map<Long, SharedBlock> blocks = new HashMap<>();
    /** In the order in which they became idle. */
    private final LinkedHashMap<Long, SharedBlock> idle = new LinkedHashMap<>();
    /** Blocks that somebody is about to publish. */
    private final Set<Long> claimed = new HashSet<>();

    PrefixCache(long retain, Gauge inUseBytes) {
        this.retain = retain;
        this.inUseBytes = inUseBytes;
    }

    /** Takes the blocks at the start of a prompt that are present, up to the first that is not. */
    synchronized List<SharedBlock> acquire(Request request) {
        var found = new ArrayList<SharedBlock>();
        long[] ids = request.blockIds();
        for (int i = 0; i < ids.length; i++) {
            var block = blocks.get(ids[i]);
            if (block == null || !block.isAt(i, request.blockTokens(i))) {
                break;
            }
            if (block.users++ == 0) {
                idle.remove(block.id());
                inUseBytes.add(block.bytes());
            }
            found.add(block);
        }
        return found;
    }

    /** Asks for the right to publish a block: only one of several requests that made it may. */
    synchronized boolean claim(long id) {
        return !blocks.containsKey(id) && claimed.add(id);
    }

    /** Makes a claimed block known; its creator is its first user. */
    synchronized void publish(SharedBlock block) {
        claimed.remove(block.id());
        blocks.put(block.id(), block);
    }

    /** Gives a claim up. */
    synchronized void abandon(long id) {
        claimed.remove(id);
    }

    /**
     * Ends the use of a request's blocks, in the order of its prompt.
     *
     * @return blocks that are no longer kept
     */
    synchronized List<SharedBlock> release(List<SharedBlock> used) {
        // The end of a prompt goes before its start: without its start a prefix is of no use.
        for (int i = used.size() - 1; i >= 0; i--) {
            var block = used.get(i);
            if (--block.users == 0) {
                idle.put(block.id(), block);
                inUseBytes.add(-block.bytes());
            }
        }
        var evicted = new ArrayList<SharedBlock>();
        while (idle.size() > retain) {
            evicted.add(evictOldest());
        }
        return evicted;
    }

    /**
     * Evicts idle blocks until they free enough, or none is left.
     *
     * @return what was evicted
     */
    synchronized List<SharedBlock> evict(long bytes) {
        var evicted = new ArrayList<SharedBlock>();
        long freed = 0;
        while (freed < bytes && !idle.isEmpty()) {
            var block = evictOldest();
            freed += block.bytes();
            evicted.add(block);
        }
        return evicted;
    }

    private SharedBlock evictOldest() {
        var block = idle.pollFirstEntry().getValue();
        blocks.remove(block.id());
        return block;
    }

    synchronized int idleBlocks() {
        return idle.size();
    }
}
