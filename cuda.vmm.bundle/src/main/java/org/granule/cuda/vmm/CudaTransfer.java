package org.granule.cuda.vmm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import jcuda.driver.JCudaDriver;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Transfer;

/** Moves bytes by streams of its own and waits for each. */
final class CudaTransfer implements Transfer {

    /** Java arrays move while the collector works; they go through native memory in pieces of this size. */
    private static final long STAGE_BYTES = 4 << 20;

    private static final long NEAR_BYTES = 64 << 10;

    private final CudaStreams streams;

    CudaTransfer(CudaStreams streams) {
        this.streams = streams;
    }

    @Override
    public void fill(long address, long bytes, byte value) {
        streams.run(
                "cuMemsetD8Async",
                address,
                bytes,
                stream -> JCudaDriver.cuMemsetD8Async(CudaPointers.to(address), value, bytes, stream));
    }

    @Override
    public void copy(long target, long source, long bytes) {
        if (target < source + bytes && source < target + bytes) {
            copyOverlapping(target, source, bytes);
        } else {
            copyApart(target, source, bytes);
        }
    }

    private void copyApart(long target, long source, long bytes) {
        streams.run(
                "cuMemcpyDtoDAsync",
                target,
                bytes,
                stream ->
                        JCudaDriver.cuMemcpyDtoDAsync(CudaPointers.to(target), CudaPointers.to(source), bytes, stream));
    }

    /** Piece by piece, none longer than the distance, from the end that is not overwritten first. */
    private void copyOverlapping(long target, long source, long bytes) {
        long distance = Math.abs(target - source);
        if (distance == 0) {
            return;
        }
        if (distance < NEAR_BYTES) {
            copyStaged(target, source, bytes);
            return;
        }
        streams.run("cuMemcpyDtoDAsync", target, bytes, stream -> {
            for (long done = 0; done < bytes; done += distance) {
                long length = Math.min(distance, bytes - done);
                long at = target < source ? done : bytes - done - length;
                int code = JCudaDriver.cuMemcpyDtoDAsync(
                        CudaPointers.to(target + at), CudaPointers.to(source + at), length, stream);
                if (code != CudaResult.SUCCESS) {
                    return code;
                }
            }
            return CudaResult.SUCCESS;
        });
    }

    /** Through the host: pieces as long as a small distance would be too many. */
    private void copyStaged(long target, long source, long bytes) {
        try (var arena = Arena.ofConfined()) {
            var stage = arena.allocate(Math.min(STAGE_BYTES, bytes));
            for (long done = 0; done < bytes; done += stage.byteSize()) {
                long length = Math.min(stage.byteSize(), bytes - done);
                long at = target < source ? done : bytes - done - length;
                out(stage.asSlice(0, length), source + at);
                in(target + at, stage.asSlice(0, length));
            }
        }
    }

    /** The driver takes an address and asks nobody whether it is good. */
    private static void requireUsable(MemorySegment segment) {
        if (!segment.scope().isAlive() || !segment.isAccessibleBy(Thread.currentThread())) {
            throw new InvalidRequestException("a segment of " + segment.byteSize()
                    + " bytes that is closed or belongs to another thread; copy from one that this thread may use");
        }
    }

    @Override
    public void copyIn(long target, MemorySegment source) {
        requireUsable(source);
        if (source.isNative()) {
            in(target, source);
            return;
        }
        try (var arena = Arena.ofConfined()) {
            var stage = arena.allocate(Math.min(STAGE_BYTES, source.byteSize()));
            for (long at = 0; at < source.byteSize(); at += stage.byteSize()) {
                long length = Math.min(stage.byteSize(), source.byteSize() - at);
                MemorySegment.copy(source, at, stage, 0, length);
                in(target + at, stage.asSlice(0, length));
            }
        }
    }

    @Override
    public void copyOut(MemorySegment target, long source) {
        requireUsable(target);
        if (target.isReadOnly()) {
            throw new InvalidRequestException(
                    "a read-only segment of " + target.byteSize() + " bytes; copy to one that can be written");
        }
        if (target.isNative()) {
            out(target, source);
            return;
        }
        try (var arena = Arena.ofConfined()) {
            var stage = arena.allocate(Math.min(STAGE_BYTES, target.byteSize()));
            for (long at = 0; at < target.byteSize(); at += stage.byteSize()) {
                long length = Math.min(stage.byteSize(), target.byteSize() - at);
                out(stage.asSlice(0, length), source + at);
                MemorySegment.copy(stage, 0, target, at, length);
            }
        }
    }

    private void in(long target, MemorySegment source) {
        long bytes = source.byteSize();
        streams.run(
                "cuMemcpyHtoDAsync",
                target,
                bytes,
                stream -> JCudaDriver.cuMemcpyHtoDAsync(
                        CudaPointers.to(target), CudaPointers.to(source.address()), bytes, stream));
        Reference.reachabilityFence(source);
    }

    private void out(MemorySegment target, long source) {
        long bytes = target.byteSize();
        streams.run(
                "cuMemcpyDtoHAsync",
                source,
                bytes,
                stream -> JCudaDriver.cuMemcpyDtoHAsync(
                        CudaPointers.to(target.address()), CudaPointers.to(source), bytes, stream));
        Reference.reachabilityFence(target);
    }

    /** Every call has waited for its own work. */
    @Override
    public void synchronise() {
        // Nothing of this facet is under way when its calls have returned.
    }
}
