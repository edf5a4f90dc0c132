package org.granule.ledger;

import org.granule.memory.Account;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;

/** A leaf of the tree: the only kind of node that is charged. */
public final class LedgerAccount extends Node implements Account {

    final Stripes stripes = new Stripes();

    /** Most credit that a stripe may hold, and how much is drawn ahead. Set under the lock. */
    volatile long creditBound;

    LedgerAccount(DeviceTree tree, Node parent, String path, int depth) {
        super(tree, parent, path, depth);
    }

    @Override
    public DeviceKey device() {
        return tree.device;
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public void charge(long ownedBytes, long mappedBytes) {
        requireNotNegative(ownedBytes, mappedBytes);
        if (ownedBytes > 0 && !stripes.take(ownedBytes)) {
            tree.charge(this, ownedBytes);
        }
        if (mappedBytes != ownedBytes) {
            stripes.addUnowned(mappedBytes - ownedBytes);
        }
    }

    @Override
    public void refund(long ownedBytes, long mappedBytes) {
        requireNotNegative(ownedBytes, mappedBytes);
        takeBack(ownedBytes, mappedBytes);
    }

    /** What is mapped never shows less than it is meanwhile, so that too little of it is a defect of an allocator. */
    private void takeBack(long ownedBytes, long mappedBytes) {
        if (ownedBytes > mappedBytes) {
            stripes.addUnowned(ownedBytes - mappedBytes);
        }
        if (ownedBytes > 0 && !giveCredit(ownedBytes)) {
            tree.refund(this, ownedBytes);
        }
        if (ownedBytes < mappedBytes) {
            stripes.addUnowned(ownedBytes - mappedBytes);
        }
    }

    @Override
    public void moveTo(Account target, long ownedBytes, long mappedBytes) {
        requireNotNegative(ownedBytes, mappedBytes);
        if (!(target instanceof LedgerAccount other) || other.tree != tree) {
            throw new InvalidRequestException("a charge of " + path + " cannot move to " + target.path() + " on "
                    + target.device() + ": another device or ledger");
        }
        if (other == this) {
            return;
        }
        if (ownedBytes == 0 || other.stripes.take(ownedBytes) || tree.drawAhead(other, ownedBytes)) {
            takeBack(ownedBytes, mappedBytes);
        } else {
            moveSlowly(other, ownedBytes, mappedBytes);
        }
        if (mappedBytes != ownedBytes) {
            other.stripes.addUnowned(mappedBytes - ownedBytes);
        }
    }

    private void moveSlowly(LedgerAccount target, long ownedBytes, long mappedBytes) {
        long unowned = Math.max(0, ownedBytes - mappedBytes);
        stripes.addUnowned(unowned);
        try {
            tree.move(this, target, ownedBytes);
        } catch (RuntimeException e) {
            stripes.addUnowned(-unowned);
            throw e;
        }
        stripes.addUnowned(ownedBytes - mappedBytes - unowned);
    }

    /** Credit never exceeds what is drawn, so that refunding what was never charged is noticed. */
    private boolean giveCredit(long bytes) {
        return stripes.give(bytes, Math.min(creditBound, drawn));
    }

    @Override
    public void quarantine(long ownedBytes) {
        requireNotNegative(ownedBytes, 0);
        quarantined.addAndGet(ownedBytes);
    }

    @Override
    public void settle(long ownedBytes) {
        endQuarantine(ownedBytes);
        refund(ownedBytes, 0);
    }

    /**
     * Ends the quarantine of bytes that somebody else refunds.
     *
     * @param ownedBytes bytes, at least 0
     */
    public void endQuarantine(long ownedBytes) {
        requireNotNegative(ownedBytes, 0);
        if (quarantined.getAndUpdate(bytes -> Math.max(0, bytes - ownedBytes)) < ownedBytes) {
            tree.alarm();
        }
    }

    /**
     * Counts addresses.
     *
     * @param bytes how many came, negative when they went
     */
    public void reserved(long bytes) {
        reserved.addAndGet(bytes);
    }

    @Override
    public LedgerAccount idle() {
        return tree.idle;
    }

    @Override
    public boolean sameLedger(Account other) {
        return other instanceof LedgerAccount account && account.tree == tree;
    }

    private static void requireNotNegative(long ownedBytes, long mappedBytes) {
        if (ownedBytes < 0 || mappedBytes < 0) {
            throw new InvalidRequestException(
                    "owned " + ownedBytes + " and mapped " + mappedBytes + " bytes: neither may be negative");
        }
    }
}
