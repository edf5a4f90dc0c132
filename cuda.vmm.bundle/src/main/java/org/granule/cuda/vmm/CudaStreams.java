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
                var made = stream;
                int code = CudaResult.of(() -> JCudaDriver.cuStreamCreate(made, CUstream_flags.CU_STREAM_NON_BLOCKING));
                if (code != CudaResult.SUCCESS) {
                    return code;
                }
            }
            var used = stream;
            try {
                // Also when JCuda throws in the middle: what was queued is over before anybody gets the stream.
                int code = CudaResult.of(() -> work.applyAsInt(used));
                int ended = CudaResult.of(() -> JCudaDriver.cuStreamSynchronize(used));
                return code == CudaResult.SUCCESS ? ended : code;
            } finally {
                idle.addFirst(used);
            }
        });
    }

    /** Gives the streams up that nobody uses. */
    void close() {
        context.in(() -> {
            int first = CudaResult.SUCCESS;
            for (var stream = idle.pollFirst(); stream != null; stream = idle.pollFirst()) {
                var last = stream;
                int code = CudaResult.of(() -> JCudaDriver.cuStreamDestroy(last));
                first = first == CudaResult.SUCCESS ? code : first;
            }
            return first;
        });
    }
}
