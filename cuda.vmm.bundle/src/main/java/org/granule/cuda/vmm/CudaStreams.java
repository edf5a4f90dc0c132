package org.granule.cuda.vmm;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.ToIntFunction;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * Streams for work that its caller waits for. Each is used by one caller at a time, and none waits for the work of
 * users' streams.
 */
final class CudaStreams {

    private final CudaContext context;
    private final ConcurrentLinkedDeque<CUstream> idle = new ConcurrentLinkedDeque<>();

    CudaStreams(CudaContext context) {
        this.context = context;
    }

    /** Queues work and waits for it. */
    void run(String call, long address, long bytes, ToIntFunction<CUstream> work) {
        context.run(call, address, bytes, () -> {
            var stream = idle.pollFirst();
            if (stream == null) {
                stream = new CUstream();
                int code = JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING);
                if (code != CudaResult.SUCCESS) {
                    return code;
                }
            }
            try {
                int code = work.applyAsInt(stream);
                int ended = JCudaDriver.cuStreamSynchronize(stream);
                return code == CudaResult.SUCCESS ? ended : code;
            } finally {
                idle.addFirst(stream);
            }
        });
    }

    /** Gives the streams up that nobody uses. */
    void close() {
        context.in(() -> {
            int first = CudaResult.SUCCESS;
            for (var stream = idle.pollFirst(); stream != null; stream = idle.pollFirst()) {
                int code = JCudaDriver.cuStreamDestroy(stream);
                first = first == CudaResult.SUCCESS ? code : first;
            }
            return first;
        });
    }
}
