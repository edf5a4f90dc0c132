package org.granule.registry;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.granule.memory.Access;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.provider.MemorySession;

/**
 * What a user holds. The inside, {@link Owner}, lives on when this object is dropped; every method keeps this
 * object reachable until it returns, so that it is not taken for dropped while it is in use.
 */
final class Session implements MemorySession {

    private final BoundAllocator binding;
    private final Owner owner;
    private final Cleaner.Cleanable dropped;

    Session(BoundAllocator binding, Owner owner, Cleaner cleaner) {
        this.binding = binding;
        this.owner = owner;
        this.dropped = cleaner.register(this, () -> binding.drop(owner));
    }

    @Override
    public String account() {
        return owner.account.path();
    }

    @Override
    public long allocate(long bytes, long alignment) {
        try {
            return binding.allocate(owner, bytes, alignment);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public ReleaseOutcome release(long token) {
        try {
            return binding.release(owner, token);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAfter(long token, Fence fence) {
        Objects.requireNonNull(fence, "fence");
        try {
            return binding.releaseAfter(owner, token, fence);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void usedUntil(long token, long offset, long length, Fence fence) {
        Objects.requireNonNull(fence, "fence");
        try {
            binding.queued().add(owner, token, offset, length, fence);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long reserve(long bytes, long alignment, Ranges committed, Extents extents) {
        Objects.requireNonNull(committed, "committed");
        Objects.requireNonNull(extents, "extents");
        try {
            return binding.reserve(owner, bytes, alignment, committed, extents);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void commit(long token, long offset, long length) {
        try {
            binding.commit(owner, token, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public ReleaseOutcome decommit(long token, long offset, long length) {
        try {
            return binding.decommit(owner, token, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long estimate(Ranges ranges) {
        return binding.estimate(Objects.requireNonNull(ranges, "ranges"));
    }

    @Override
    public long granuleBytes() {
        return binding.granuleBytes();
    }

    @Override
    public long committedBytes(long token) {
        try {
            return binding.committedBytes(owner, token);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long share(long token, long offset, long length) {
        try {
            return binding.share(owner, token, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long price(long prefix) {
        return binding.prefixes().price(owner, prefix);
    }

    @Override
    public void attach(long token, long offset, long prefix) {
        try {
            binding.prefixes().attach(owner, token, offset, prefix);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void attach(long token, long[] offsets, long[] prefixes) {
        try {
            binding.prefixes().attach(owner, token, offsets.clone(), prefixes.clone());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public ReleaseOutcome detach(long token, long offset, long prefix) {
        try {
            return binding.prefixes().detach(owner, token, offset, prefix);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public ReleaseOutcome retire(long prefix) {
        try {
            return binding.retire(owner, prefix);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void privatise(long token, long offset, long length) {
        try {
            binding.prefixes().privatise(owner, token, offset, length);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public long address(long token) {
        return binding.address(owner, token);
    }

    @Override
    public long bytes(long token) {
        return binding.bytes(owner, token);
    }

    @Override
    public void fill(long token, long offset, long length, byte value) {
        var held = binding.hold(owner, token, offset, length, Access.READ_WRITE);
        try {
            if (length > 0) {
                binding.transfer("fill", transfer -> transfer.fill(held.address + offset, length, value));
            }
        } finally {
            held.unpin();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void copy(long target, long targetOffset, long source, long sourceOffset, long length) {
        var to = binding.hold(owner, target, targetOffset, length, Access.READ_WRITE);
        try {
            var from = binding.hold(owner, source, sourceOffset, length, Access.READ);
            try {
                if (length > 0) {
                    binding.transfer(
                            "copy",
                            transfer -> transfer.copy(to.address + targetOffset, from.address + sourceOffset, length));
                }
            } finally {
                from.unpin();
            }
        } finally {
            to.unpin();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void copyIn(long target, long offset, MemorySegment source) {
        var held = binding.hold(owner, target, offset, source.byteSize(), Access.READ_WRITE);
        try {
            if (source.byteSize() > 0) {
                binding.transfer("copyIn", transfer -> transfer.copyIn(held.address + offset, source));
            }
        } finally {
            held.unpin();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void copyOut(MemorySegment target, long source, long offset) {
        var held = binding.hold(owner, source, offset, target.byteSize(), Access.READ);
        try {
            if (target.byteSize() > 0) {
                binding.transfer("copyOut", transfer -> transfer.copyOut(target, held.address + offset));
            }
        } finally {
            held.unpin();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void synchronise() {
        binding.synchronise(owner);
        Reference.reachabilityFence(this);
    }

    @Override
    public void close() {
        binding.close(owner);
        // It is gone from the binding, so what the cleaner does now finds nothing to do.
        dropped.clean();
    }
}
