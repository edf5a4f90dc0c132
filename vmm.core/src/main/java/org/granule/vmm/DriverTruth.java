package org.granule.vmm;

/** What the device itself says, asked past the engine's books. A driver may answer from a snapshot. */
public interface DriverTruth {
    /** Whether the handle exists with this size. */
    boolean exists(long handle, long bytes);

    /** Whether just this handle is mapped at an address over its whole size. */
    boolean maps(long address, long bytes, long handle);

    /** Whether anything is mapped at the granule that starts here. */
    boolean isMapped(long address);
}
