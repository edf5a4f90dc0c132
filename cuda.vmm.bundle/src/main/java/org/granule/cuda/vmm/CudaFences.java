package org.granule.cuda.vmm;

import java.util.concurrent.ConcurrentLinkedDeque;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.JCudaDriver;
import org.granule.memory.Fence;

/** Fences of streams. Events are used again once their fence is passed. */
final class CudaFences {

    private static final int NOT_CAPTURING = CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;

    private final CudaContext context;
    private final ConcurrentLinkedDeque<CUevent> idle = new ConcurrentLinkedDeque<>();

    CudaFences(CudaContext context) {
        this.context = context;
    }

    Fence fence(CUstream stream) {
        int[] status = new int[1];
        context.run("cuStreamIsCapturing", 0, 0, () -> JCudaDriver.cuStreamIsCapturing(stream, status));
        return status[0] == NOT_CAPTURING ? new AtEvent(stream) : new AfterCapture(stream);
    }

    /** Gives the events up that no fence uses. */
    void close() {
        context.in(() -> {
            int first = CudaResult.SUCCESS;
            for (var event = idle.pollFirst(); event != null; event = idle.pollFirst()) {
                int code = JCudaDriver.cuEventDestroy(event);
                first = first == CudaResult.SUCCESS ? code : first;
            }
            return first;
        });
    }

    /** Work that is in a stream. */
    private final class AtEvent implements Fence {

        /** Null once passed. */
        private CUevent event;

        AtEvent(CUstream stream) {
            context.run("cuEventRecord", 0, 0, () -> {
                event = idle.pollFirst();
                if (event == null) {
                    event = new CUevent();
                    int code = JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING);
                    if (code != CudaResult.SUCCESS) {
                        return code;
                    }
                }
                return JCudaDriver.cuEventRecord(event, stream);
            });
        }

        /** On a lost device it is never passed: its memory waits for the end of the context. */
        @Override
        public synchronized boolean passed() {
            if (event == null) {
                return true;
            }
            if (context.isLost() || context.in(() -> JCudaDriver.cuEventQuery(event)) != CudaResult.SUCCESS) {
                return false;
            }
            idle.addFirst(event);
            event = null;
            return true;
        }
    }

    /**
     * A capture that goes on, which ends with its graph or by failing. A next capture in the same stream is taken for
     * the same one when nobody asked in between.
     */
    private final class AfterCapture implements Fence {

        private final CUstream stream;
        private volatile boolean ended;

        AfterCapture(CUstream stream) {
            this.stream = stream;
        }

        @Override
        public boolean passed() {
            if (!ended && !context.isLost()) {
                int[] status = new int[1];
                int code = context.in(() -> JCudaDriver.cuStreamIsCapturing(stream, status));
                ended = code == CudaResult.SUCCESS && status[0] == NOT_CAPTURING;
            }
            return ended;
        }
    }
}
