package org.granule.cuda.vmm;

import java.util.function.IntSupplier;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/**
 * The primary context of a device, and how a thread enters it for a call. Calls are made as if no capture went on:
 * what they do is never part of a user's graph, and a capture elsewhere does not forbid them.
 */
final class CudaContext implements AutoCloseable {

    private final int ordinal;
    private final CUdevice device = new CUdevice();
    private final CUcontext context = new CUcontext();

    /** Told once when a call finds the device lost. */
    private volatile Runnable onLost = () -> {};

    private volatile boolean lost;
    private volatile boolean closed;

    /**
     * Where a thread's calls leave what they do not need. No class of this bundle: what a thread keeps would keep the
     * bundle's class loader after an update.
     */
    private static final ThreadLocal<CUcontext> LEFT = ThreadLocal.withInitial(CUcontext::new);

    private static final ThreadLocal<int[]> MODE = ThreadLocal.withInitial(() -> new int[1]);

    CudaContext(int ordinal) {
        this.ordinal = ordinal;
        require("cuDeviceGet", CudaResult.of(() -> JCudaDriver.cuDeviceGet(device, ordinal)));
        require("cuDevicePrimaryCtxRetain", CudaResult.of(() -> JCudaDriver.cuDevicePrimaryCtxRetain(context, device)));
    }

    int ordinal() {
        return ordinal;
    }

    CUcontext handle() {
        return context;
    }

    /** Sets who is told when the device is lost. */
    void onLost(Runnable listener) {
        onLost = listener;
    }

    /** Makes calls in the context and returns their result code. */
    int in(IntSupplier calls) {
        if (closed) {
            return CudaResult.CONTEXT_IS_DESTROYED;
        }
        int[] mode = MODE.get();
        int code = CudaResult.of(() -> JCudaDriver.cuCtxPushCurrent(context));
        if (code != CudaResult.SUCCESS) {
            // What says of a user's stream that its context is gone says of our own context that the device is lost.
            if (CudaResult.saysContextIsGone(code)) {
                lose();
            }
            return noted(code);
        }
        try {
            mode[0] = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;
            code = CudaResult.of(() -> JCudaDriver.cuThreadExchangeStreamCaptureMode(mode));
            if (code != CudaResult.SUCCESS) {
                return noted(code);
            }
            try {
                return noted(CudaResult.of(calls));
            } finally {
                CudaResult.of(() -> JCudaDriver.cuThreadExchangeStreamCaptureMode(mode));
            }
        } finally {
            CudaResult.of(() -> JCudaDriver.cuCtxPopCurrent(LEFT.get()));
        }
    }

    /** Makes calls in the context that must succeed. */
    void run(String call, long address, long bytes, IntSupplier calls) {
        requireWorking(call);
        int code = in(calls);
        if (code != CudaResult.SUCCESS) {
            throw CudaResult.fault(code, call, address, bytes);
        }
    }

    void requireWorking(String call) {
        if (lost || closed) {
            throw new DriverFaultException(
                    Kind.DEVICE_LOST,
                    call + ": the device cuda:" + ordinal + (lost ? " is lost" : "'s allocator has ended"));
        }
    }

    /** Looks whether a result means that the device is lost, and tells it once. */
    private int noted(int code) {
        if (CudaResult.isLost(code)) {
            lose();
        }
        return code;
    }

    /** Tells it before anybody can see it: what a fence then lets go must not reach the driver. */
    private void lose() {
        if (!lost) {
            onLost.run();
            lost = true;
        }
    }

    boolean isLost() {
        return lost;
    }

    /** Whether nothing of it can be asked any more. */
    boolean hasEnded() {
        return lost || closed;
    }

    /** Ends the context with all that is in it; the way out for a lost device. Returns the result code. */
    int reset() {
        return CudaResult.of(() -> JCudaDriver.cuDevicePrimaryCtxReset(device));
    }

    /** Gives the context up; it ends with its last holder. */
    @Override
    public void close() {
        closed = true;
        CudaResult.of(() -> JCudaDriver.cuDevicePrimaryCtxRelease(device));
    }

    private void require(String call, int code) {
        if (code != CudaResult.SUCCESS) {
            throw CudaResult.fault(code, call + " of device " + ordinal, 0, 0);
        }
    }
}
