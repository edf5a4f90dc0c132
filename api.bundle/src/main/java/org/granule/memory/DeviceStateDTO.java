package org.granule.memory;

import org.osgi.dto.DTO;

/** What one allocator holds of its device at one moment. Sizes in bytes. */
public class DeviceStateDTO extends DTO {

    /** Creates an empty DTO. */
    public DeviceStateDTO() {}

    /** Memory of the device, by the device; −1 when it cannot say. */
    public long totalBytes;
    /** Memory that is free, by the device, whoever uses the rest; −1 when it cannot say. */
    public long freeBytes;
    /** All physical memory in the allocator's books: used, kept and quarantined. */
    public long ownedBytes;
    /** Memory reachable through addresses, each mapping counted; what is kept mapped included. */
    public long mappedBytes;
    /** The part of the owned bytes that belongs to nobody and waits for reuse, mapped or not. */
    public long pooledBytes;
    /** The part of the owned bytes that could not be given back. */
    public long quarantinedBytes;
    /** How many changes of the owned bytes have begun since the start. */
    public long changes;
    /**
     * How many of these have not ended. Between two readings with the same {@link #changes}, both with 0 here, the
     * owned bytes and what is charged for them have not changed.
     */
    public long changing;
}
