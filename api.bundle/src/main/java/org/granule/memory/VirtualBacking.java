package org.granule.memory;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * Address ranges whose memory comes and goes while the address stays.
 *
 * <p>A reservation has a number of <em>committed ranges</em>, in bytes. Physical memory comes in whole
 * granules: a granule exists while at least one byte of it is committed, and is charged once however
 * many ranges touch it. All offsets count from the start of the reservation. A reservation is given
 * back, with whatever is committed, by {@link DeviceAllocator#release}.
 *
 * <p>Memory that is committed reads as zeroes until it is written, unless the reservation's own account
 * had it before; then its content is undefined. It never shows another account's bytes.
 *
 * <p>Calls for different reservations may run at once and do not wait for each other; calls for one
 * reservation take turns.
 */
@ConsumerType
public interface VirtualBacking {

    /**
     * Returns the size of a granule.
     *
     * @return bytes, a power of two; the answer never changes
     */
    long granuleBytes();

    /**
     * Reserves addresses and commits some ranges of them, both or neither.
     *
     * @param bytes at least 1; rounded up to whole granules
     * @param alignment a power of two
     * @param committed what to commit at once, within {@code bytes}
     * @param extents how its memory will be taken away again
     * @param account charged for memory that is committed here, now and later
     * @return the address, never 0
     * @throws BudgetExceededException when the account refuses the committed part
     * @throws DriverFaultException when the device refuses; nothing is left behind
     */
    long reserve(long bytes, long alignment, Ranges committed, Extents extents, Account account);

    /**
     * Puts memory behind a range. What is committed already stays as it is, contents included.
     *
     * @param address the reservation
     * @param offset first byte, at least 0
     * @param length bytes, at least 1, within the reservation
     * @throws BudgetExceededException when the account refuses; nothing changed
     * @throws DriverFaultException when the device refuses; nothing changed, or what could not be undone is
     *     in quarantine and the message says so
     */
    void commit(long address, long offset, long length);

    /**
     * Takes memory away from a range. A granule leaves when no committed byte of it is left; an extent of
     * several granules leaves as a whole, when none of its granules is needed.
     *
     * @param address the reservation
     * @param offset first byte, at least 0
     * @param length bytes, at least 1, within the reservation; parts that are not committed are skipped
     * @return the bytes that left, as {@link ReleaseOutcome.Complete}; or {@link ReleaseOutcome.Failed}
     *     when nothing changed; or {@link ReleaseOutcome.Quarantined} with what left and what stays owned
     */
    ReleaseOutcome decommit(long address, long offset, long length);

    /**
     * Returns how much physical memory is behind a reservation, shared mappings included.
     *
     * @param address the reservation
     * @return mapped bytes, whole granules
     */
    long committedBytes(long address);

    /**
     * Returns how much of it the reservation brought into being: without what is mapped from prefixes, which
     * others own as well.
     *
     * @param address the reservation
     * @return owned bytes, whole granules, at most {@link #committedBytes}
     */
    default long ownedBytes(long address) {
        return committedBytes(address);
    }

    /**
     * Returns what committing a set of ranges would map where nothing is committed yet. It is never below
     * what {@link #commit} then charges: the union of the granules that the ranges touch.
     *
     * @param ranges offsets from the start of a reservation
     * @return bytes, whole granules
     * @throws InvalidRequestException when the union exceeds {@link Long#MAX_VALUE}
     */
    long estimate(Ranges ranges);

    /**
     * Returns what may be done with every byte of a range.
     *
     * @param address the reservation
     * @param offset first byte, at least 0
     * @param length bytes, at least 1, within the reservation
     * @return the weakest access of any byte in it; {@link Access#NONE} when one is not committed
     */
    Access access(long address, long offset, long length);

    /**
     * Returns how many calls the device's driver got since the start, for those who judge costs.
     *
     * @return a count, or −1 when it is not kept
     */
    default long driverCalls() {
        return -1;
    }
}
