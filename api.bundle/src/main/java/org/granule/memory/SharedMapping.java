package org.granule.memory;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * One piece of memory mapped at several addresses: a prefix that many sequences have in common. It is
 * owned once and mapped many times; the last one out frees it, in whatever order they go.
 *
 * <p>A prefix is made of whole granules that its creator has committed and written. Its owned bytes stay
 * charged to the creator's account until they are gone, also when the creator has left before the others.
 * The creator keeps its own mapping, writable; every other mapping is read-only.
 *
 * <p>Prefix numbers are issued by the allocator and never used again.
 */
@ConsumerType
public interface SharedMapping {

    /**
     * Makes a prefix of committed granules. Nothing is copied and nothing is charged.
     *
     * @param address the creator's reservation, made with {@link Extents#PIECES}
     * @param offset a multiple of the granule
     * @param length a positive multiple of the granule, all committed
     * @return the prefix, which holds on to its memory until {@link #retire}
     * @throws InvalidRequestException when the range is not whole committed granules
     */
    long share(long address, long offset, long length);

    /**
     * Prices one more mapping.
     *
     * @param prefix a prefix that is not retired
     * @param account who would map it
     * @return owned bytes that the mapping would charge: 0, since it can really be mapped
     * @throws NotSupportedException when it cannot be mapped: another device, ledger or mechanism
     */
    long price(long prefix, Account account);

    /**
     * Maps a prefix read-only into a reservation and charges its account the mapped bytes, all of it or
     * nothing.
     *
     * @param prefix a prefix that is not retired
     * @param address a reservation of this allocator
     * @param offset a multiple of the granule, where nothing is committed
     * @throws InvalidRequestException when the range is not free
     * @throws NotSupportedException when the prefix cannot be mapped there
     * @throws DriverFaultException when the device refuses at some granule; nothing of this call stays
     */
    void map(long prefix, long address, long offset);

    /**
     * Releases a mapping. Mappings that are left are released with their reservation.
     *
     * @param prefix as mapped
     * @param address as mapped
     * @param offset as mapped
     * @return what became of it; {@link ReleaseOutcome.Failed} when it was not mapped there
     */
    ReleaseOutcome unmap(long prefix, long address, long offset);

    /**
     * Ends the prefix: nobody can map it any more. Its memory stays for those who have.
     *
     * @param prefix as issued
     * @return what became of it; {@link ReleaseOutcome.Failed} when it was retired before
     */
    ReleaseOutcome retire(long prefix);

    /**
     * Replaces shared granules by copies that the reservation's account owns and may write.
     *
     * @param address the reservation of a sharer
     * @param offset a multiple of the granule
     * @param length a positive multiple of the granule; granules that are private already stay
     * @throws BudgetExceededException when the account refuses; nothing changed
     * @throws DriverFaultException when the device refuses; nothing changed
     */
    void privatise(long address, long offset, long length);
}
