package org.granule.vmm;

import org.granule.memory.Access;

/**
 * What the engine needs of a device: a handful of primitive operations, each of which does one thing to
 * addresses or to physical memory.
 *
 * <p>The engine keeps the books. A driver keeps none, checks only what the device checks, and is called from
 * any thread, several at once, but never for overlapping ranges or for one handle at once. It is never called
 * while the engine holds a lock that another allocation needs.
 *
 * <p>Every method throws {@link org.granule.memory.DriverFaultException}, and nothing else, when the device
 * refuses; the operation then had no effect, except where the kind is {@code DEVICE_LOST}.
 */
public interface VmmDriver {

    /**
     * Returns the smallest piece of physical memory that can be mapped.
     *
     * @return bytes, a power of two; every size and address below is a multiple of it
     */
    long granuleBytes();

    /**
     * Reserves addresses that nothing else will use, without memory behind them.
     *
     * @param bytes how many
     * @return the first address, never 0
     */
    long reserve(long bytes);

    /**
     * Gives a whole reservation back. Nothing is mapped in it.
     *
     * @param address as reserved
     * @param bytes as reserved
     */
    void free(long address, long bytes);

    /**
     * Creates physical memory that reads as zeroes.
     *
     * @param bytes how much
     * @return a handle, which may be any value
     */
    long create(long bytes);

    /**
     * Maps a whole handle, possibly besides other mappings of it.
     *
     * @param address where, inside a reservation, nothing mapped there
     * @param bytes the handle's size
     * @param handle as created
     */
    void map(long address, long bytes, long handle);

    /**
     * Tells whether {@link #map} makes memory readable and writable. If not, it is inaccessible until {@link
     * #protect}.
     *
     * @return whether a mapping is writable at once
     */
    boolean mapsWritable();

    /**
     * Sets what may be done with mapped memory.
     *
     * @param address first address of a contiguous run of whole mappings
     * @param bytes length of the run
     * @param access read, or read and write
     */
    void protect(long address, long bytes, Access access);

    /**
     * Unmaps a contiguous run of whole mappings. The addresses stay reserved.
     *
     * @param address first address
     * @param bytes length of the run
     */
    void unmap(long address, long bytes);

    /**
     * Gives physical memory back. It is mapped nowhere.
     *
     * @param handle as created
     * @param bytes its size
     */
    void release(long handle, long bytes);

    /**
     * Writes zeroes.
     *
     * @param address first address of a writable run
     * @param bytes its length
     */
    void scrub(long address, long bytes);

    /**
     * Copies between two runs that do not overlap.
     *
     * @param target a writable run
     * @param source a readable run
     * @param bytes length of both
     */
    void copy(long target, long source, long bytes);

    /**
     * Returns what the device says of handles and mappings, at the time of this call or later. Used to look for
     * differences from the engine's books, never by an allocation.
     *
     * @return answers, good for one look
     */
    DriverTruth truth();

    /**
     * Returns how much memory the device has.
     *
     * @return bytes, −1 when it cannot say
     */
    long totalBytes();

    /**
     * Returns how much memory of the device is free, whoever uses the rest.
     *
     * @return bytes, −1 when it cannot say
     */
    long freeBytes();
}
