package org.granule.cuda.vmm;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.driver.CUresult;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/** What the driver's result codes mean here. Names and numbers are those of the driver's header. */
final class CudaResult {

    static final int SUCCESS = 0;
    static final int NOT_READY = 600;
    static final int NO_DEVICE = 100;

    static final int CONTEXT_IS_DESTROYED = 709;

    private static final int OUT_OF_MEMORY = 2;
    private static final int INVALID_CONTEXT = 201;

    /**
     * After one of these a context is of no more use, or the driver itself is gone: deinitialised, uncorrectable memory, hardware errors, illegal addresses and instructions, time-outs, failed launches, lost links.
     */
    private static final Set<Integer> LOST =
            Set.of(4, 46, 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721);

    /** JCuda turns codes into exceptions when somebody in this JVM told it to; their message is the code's name. */
    private static final Map<String, Integer> BY_NAME = byName();

    private CudaResult() {}

    private static Map<String, Integer> byName() {
        var codes = new HashMap<String, Integer>();
        for (int code = 0; code < 1000; code++) {
            codes.putIfAbsent(CUresult.stringFor(code), code);
        }
        return codes;
    }

    /** Makes a call of JCuda and returns its result code. */
    static int of(IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (CudaException e) {
            var code = BY_NAME.get(e.getMessage());
            if (code == null) {
                throw e;
            }
            return code;
        }
    }

    /** Whether a context is invalid or destroyed, which may also be that of a stream that somebody passed. */
    static boolean saysContextIsGone(int code) {
        return code == INVALID_CONTEXT || code == CONTEXT_IS_DESTROYED;
    }

    static boolean isLost(int code) {
        return LOST.contains(code);
    }

    /** Requires that a call succeeded. */
    static void require(int code, String call, long address, long bytes) {
        if (code != SUCCESS) {
            throw fault(code, call, address, bytes);
        }
    }

    static DriverFaultException fault(int code, String call, long address, long bytes) {
        return new DriverFaultException(
                code == OUT_OF_MEMORY ? Kind.OUT_OF_MEMORY : isLost(code) ? Kind.DEVICE_LOST : Kind.INVALID,
                call + " answered " + CUresult.stringFor(code) + " (" + code + "): " + bytes + " bytes at 0x"
                        + Long.toHexString(address));
    }
}
