package org.granule.vmm;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.granule.memory.Account;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.StaleTokenException;

/**
 * A range of addresses that was handed out, and what is behind it. Everything but the life cycle is guarded by
 * {@link #turn}, which only operations on this very reservation wait for.
 */
final class Reservation {

    final long address;
    /** As asked for; what a user may touch. */
    final long bytes;
    /** Rounded up to whole granules; what the address space gave. */
    final long span;

    final long granuleBytes;
    final Extents extents;
    final ReentrantLock turn = new ReentrantLock();
    final MappingTable table;
    final CommittedRanges committed = new CommittedRanges();

    /** Whether it is a plain block, committed as a whole, which may be kept mapped after its release. */
    final boolean block;

    private final int shift;
    private Account account;
    /** Also changed by who settles what is stuck, without the turn. */
    private final AtomicLong mappedBytes = new AtomicLong();

    private final AtomicLong leftBytes = new AtomicLong();
    /** Why part of it is stuck; once set, its addresses never return. */
    private MemoryException tainted;
    /** Whether memory was ever mapped into it that is not its own. */
    private boolean attached;

    private volatile boolean live = true;

    Reservation(
            long address, long bytes, long span, long granuleBytes, Extents extents, boolean block, Account account) {
        this.address = address;
        this.bytes = bytes;
        this.span = span;
        this.granuleBytes = granuleBytes;
        this.shift = Long.numberOfTrailingZeros(granuleBytes);
        this.extents = extents;
        this.block = block;
        this.account = account;
        this.table = new MappingTable(span >>> shift);
    }

    Account account() {
        return account;
    }

    /** Gives a kept block to its next user. Only while nobody else can reach it. */
    void handTo(Account next) {
        account = next;
        live = true;
    }

    /** Ends its use; whoever calls holds the turn or is the only one to know it. */
    void end() {
        live = false;
    }

    boolean isLive() {
        return live;
    }

    void requireLive() {
        if (!live) {
            throw new StaleTokenException("the memory at 0x" + Long.toHexString(address) + " was released");
        }
    }

    void requireWithin(long offset, long length) {
        if (offset < 0 || length <= 0 || offset > bytes - length) {
            throw new InvalidRequestException("offset " + offset + " with " + length
                    + " bytes is outside the reservation: offset from 0, length from 1, together at most " + bytes);
        }
    }

    void requireWholeGranules(long offset, long length) {
        long mask = granuleBytes - 1;
        if (offset < 0 || length <= 0 || offset > span - length || (offset & mask) != 0 || (length & mask) != 0) {
            throw new InvalidRequestException(
                    "offset " + offset + " with " + length + " bytes: both must be multiples of " + granuleBytes
                            + ", length from " + granuleBytes + ", together at most " + span);
        }
    }

    long firstGranule(long offset) {
        return offset >>> shift;
    }

    /** The granule after the last one that a range touches. */
    long endGranule(long offset, long length) {
        return (offset + length - 1 >>> shift) + 1;
    }

    long addressOf(long granule) {
        return address + (granule << shift);
    }

    long sizeOf(long granules) {
        return granules << shift;
    }

    long mappedBytes() {
        return mappedBytes.get();
    }

    void addMapped(long bytes) {
        mappedBytes.addAndGet(bytes);
    }

    /** Whether anything of it was ever left in quarantine; its addresses then never return. */
    boolean isTainted() {
        return tainted != null;
    }

    /** The first error that left something of it in quarantine, or null. */
    MemoryException taintedBy() {
        return tainted;
    }

    /** What of it is in quarantine now. */
    long leftBytes() {
        return leftBytes.get();
    }

    /** Notes bytes that went into quarantine. */
    void leave(long bytes, MemoryException cause) {
        tainted = tainted == null ? cause : tainted;
        leftBytes.addAndGet(bytes);
    }

    /** Notes bytes that came out of quarantine and are gone. */
    void settle(long bytes) {
        leftBytes.addAndGet(-bytes);
    }

    boolean wasAttached() {
        return attached;
    }

    void attached() {
        attached = true;
    }
}
