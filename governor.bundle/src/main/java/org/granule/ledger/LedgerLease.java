package org.granule.ledger;

import org.granule.governor.Lease;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.StaleTokenException;

/** A lease on one account. Its monitor orders resizes and the close. */
final class LedgerLease implements Lease {

    private final LedgerAccount account;
    private long bytes;
    private boolean closed;

    LedgerLease(LedgerAccount account, long bytes) {
        this.account = account;
        this.bytes = bytes;
        account.leases.incrementAndGet();
        account.leased.addAndGet(bytes);
    }

    @Override
    public synchronized long bytes() {
        return bytes;
    }

    @Override
    public synchronized void resize(long target) {
        if (target < 0) {
            throw new InvalidRequestException("a lease of " + target + " bytes: the size must be at least 0");
        }
        if (closed) {
            throw new StaleTokenException("the lease on " + account.path + " is closed");
        }
        if (target > bytes) {
            account.charge(target - bytes, 0);
        } else {
            account.refund(bytes - target, 0);
        }
        account.leased.addAndGet(target - bytes);
        bytes = target;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            account.refund(bytes, 0);
            account.leased.addAndGet(-bytes);
            bytes = 0;
            account.leases.decrementAndGet();
        }
    }
}
