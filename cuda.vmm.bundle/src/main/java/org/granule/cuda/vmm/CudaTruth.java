package org.granule.cuda.vmm;

import java.util.function.IntSupplier;
import org.granule.vmm.DriverTruth;

/** Asks the driver call by call; it has no snapshot of itself. */
final class CudaTruth implements DriverTruth {

    private static final int INVALID_VALUE = 1;
    private static final int INVALID_HANDLE = 400;

    private final DriverLibrary library;
    private final CudaContext context;

    CudaTruth(DriverLibrary library, CudaContext context) {
        this.library = library;
        this.context = context;
    }

    @Override
    public boolean exists(long handle, long bytes) {
        return answers(() -> library.properties(handle), "cuMemGetAllocationPropertiesFromHandle", 0, bytes);
    }

    @Override
    public boolean maps(long address, long bytes, long handle) {
        return holds(address) && library.answer() == handle;
    }

    @Override
    public boolean isMapped(long address) {
        return holds(address);
    }

    /** Whether a handle is mapped at an address; it is then this thread's answer. */
    private boolean holds(long address) {
        boolean mapped = answers(() -> library.retain(address), "cuMemRetainAllocationHandle", address, 0);
        if (mapped) {
            // One more reference was taken, and goes again; the number stays what it is.
            long handle = library.answer();
            CudaResult.require(
                    context.in(() -> library.release(handle)), "cuMemRelease of handle " + handle, address, 0);
        }
        return mapped;
    }

    private boolean answers(IntSupplier question, String call, long address, long bytes) {
        int code = context.in(question);
        if (code == INVALID_VALUE || code == INVALID_HANDLE) {
            return false;
        }
        CudaResult.require(code, call, address, bytes);
        return true;
    }
}
