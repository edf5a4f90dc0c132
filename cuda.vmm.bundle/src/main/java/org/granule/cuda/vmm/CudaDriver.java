package org.granule.cuda.vmm;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import jcuda.driver.JCudaDriver;
import org.granule.memory.Access;
import org.granule.vmm.DriverTruth;
import org.granule.vmm.VmmDriver;

/** A CUDA device as the engine sees it. Mapping calls do not wait for kernels; the driver runs one at a time. */
final class CudaDriver implements VmmDriver {

    private final DriverLibrary library;
    private final CudaContext context;
    private final CudaStreams streams;
    private final MemorySegment properties;
    private final MemorySegment readable;
    private final MemorySegment writable;
    private final long granuleBytes;

    /**
     * Asks for the granularity.
     *
     * @param exportType {@link DriverLibrary#NO_EXPORT} or {@link DriverLibrary#FILE_DESCRIPTOR}
     */
    CudaDriver(DriverLibrary library, CudaContext context, CudaStreams streams, int exportType) {
        this.library = library;
        this.context = context;
        this.streams = streams;
        this.properties = DriverLibrary.properties(context.ordinal(), exportType);
        this.readable = DriverLibrary.access(context.ordinal(), DriverLibrary.READ);
        this.writable = DriverLibrary.access(context.ordinal(), DriverLibrary.READ_WRITE);
        require(() -> library.granularity(properties), "cuMemGetAllocationGranularity", 0, 0);
        this.granuleBytes = library.answer();
    }

    @Override
    public long granuleBytes() {
        return granuleBytes;
    }

    @Override
    public boolean mapsWritable() {
        return false;
    }

    @Override
    public long reserve(long bytes) {
        require(() -> library.reserve(bytes, granuleBytes), "cuMemAddressReserve", 0, bytes);
        return library.answer();
    }

    @Override
    public void free(long address, long bytes) {
        require(() -> library.free(address, bytes), "cuMemAddressFree", address, bytes);
    }

    @Override
    public long create(long bytes) {
        require(() -> library.create(bytes, properties), "cuMemCreate", 0, bytes);
        return library.answer();
    }

    @Override
    public void map(long address, long bytes, long handle) {
        require(() -> library.map(address, bytes, handle), "cuMemMap", address, bytes);
    }

    @Override
    public void protect(long address, long bytes, Access access) {
        require(
                () -> library.setAccess(address, bytes, access == Access.READ ? readable : writable),
                "cuMemSetAccess",
                address,
                bytes);
    }

    @Override
    public void unmap(long address, long bytes) {
        require(() -> library.unmap(address, bytes), "cuMemUnmap", address, bytes);
    }

    @Override
    public void release(long handle, long bytes) {
        require(() -> library.release(handle), "cuMemRelease of handle " + handle, 0, bytes);
    }

    @Override
    public void scrub(long address, long bytes) {
        streams.run(
                "cuMemsetD8Async",
                address,
                bytes,
                stream -> JCudaDriver.cuMemsetD8Async(CudaPointers.to(address), (byte) 0, bytes, stream));
    }

    @Override
    public void copy(long target, long source, long bytes) {
        streams.run(
                "cuMemcpyDtoDAsync",
                target,
                bytes,
                stream ->
                        JCudaDriver.cuMemcpyDtoDAsync(CudaPointers.to(target), CudaPointers.to(source), bytes, stream));
    }

    @Override
    public DriverTruth truth() {
        return new CudaTruth(library, context);
    }

    @Override
    public long totalBytes() {
        return memory()[1];
    }

    @Override
    public long freeBytes() {
        return memory()[0];
    }

    private long[] memory() {
        long[] free = new long[1];
        long[] total = new long[1];
        context.run("cuMemGetInfo", 0, 0, () -> JCudaDriver.cuMemGetInfo(free, total));
        return new long[] {free[0], total[0]};
    }

    private void require(IntSupplier call, String name, long address, long bytes) {
        int code = context.in(call);
        if (code != CudaResult.SUCCESS) {
            throw CudaResult.fault(code, name, address, bytes);
        }
    }
}
