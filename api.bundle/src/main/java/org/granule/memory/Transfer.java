package org.granule.memory;

import java.lang.foreign.MemorySegment;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Moves bytes on a device. The platform has checked that the ranges are live and accessible and holds
 * them for the time of the call. Each method returns when the work is done.
 */
@ConsumerType
public interface Transfer {

    /**
     * Writes one value to every byte of a range.
     *
     * @param address first byte
     * @param bytes at least 1
     * @param value the byte
     */
    void fill(long address, long bytes, byte value);

    /**
     * Copies within the device. The ranges may overlap.
     *
     * @param target first byte to write
     * @param source first byte to read
     * @param bytes at least 1
     */
    void copy(long target, long source, long bytes);

    /**
     * Copies from Java memory to the device.
     *
     * @param target first byte to write
     * @param source all of it is copied
     */
    void copyIn(long target, MemorySegment source);

    /**
     * Copies from the device to Java memory.
     *
     * @param target all of it is written
     * @param source first byte to read
     */
    void copyOut(MemorySegment target, long source);

    /** Waits until all work of this facet is done. */
    void synchronise();
}
