package org.granule.conformance;

import java.util.OptionalInt;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;

/** An allocator under test, and what its device can be asked and made to do beside the contract. */
interface Subject extends AutoCloseable {

    /** Returns the allocator, the same at every call. */
    DeviceAllocator allocator();

    /** Returns the device. */
    default DeviceKey device() {
        return allocator().device();
    }

    /** Returns whether it brings virtual backing and shared mapping. */
    boolean isLazy();

    /** Returns what a size is best a multiple of: the granule, where there is one. */
    long unit();

    /** Returns how much memory there is in all. */
    long physicalBytes();

    /**
     * Asserts that the device agrees with the ledger.
     *
     * @param owned physical bytes of all accounts, those of the idle account included
     * @param mapped reachable bytes of all accounts
     * @param idle the idle account's part of the owned bytes
     */
    void checkDevice(long owned, long mapped, long idle);

    /** Returns where the driver can be made to fail; null for a mechanism without one. */
    GateDriver gate();

    /** Returns how many free spans of addresses it has; empty for one that keeps no addresses. */
    OptionalInt freeSpans();

    /** Returns whether a write to this address would succeed. */
    boolean isWritable(long address);

    /** Writes a byte as queued work of the device would; an assertion fails where that would fault. */
    void touch(long address, byte value);

    /** Tries once more to give back what the allocator has in quarantine. */
    void settle();

    /** Ends the context of a lost device, and tells the allocator. Returns what settled by that. */
    long endContext();

    /** Ends it, whatever state it is in. */
    @Override
    void close();
}
