package org.granule.governor;

import java.util.List;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.osgi.annotation.versioning.ProviderType;
import org.osgi.framework.ServiceReference;

/**
 * Binds allocators and issues identities. What it knows of an allocator is what the framework says of the
 * service, never what the object says of itself.
 */
@ProviderType
public interface AllocationRegistry {

    /**
     * Binds an allocator for the life of one generation.
     *
     * @param holder the provider's name; it can have one open binding for each generation
     * @param generation the provider's generation
     * @param reference the service as the framework knows it
     * @param allocator the service object that the holder got for this reference
     * @param device the device that it must serve
     * @return the binding
     * @throws org.granule.memory.DeviceMismatchException when it serves another device; no other method was
     *     called
     * @throws org.granule.memory.BindingRefusedException when this generation has bound an allocator
     *     already, the service is gone, remote, or registered for another bundle's object; no method was
     *     called
     * @throws org.granule.memory.AllocatorFaultException when {@code device()} threw or answered null
     */
    Binding bind(
            String holder,
            long generation,
            ServiceReference<DeviceAllocator> reference,
            DeviceAllocator allocator,
            DeviceKey device);

    /**
     * Describes a service without calling it.
     *
     * @param reference an allocator
     * @return what the framework and this registry know
     */
    AllocatorDTO describe(ServiceReference<?> reference);

    /**
     * Lists all allocator services, those included that cannot be used and why.
     *
     * @return best first
     */
    List<AllocatorDTO> allocators();

    /**
     * Lists the bindings that are not closed.
     *
     * @return by serial
     */
    List<BindingDTO> bindings();

    /**
     * Lists live, pending and quarantined allocations.
     *
     * @return by binding and age
     */
    List<AllocationDTO> allocations();

    /**
     * Tries once more to release an allocation that is quarantined, such as one whose session was dropped.
     *
     * @param token as listed
     * @return what became of it
     * @throws org.granule.memory.StaleTokenException when no such allocation is quarantined
     * @throws org.granule.memory.NotSupportedException when its allocator is gone, or it was released in
     *     part and only the allocator knows the rest
     */
    ReleaseOutcome settle(long token);

    /**
     * Asks the bound allocators of a device to give idle memory back.
     *
     * @param device which
     * @param bytes how much is wanted, at least 1
     * @return owned bytes that were given back
     */
    long trim(DeviceKey device, long bytes);

    /**
     * Describes the devices that have a bound allocator.
     *
     * @return by device
     */
    List<DeviceDTO> devices();

    /**
     * Compares books and device for each device that has a bound allocator.
     *
     * @return by device; an allocator that failed is named in the result and keeps no other from being compared
     */
    List<ReconciliationDTO> reconcile();

    /**
     * Compares the books of a device's bound allocators with the device, and their sum with the ledger. The ledger
     * is compared when all these allocators can be inspected and what is owned stands still for a moment.
     *
     * @param device which
     * @return what was found
     * @throws org.granule.memory.InvalidRequestException when no allocator of this device is bound
     */
    ReconciliationDTO reconcile(DeviceKey device);
}
