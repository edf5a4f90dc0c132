package org.granule.workload.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.granule.workload.trace.Request;
import org.junit.jupiter.api.Test;

class PrefixCacheTest {

    private final Gauge inUse = new Gauge();

    private static Request request(long... ids) {
        return new Request(0, 0, ids.length * Request.BLOCK_TOKENS, 0, ids);
    }

    private SharedBlock publish(PrefixCache cache, long id, int position) {
        assertTrue(cache.claim(id));
        var block = new SharedBlock(id, position, Request.BLOCK_TOKENS, 1000 + id, 100);
        inUse.add(100);
        cache.publish(block);
        return block;
    }

    private static List<Long> ids(List<SharedBlock> blocks) {
        return blocks.stream().map(SharedBlock::id).toList();
    }

    @Test
    void findsTheLongestPrefix() {
        var cache = new PrefixCache(10, inUse);
        publish(cache, 1, 0);
        publish(cache, 2, 1);
        publish(cache, 4, 3);
        assertEquals(List.of(1L, 2L), ids(cache.acquire(request(1, 2, 3, 4))));
        assertEquals(List.of(), ids(cache.acquire(request(2, 1))), "the same blocks at other places");
    }

    @Test
    void onlyOneMayPublish() {
        var cache = new PrefixCache(10, inUse);
        assertTrue(cache.claim(1));
        assertFalse(cache.claim(1));
        assertEquals(List.of(), cache.acquire(request(1)), "not published yet");
        cache.abandon(1);
        publish(cache, 1, 0);
        assertFalse(cache.claim(1));
    }

    @Test
    void aBlockInUseStays() {
        var cache = new PrefixCache(0, inUse);
        var block = publish(cache, 1, 0);
        var again = cache.acquire(request(1));
        assertEquals(List.of(), cache.release(List.of(block)));
        assertEquals(List.of(), cache.evict(1));
        assertEquals(100, inUse.now());
        assertEquals(List.of(1L), ids(cache.release(again)), "none is kept");
        assertEquals(0, inUse.now());
        assertEquals(List.of(), cache.acquire(request(1)));
    }

    @Test
    void theLeastRecentlyUsedGoesFirstAndTheEndOfAPromptBeforeItsStart() {
        var cache = new PrefixCache(3, inUse);
        var first = List.of(publish(cache, 1, 0), publish(cache, 2, 1));
        var second = List.of(publish(cache, 3, 0), publish(cache, 4, 1));
        assertEquals(List.of(), cache.release(first));
        assertEquals(List.of(2L), ids(cache.release(second)));
        assertEquals(3, cache.idleBlocks());
        cache.release(cache.acquire(request(1)));
        assertEquals(List.of(4L), ids(cache.evict(100)), "1 was used since");
        assertEquals(List.of(3L, 1L), ids(cache.evict(Long.MAX_VALUE)));
        assertEquals(List.of(), cache.evict(1));
    }
}
