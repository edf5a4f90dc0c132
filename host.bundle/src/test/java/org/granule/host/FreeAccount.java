package org.granule.host;

import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;

/** An account that counts what it is charged, with a limit that a test sets. */
final class FreeAccount implements Account {

    private final FreeAccount idle;
    long owned;
    long limit = Long.MAX_VALUE;

    FreeAccount() {
        this(new FreeAccount(null));
    }

    FreeAccount(FreeAccount idle) {
        this.idle = idle;
    }

    @Override
    public DeviceKey device() {
        return new DeviceKey("host", 0);
    }

    @Override
    public String path() {
        return "host:0/test/" + (idle == null ? "idle" : "role");
    }

    @Override
    public void charge(long ownedBytes, long mappedBytes) {
        if (ownedBytes > limit - owned) {
            throw new BudgetExceededException(path(), path(), ownedBytes, owned, limit, "full");
        }
        owned += ownedBytes;
    }

    @Override
    public void refund(long ownedBytes, long mappedBytes) {
        owned -= ownedBytes;
    }

    @Override
    public void moveTo(Account target, long ownedBytes, long mappedBytes) {
        target.charge(ownedBytes, mappedBytes);
        refund(ownedBytes, mappedBytes);
    }

    @Override
    public void quarantine(long ownedBytes) {
        // The allocators under test quarantine nothing.
        throw new IllegalStateException("nothing should be in quarantine");
    }

    @Override
    public void settle(long ownedBytes) {
        throw new IllegalStateException("nothing should be in quarantine");
    }

    @Override
    public FreeAccount idle() {
        return idle == null ? this : idle;
    }

    @Override
    public boolean sameLedger(Account other) {
        return other.idle() == idle();
    }
}
