package org.granule.governor;

import java.util.ArrayList;
import java.util.List;
import org.osgi.dto.DTO;

/** A device with a bound allocator, by the device, by its allocators, and by the ledger. Sizes in bytes. */
public class DeviceDTO extends DTO {

    /** Creates an empty DTO. */
    public DeviceDTO() {}

    /** The device, such as {@code host:0}. */
    public String device;
    /** Its name for people, from the property {@code granule.device.name} of an allocator; null when none has it. */
    public String name;
    /** The bound allocators. */
    public List<AllocatorDTO> allocators = new ArrayList<>();
    /** How many of these can be inspected. The ledger alone knows of the others. */
    public int inspected;

    /** Memory of the device, by the device; −1 when it cannot say. */
    public long totalBytes;
    /** Memory that is free, by the device; −1 when it cannot say. */
    public long freeBytes;

    /** Physical memory by the books of all allocators that can be inspected; −1 when none can. */
    public long ownedBytes;
    /** What is mapped, by the same; −1 when none can. */
    public long mappedBytes;
    /** What waits for reuse, by the same; −1 when none can. */
    public long pooledBytes;
    /** What could not be given back, by the same; −1 when none can. */
    public long quarantinedBytes;

    /** Physical memory by the ledger, of all allocators and leases. */
    public long ledgerOwnedBytes;
    /** What is mapped, by the ledger. */
    public long ledgerMappedBytes;
    /** What waits for reuse, by the ledger. */
    public long ledgerPooledBytes;
    /** What is in quarantine, by the ledger. */
    public long ledgerQuarantinedBytes;

    /** What the last reconciliation found to differ, −1 when there was none. */
    public long differenceBytes;
}
