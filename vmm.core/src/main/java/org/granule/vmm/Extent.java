package org.granule.vmm;

import java.util.concurrent.atomic.AtomicInteger;
import org.granule.memory.Account;

/**
 * One physical handle. Whoever uses it, a mapping or a prefix, holds one use; the one who gives the last use
 * back decides what becomes of it.
 */
final class Extent {

    final long handle;
    final long bytes;

    /** Mappings and prefixes that hold it. */
    private final AtomicInteger uses = new AtomicInteger(1);

    /** Who is charged for it as owned. Changes only while a single thread has the only use. */
    private volatile Account owner;

    /** Whose bytes it may show; null while it reads as zeroes. */
    private Account lastWriter;

    Extent(long handle, long bytes, Account owner) {
        this.handle = handle;
        this.bytes = bytes;
        this.owner = owner;
    }

    /** The reservation that it was unmapped from when it could not be released, or null. */
    private volatile Reservation leftBy;

    Reservation leftBy() {
        return leftBy;
    }

    void leftBy(Reservation reservation) {
        leftBy = reservation;
    }

    Account owner() {
        return owner;
    }

    void charge(Account account) {
        owner = account;
    }

    /** Tells whether it must be scrubbed before this account sees it. */
    boolean mustScrubFor(Account account) {
        return lastWriter != null && lastWriter != account;
    }

    /** Notes who may write it from now on; after scrubbing, when that is needed. */
    void writtenBy(Account account) {
        lastWriter = account;
    }

    /** Whether nobody has ever been able to write it. */
    boolean isFresh() {
        return lastWriter == null;
    }

    boolean wasWrittenBy(Account account) {
        return lastWriter == account;
    }

    void use() {
        uses.incrementAndGet();
    }

    /** Gives a use back; true for the last one. */
    boolean dropUse() {
        return uses.decrementAndGet() == 0;
    }

    /** Starts a new life with one use, after the last one was given back. */
    void reuse() {
        uses.set(1);
    }

    boolean isShared() {
        return uses.get() > 1;
    }
}
