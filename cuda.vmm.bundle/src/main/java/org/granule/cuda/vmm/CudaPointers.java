package org.granule.cuda.vmm;

import jcuda.driver.CUdeviceptr;

/** Plain addresses as JCuda takes them. */
final class CudaPointers {

    private static final CUdeviceptr NULL = new CUdeviceptr();

    private CudaPointers() {}

    /** A pointer to any address, of the device or of the host. */
    static CUdeviceptr to(long address) {
        return NULL.withByteOffset(address);
    }
}
