package org.granule.vmm;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;
import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.MemoryException;

/**
 * Physical handles from the pool or the driver, always charged to somebody: to the account that uses them, or
 * to the device's idle account while they wait.
 */
final class PhysicalMemory {

    private final GuardedDriver driver;
    private final HandlePool pool;
    private final Residues residues;

    /** Handles that exist; follows the driver, between the account's charge and refund. */
    private final LongAdder ownedBytes = new LongAdder();

    /** Changes of what the device's accounts are charged in sum: begun, and ended. */
    private final AtomicLong begun = new AtomicLong();

    private final AtomicLong ended = new AtomicLong();

    /** Gives idle memory back when it is short, of which there may be more than unmapped handles. */
    private LongUnaryOperator spare = this::trim;

    PhysicalMemory(GuardedDriver driver, HandlePool pool, Residues residues) {
        this.driver = driver;
        this.pool = pool;
        this.residues = residues;
    }

    /** Sets who gives idle memory back when it is short; once, before the first request. */
    void spare(LongUnaryOperator trim) {
        spare = trim;
    }

    /** Takes a handle with one use, charged as owned. */
    Extent take(long bytes, Account account) {
        driver.requireWorking("commit");
        var idle = pool.take(bytes, account);
        if (idle != null) {
            try {
                idle.owner().moveTo(account, bytes, 0);
            } catch (RuntimeException e) {
                pool.putBack(idle);
                throw e;
            }
            idle.charge(account);
            idle.reuse();
            return idle;
        }
        begun.incrementAndGet();
        try {
            charge(account, bytes);
            try {
                return new Extent(create(bytes), bytes, account);
            } catch (RuntimeException e) {
                account.refund(bytes, 0);
                throw e;
            }
        } finally {
            ended.incrementAndGet();
        }
    }

    /**
     * Refuses a request of several handles that the account cannot have as a whole, before anything is done for it
     * and with the figure that was asked for. Where the device is full, idle memory may still make room.
     */
    void requireRoom(long bytes, Account account) {
        begun.incrementAndGet();
        try {
            account.charge(bytes, 0);
            account.refund(bytes, 0);
        } catch (BudgetExceededException e) {
            if (!isFull(account, e)) {
                throw e;
            }
        } finally {
            ended.incrementAndGet();
        }
    }

    /** Whether it is the device's own limit that stands in the way, where idle memory counts. */
    private static boolean isFull(Account account, BudgetExceededException refusal) {
        return refusal.limitedBy().equals(account.device().toString());
    }

    /** Undoes {@link #take}: nothing was done with the handle. Returns the error when it stays owned, or null. */
    MemoryException untake(Extent extent, boolean fresh) {
        if (fresh || driver.isLost()) {
            return destroy(extent);
        }
        keep(extent);
        pool.putBack(extent);
        return null;
    }

    /**
     * Gives a handle up that is mapped nowhere and whose last use has gone. Memory of the idle account was being
     * kept, and goes for good.
     *
     * @return the error when the handle stays owned, in quarantine, or null
     */
    MemoryException give(Extent extent) {
        var owner = extent.owner();
        if (!driver.isLost() && owner != owner.idle() && pool.admit(extent.bytes)) {
            keep(extent);
            pool.add(extent);
            return null;
        }
        return destroy(extent);
    }

    /** Releases idle handles until enough bytes left the idle account. */
    long trim(long bytes) {
        long trimmed = 0;
        while (trimmed < bytes && !driver.isOutOfReach()) {
            var idle = pool.evict();
            if (idle == null) {
                break;
            }
            if (destroy(idle) == null) {
                trimmed += idle.bytes;
            }
        }
        return trimmed;
    }

    /** Tries once more to release a handle that is in quarantine; its use is the last. */
    void settle(Extent extent, boolean marked) {
        begun.incrementAndGet();
        try {
            release(extent);
            if (marked) {
                extent.owner().settle(extent.bytes);
            } else {
                extent.owner().refund(extent.bytes, 0);
            }
        } finally {
            ended.incrementAndGet();
        }
    }

    /** All handles that exist, those in quarantine included. */
    long ownedBytes() {
        return ownedBytes.sum();
    }

    /** How many changes of what is owned have begun. */
    long changes() {
        return begun.get();
    }

    /** How many of them have not ended; never too few. */
    long changing() {
        long over = ended.get();
        return begun.get() - over;
    }

    private void keep(Extent extent) {
        var owner = extent.owner();
        var idle = owner.idle();
        owner.moveTo(idle, extent.bytes, 0);
        extent.charge(idle);
    }

    private MemoryException destroy(Extent extent) {
        begun.incrementAndGet();
        try {
            release(extent);
            extent.owner().refund(extent.bytes, 0);
            return null;
        } catch (DriverFaultException e) {
            residues.stillOwned(extent, e);
            return e;
        } finally {
            ended.incrementAndGet();
        }
    }

    private void release(Extent extent) {
        driver.release(extent.handle, extent.bytes);
        ownedBytes.add(-extent.bytes);
    }

    /** Charges; idle memory of this device makes room when it is the device's own limit that stands in the way. */
    private void charge(Account account, long bytes) {
        try {
            account.charge(bytes, 0);
        } catch (BudgetExceededException e) {
            long missing = bytes - e.availableBytes();
            if (!isFull(account, e) || spare.applyAsLong(missing) < missing) {
                throw e;
            }
            account.charge(bytes, 0);
        }
    }

    private long create(long bytes) {
        long handle;
        try {
            handle = driver.create(bytes);
        } catch (DriverFaultException e) {
            if (e.kind() != DriverFaultException.Kind.OUT_OF_MEMORY || spare.applyAsLong(bytes) == 0) {
                throw e;
            }
            handle = driver.create(bytes);
        }
        ownedBytes.add(bytes);
        return handle;
    }
}
