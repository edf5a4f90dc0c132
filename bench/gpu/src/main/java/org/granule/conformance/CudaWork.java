package org.granule.conformance;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.granule.cuda.vmm.CudaRig;

/**
 * A stream whose work a kernel holds back until it is let go. The kernel gives up by itself after 20 seconds, so that
 * a test which fails does not occupy the card.
 */
public final class CudaWork implements AutoCloseable {

    private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final String KERNEL = """
            .version 6.3
            .target sm_75
            .address_size 64
            .visible .entry hold(.param .u64 flag, .param .u64 nanos)
            {
                .reg .pred %done;
                .reg .u32 %seen;
                .reg .u64 %at, %limit, %start, %now;
                ld.param.u64 %at, [flag];
                ld.param.u64 %limit, [nanos];
                mov.u64 %start, %globaltimer;
            again:
                ld.volatile.global.u32 %seen, [%at];
                setp.ne.u32 %done, %seen, 0;
                @%done bra end;
                mov.u64 %now, %globaltimer;
                sub.u64 %now, %now, %start;
                setp.lt.u64 %done, %now, %limit;
                @%done bra again;
            end:
                ret;
            }
            .visible .entry poke(.param .u64 place, .param .u32 word)
            {
                .reg .u32 %value;
                .reg .u64 %at;
                ld.param.u64 %at, [place];
                ld.param.u32 %value, [word];
                st.global.u32 [%at], %value;
                ret;
            }
            """;

    private final CUstream stream = new CUstream();
    private final Pointer flag = new Pointer();
    private final CUdeviceptr flagOnDevice = new CUdeviceptr();
    private final CUfunction kernel = new CUfunction();
    private final CUfunction poke = new CUfunction();

    /** Makes a stream with nothing in it. */
    public CudaWork() {
        var module = new CUmodule();
        var text = (KERNEL + '\0').getBytes(StandardCharsets.US_ASCII);
        CudaRig.run("cuModuleLoadData", () -> JCudaDriver.cuModuleLoadData(module, text));
        CudaRig.run("cuModuleGetFunction", () -> JCudaDriver.cuModuleGetFunction(kernel, module, "hold"));
        CudaRig.run("cuModuleGetFunction", () -> JCudaDriver.cuModuleGetFunction(poke, module, "poke"));
        CudaRig.run("cuStreamCreate", () -> JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        CudaRig.run(
                "cuMemHostAlloc",
                () -> JCudaDriver.cuMemHostAlloc(flag, Integer.BYTES, JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP));
        CudaRig.run("cuMemHostGetDevicePointer", () -> JCudaDriver.cuMemHostGetDevicePointer(flagOnDevice, flag, 0));
    }

    /** Returns the stream. */
    public CUstream stream() {
        return stream;
    }

    /** Holds back what comes into the stream from now on, for at most a time. */
    public CudaWork hold(long nanos) {
        set(0);
        var arguments = Pointer.to(Pointer.to(flagOnDevice), Pointer.to(new long[] {nanos}));
        CudaRig.run(
                "cuLaunchKernel",
                () -> JCudaDriver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, null));
        return this;
    }

    /** Holds back what comes into the stream from now on. */
    public CudaWork hold() {
        return hold(GIVE_UP_NANOS);
    }

    /** Queues a write. */
    public CudaWork fill(long address, long bytes, byte value) {
        CudaRig.run(
                "cuMemsetD8Async",
                () -> JCudaDriver.cuMemsetD8Async(new CUdeviceptr().withByteOffset(address), value, bytes, stream));
        return this;
    }

    /** Writes a word by a kernel, which nobody checks before it runs. */
    public CudaWork poke(long address) {
        var arguments = Pointer.to(Pointer.to(new long[] {address}), Pointer.to(new int[] {1}));
        CudaRig.run(
                "cuLaunchKernel", () -> JCudaDriver.cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, stream, arguments, null));
        return this;
    }

    /** Lets the work go. */
    public void letGo() {
        set(1);
    }

    /** Waits for all work. */
    public void await() {
        CudaRig.run("cuStreamSynchronize", () -> JCudaDriver.cuStreamSynchronize(stream));
    }

    private void set(int value) {
        flag.getByteBuffer(0, Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, value);
    }

    @Override
    public void close() {
        letGo();
        await();
        CudaRig.run("cuStreamDestroy", () -> JCudaDriver.cuStreamDestroy(stream));
        CudaRig.run("cuMemFreeHost", () -> JCudaDriver.cuMemFreeHost(flag));
    }
}
