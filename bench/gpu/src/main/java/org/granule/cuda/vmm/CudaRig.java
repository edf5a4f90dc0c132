package org.granule.cuda.vmm;

import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.granule.memory.Fence;
import org.granule.memory.Transfer;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmDriver;
import org.granule.vmm.VmmSettings;

/** An engine on a card for tests and benchmarks, with something between it and its driver. */
public final class CudaRig implements AutoCloseable {

    /** Held for good: a context takes long to make. */
    private static final class Card {
        static final DriverLibrary LIBRARY = new DriverLibrary();
        static final CudaContext CONTEXT;

        static {
            CudaResult.require(CudaResult.of(() -> JCudaDriver.cuInit(0)), "cuInit", 0, 0);
            CONTEXT = new CudaContext(0);
        }
    }

    private final CudaStreams streams = new CudaStreams(Card.CONTEXT);
    private final CudaFences fences = new CudaFences(Card.CONTEXT);
    private final CudaDriver driver = new CudaDriver(Card.LIBRARY, Card.CONTEXT, streams, DriverLibrary.NO_EXPORT);
    private final Transfer transfer = new CudaTransfer(streams);
    private final VmmAllocator allocator;

    /**
     * Starts an engine on the first card.
     *
     * @param settings of the engine
     * @param between puts something between the engine and its driver
     */
    public CudaRig(VmmSettings settings, UnaryOperator<VmmDriver> between) {
        allocator = new VmmAllocator(between.apply(driver), settings, transfer);
    }

    /** Returns the engine. */
    public VmmAllocator allocator() {
        return allocator;
    }

    /** Returns the driver itself. */
    public VmmDriver driver() {
        return driver;
    }

    /** Returns what moves bytes. */
    public Transfer transfer() {
        return transfer;
    }

    /** Makes a fence. */
    public Fence fence(CUstream stream) {
        return fences.fence(stream);
    }

    /** Makes a call of JCuda in the context, which must succeed. */
    public static void run(String call, IntSupplier calls) {
        Card.CONTEXT.run(call, 0, 0, calls);
    }

    /** Makes the context current for this thread, for good. */
    public static void enter() {
        CudaResult.require(
                CudaResult.of(() -> JCudaDriver.cuCtxSetCurrent(Card.CONTEXT.handle())), "cuCtxSetCurrent", 0, 0);
    }

    @Override
    public void close() {
        fences.close();
        streams.close();
    }
}
