package org.granule.vmm;

import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;

/**
 * Physical handles from the pool or the driver, always charged to somebody: to the account that uses them, or
 * to the device's idle account while they wait.
 */
final class PhysicalMemory {

    private final GuardedDriver driver;
    private final HandlePool pool;
    private final Residues residues;

    PhysicalMemory(GuardedDriver driver, HandlePool pool, Residues residues) {
        this.driver = driver;
        this.pool = pool;
        this.residues = residues;
    }

    /** Takes a handle with one use, charged as owned. */
    Extent take(long bytes, Account account) {
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
        charge(account, bytes);
        try {
            return new Extent(create(bytes), bytes, account);
        } catch (RuntimeException e) {
            account.refund(bytes, 0);
            throw e;
        }
    }

    /** Undoes {@link #take}: nothing was done with the handle. */
    void untake(Extent extent, boolean fresh) {
        if (fresh || driver.isLost()) {
            destroy(extent);
        } else {
            keep(extent);
            pool.putBack(extent);
        }
    }

    /**
     * Gives a handle up that is mapped nowhere and whose last use has gone; returns bytes that stay owned. Memory
     * of the idle account was being kept, and goes for good.
     */
    long give(Extent extent) {
        var owner = extent.owner();
        if (!driver.isLost() && owner != owner.idle()) {
            keep(extent);
            if (pool.offer(extent)) {
                return 0;
            }
            extent.owner().moveTo(owner, extent.bytes, 0);
            extent.charge(owner);
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
            trimmed += idle.bytes - destroy(idle);
        }
        return trimmed;
    }

    /** Tries once more to release a handle that is in quarantine; its use is the last. */
    void settle(Extent extent, boolean marked) {
        driver.release(extent.handle, extent.bytes);
        if (marked) {
            extent.owner().settle(extent.bytes);
        } else {
            extent.owner().refund(extent.bytes, 0);
        }
    }

    private void keep(Extent extent) {
        var owner = extent.owner();
        var idle = owner.idle();
        owner.moveTo(idle, extent.bytes, 0);
        extent.charge(idle);
    }

    private long destroy(Extent extent) {
        try {
            driver.release(extent.handle, extent.bytes);
        } catch (DriverFaultException e) {
            residues.stillOwned(extent, e);
            return extent.bytes;
        }
        extent.owner().refund(extent.bytes, 0);
        return 0;
    }

    /** Charges; idle handles of this device make room when it is the device's own limit that stands in the way. */
    private void charge(Account account, long bytes) {
        try {
            account.charge(bytes, 0);
        } catch (BudgetExceededException e) {
            long missing = bytes - e.availableBytes();
            if (!e.limitedBy().equals(account.device().toString()) || trim(missing) < missing) {
                throw e;
            }
            account.charge(bytes, 0);
        }
    }

    private long create(long bytes) {
        try {
            return driver.create(bytes);
        } catch (DriverFaultException e) {
            if (e.kind() != DriverFaultException.Kind.OUT_OF_MEMORY || trim(bytes) < bytes) {
                throw e;
            }
            return driver.create(bytes);
        }
    }
}
