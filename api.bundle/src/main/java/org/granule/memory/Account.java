package org.granule.memory;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Where an allocator charges the memory that it brings into being. An account is a node in the tree
 * of budgets of one device; a charge counts at the account and at every node above it, and is
 * refused when it would pass the limit of any of them.
 *
 * <p>Two axes are counted and never added together: <em>owned</em> bytes are physical memory that
 * exists on behalf of the account, mapped or not; <em>mapped</em> bytes are reachable through its
 * addresses, once for each mapping. Only owned bytes are limited.
 *
 * <p>Implementations are thread-safe, make no call to a plugin, and do not block beyond a short
 * critical section when a limit is near.
 */
@ProviderType
public interface Account {

    /**
     * Returns the device whose memory this account counts.
     *
     * @return the device, never null
     */
    DeviceKey device();

    /**
     * Returns the path of this account for people, such as {@code host:0/tenant-a/kv}.
     *
     * @return the path, never null
     */
    String path();

    /**
     * Charges memory. Call it before the memory is taken from the device.
     *
     * @param ownedBytes physical bytes, at least 0
     * @param mappedBytes bytes that become reachable, at least 0
     * @throws BudgetExceededException when a limit would be passed; nothing was charged
     * @throws InvalidRequestException when an argument is negative or a sum overflows; nothing was charged
     */
    void charge(long ownedBytes, long mappedBytes);

    /**
     * Takes a charge back. Call it after the memory is really gone. More than is charged is never
     * refunded: the attempt raises the ledger's alarm and the counter stops at 0.
     *
     * @param ownedBytes physical bytes, at least 0
     * @param mappedBytes bytes no longer reachable, at least 0
     * @throws InvalidRequestException when an argument is negative
     */
    void refund(long ownedBytes, long mappedBytes);

    /**
     * Moves a charge to another account of the same device. The limits above both accounts are not asked
     * again, and there is no moment at which the memory is charged to neither; a reader may see it at both.
     *
     * @param target where the charge goes
     * @param ownedBytes physical bytes, at least 0
     * @param mappedBytes reachable bytes, at least 0
     * @throws BudgetExceededException when a limit of the target below the common node would be passed;
     *     nothing was moved
     * @throws InvalidRequestException when an argument is negative, or the target counts another device
     *     or belongs to another ledger
     */
    void moveTo(Account target, long ownedBytes, long mappedBytes);

    /**
     * Marks charged bytes as quarantined: their release did not finish. They stay owned.
     *
     * @param ownedBytes bytes, at least 0
     */
    void quarantine(long ownedBytes);

    /**
     * Ends the quarantine of bytes that are now really gone, and refunds them as owned.
     *
     * @param ownedBytes bytes, at least 0
     */
    void settle(long ownedBytes);

    /**
     * Returns the account of memory that an allocator keeps for reuse on this device. Its limit is the
     * device's; what it holds can be given back at any time by {@link DeviceAllocator#trim(long)}.
     *
     * @return the device's account of idle memory, the same for all accounts of a device
     */
    Account idle();

    /**
     * Tells whether two accounts are nodes of one tree. Memory can be shared or moved only between such
     * accounts.
     *
     * @param other any account, from this or another ledger
     * @return whether both count the same device in the same ledger
     */
    boolean sameLedger(Account other);
}
