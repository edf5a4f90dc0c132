package org.granule.vmm;

/** What the device itself says, asked past the engine's books. A driver may answer from a snapshot. */
public interface DriverTruth {

    /**
     * Tells whether the handle exists with this size.
     *
     * @param handle any value
     * @param bytes its size
     * @return whether it does
     */
    boolean exists(long handle, long bytes);

    /**
     * Tells whether just this handle is mapped at an address over its whole size.
     *
     * @param address where, a multiple of the granule
     * @param bytes the handle's size
     * @param handle any value
     * @return whether it is
     */
    boolean maps(long address, long bytes, long handle);

    /**
     * Tells whether anything is mapped at the granule that starts here.
     *
     * @param address a multiple of the granule
     * @return whether something is
     */
    boolean isMapped(long address);
}
