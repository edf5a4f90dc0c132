package org.granule.bench;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Netty's allocators, with caches for all threads: by default only its own event loops have them. */
@State(Scope.Benchmark)
public class NettyAllocators {

    final AdaptiveByteBufAllocator adaptive = new AdaptiveByteBufAllocator(true, true);
    final PooledByteBufAllocator pooled = new PooledByteBufAllocator(
            true,
            PooledByteBufAllocator.defaultNumHeapArena(),
            PooledByteBufAllocator.defaultNumDirectArena(),
            PooledByteBufAllocator.defaultPageSize(),
            PooledByteBufAllocator.defaultMaxOrder(),
            PooledByteBufAllocator.defaultSmallCacheSize(),
            PooledByteBufAllocator.defaultNormalCacheSize(),
            true);

    /** Fails when Netty does not run at its best. */
    @Setup
    public void check() {
        if (!PlatformDependent.hasUnsafe() || !PlatformDependent.hasDirectBufferNoCleanerConstructor()) {
            throw new IllegalStateException(
                    "Netty runs without its fast ways: " + PlatformDependent.getUnsafeUnavailabilityCause());
        }
    }
}
