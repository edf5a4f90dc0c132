package org.granule.cuda.vmm;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.JCudaDriver;
import org.granule.memory.Fence;

/** Fences of streams. Events are used again once their fence is passed. */
final class CudaFences {

    private final CudaContext context;
    private final Set<CUevent> all = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedDeque<CUevent> idle = new ConcurrentLinkedDeque<>();

    CudaFences(CudaContext context) {
        this.context = context;
    }

    Fence fence(CUstream stream) {
        return isCapturing(stream) ? new AfterCapture(stream) : new AtEvent(stream);
    }

    private boolean isCapturing(CUstream stream) {
        int[] status = new int[1];
        context.run("cuStreamIsCapturing", 0, 0, () -> JCudaDriver.cuStreamIsCapturing(stream, status));
        return status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
    }

    /** Gives all events up; what still waits for one has ended with its device. */
    void close() {
        context.in(() -> {
            int first = CudaResult.SUCCESS;
            for (var event : all) {
                int code = CudaResult.of(() -> JCudaDriver.cuEventDestroy(event));
                first = first == CudaResult.SUCCESS ? code : first;
            }
            return first;
        });
        all.clear();
        idle.clear();
    }

    private CUevent event() {
        var event = idle.pollFirst();
        if (event != null) {
            return event;
        }
        var made = new CUevent();
        context.run(
                "cuEventCreate", 0, 0, () -> JCudaDriver.cuEventCreate(made, CUevent_flags.CU_EVENT_DISABLE_TIMING));
        all.add(made);
        return made;
    }

    /**
     * Work that is in a stream. When its device is lost or its allocator has ended the fence is passed: no work runs any
     * more, and what is let go then does not reach the driver.
     */
    private final class AtEvent implements Fence {

        /** Null once passed. */
        private CUevent event;

        AtEvent(CUstream stream) {
            var recorded = event();
            try {
                context.run("cuEventRecord", 0, 0, () -> JCudaDriver.cuEventRecord(recorded, stream));
            } catch (RuntimeException e) {
                idle.addFirst(recorded);
                throw e;
            }
            event = recorded;
        }

        @Override
        public synchronized boolean passed() {
            if (event == null || context.hasEnded()) {
                return true;
            }
            if (context.in(() -> JCudaDriver.cuEventQuery(event)) != CudaResult.SUCCESS) {
                return context.hasEnded();
            }
            idle.addFirst(event);
            event = null;
            return true;
        }
    }

    /**
     * A capture that goes on, which ends with its graph or by failing, and then the work that was in the stream before
     * it. A next capture in the same stream is taken for the same one when nobody asked in between.
     */
    private final class AfterCapture implements Fence {

        private final CUstream stream;
        private Fence before;

        AfterCapture(CUstream stream) {
            this.stream = stream;
        }

        @Override
        public synchronized boolean passed() {
            if (context.hasEnded()) {
                return true;
            }
            if (before == null) {
                if (isCapturing(stream)) {
                    return false;
                }
                before = new AtEvent(stream);
            }
            return before.passed();
        }
    }
}
