package org.granule.memory;

import java.util.Optional;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Memory of one device. Register an implementation as an OSGi service with the property
 * {@value #DEVICE_PROPERTY}; a provider binds it, and from then on every request of that provider's
 * users comes here.
 *
 * <pre>{@code
 * @Component(property = "granule.device=host:0")
 * public class MallocAllocator implements DeviceAllocator {
 *     public DeviceKey device() { return new DeviceKey("host", 0); }
 *     public long allocate(long bytes, long alignment, Account account) { ... }
 *     public ReleaseOutcome release(long address, long bytes, long alignment, Account account) { ... }
 * }
 * }</pre>
 *
 * <h2>What an implementation may rely on</h2>
 *
 * Sizes are at least 1 and do not overflow when rounded up to the alignment; alignments are powers of
 * two; a released address was handed out by this object, is released once, and comes with the size,
 * alignment and account of its allocation. Calls come from any thread, several at once, and never
 * while the platform holds a lock.
 *
 * <h2>What it must keep</h2>
 *
 * <ul>
 *   <li>Live ranges never overlap.
 *   <li>A refused or failed request leaves nothing behind and nothing charged.
 *   <li>Memory that passes from one account to another does not show the former one's bytes.
 *   <li>No account, and nothing that was passed in, is kept after it is of no more use.
 * </ul>
 *
 * An unchecked exception out of any method is contained: the caller sees an {@link
 * AllocatorFaultException} and the ledger is as before.
 */
@ConsumerType
public interface DeviceAllocator {

    /** Service property with the text form of the {@link DeviceKey}; a claim that binding verifies. */
    String DEVICE_PROPERTY = "granule.device";

    /** Service property that names the mechanism for people and filters, such as {@code host-vmm}. */
    String MECHANISM_PROPERTY = "granule.mechanism";

    /** Service property that lists the facets an allocator offers, for people and filters. */
    String FACETS_PROPERTY = "granule.facets";

    /** Service property with a name of the device for people, such as {@code NVIDIA H200}. Optional. */
    String DEVICE_NAME_PROPERTY = "granule.device.name";

    /**
     * Returns the device. The answer never changes. It is the only method that is called before a
     * provider has accepted the allocator.
     *
     * @return the device, never null
     */
    DeviceKey device();

    /**
     * Hands out memory that can be read and written at once, over its whole length.
     *
     * @param bytes at least 1
     * @param alignment a power of two, at least 1
     * @param account where to charge, when {@link #commitsOnDemand()}
     * @return the address, a multiple of the alignment, never 0
     * @throws BudgetExceededException when the account refuses
     * @throws DriverFaultException when the device refuses
     */
    long allocate(long bytes, long alignment, Account account);

    /**
     * Takes memory or a whole reservation back.
     *
     * @param address as handed out by {@link #allocate} or {@link VirtualBacking#reserve}
     * @param bytes as asked for there
     * @param alignment as asked for there
     * @param account as given there
     * @return what became of it; never null. An exception counts as {@link ReleaseOutcome.Quarantined}
     *     with everything still owned, since nobody can say how far the release got
     */
    ReleaseOutcome release(long address, long bytes, long alignment, Account account);

    /**
     * Tells who charges. An allocator that answers true charges the account itself, when physical
     * memory comes and goes. For one that answers false, the caller charges the length that was asked
     * for, as owned and as mapped. The answer never changes. An allocator with {@link VirtualBacking}
     * answers true.
     *
     * @return whether this allocator charges
     */
    default boolean commitsOnDemand() {
        return false;
    }

    /**
     * Returns the facet that separates addresses from memory.
     *
     * @return the same object at every call, or empty
     */
    default Optional<VirtualBacking> virtualBacking() {
        return Optional.empty();
    }

    /**
     * Returns the facet that maps one piece of memory several times. Present only where physical pieces
     * are handles that can be mapped.
     *
     * @return the same object at every call, or empty
     */
    default Optional<SharedMapping> sharedMapping() {
        return Optional.empty();
    }

    /**
     * Returns the facet that moves bytes. Without it, bytes can be moved only on a device of kind {@link
     * DeviceKey#HOST}.
     *
     * @return the same object at every call, or empty
     */
    default Optional<Transfer> transfer() {
        return Optional.empty();
    }

    /**
     * Returns the facet that shows what the allocator holds and compares its books with the device.
     *
     * @return the same object at every call, or empty
     */
    default Optional<DeviceInspection> inspection() {
        return Optional.empty();
    }

    /**
     * Gives idle memory back to the device: what is kept for reuse and belongs to nobody.
     *
     * @param bytes how much is wanted, at least 1; {@link Long#MAX_VALUE} for all
     * @return how many owned bytes left the {@linkplain Account#idle() idle account}, possibly more than
     *     asked for, 0 when there is nothing to give
     */
    default long trim(long bytes) {
        return 0;
    }
}
