package org.granule.registry;

import java.lang.invoke.VarHandle;
import org.granule.ledger.LedgerAccount;
import org.granule.memory.ErrorCode;
import org.granule.memory.MemoryException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;

/** Gives back what slots hold, and says in the ledger and in the slot what became of it. */
final class Giveback {

    private final GuardedAllocator allocator;
    private final SlotTable slots;
    private final Leftovers leftovers;

    Giveback(GuardedAllocator allocator, SlotTable slots, Leftovers leftovers) {
        this.allocator = allocator;
        this.slots = slots;
        this.leftovers = leftovers;
    }

    /** Releases a slot in exclusive use. */
    ReleaseOutcome release(Slot slot) {
        var account = slot.owner.account;
        ReleaseOutcome outcome;
        try {
            if (slot.kind == Slot.Kind.PREFIX) {
                outcome = allocator.retire(slot.prefix);
            } else if (slot.address == 0) {
                outcome = Complete.NOTHING_UNMAPPED;
            } else {
                outcome = allocator.release(slot.address, slot.bytes, slot.alignment, account);
            }
        } catch (MemoryException e) {
            // Nobody can say how far it got. An operator may have it tried again.
            return setAside(slot, e);
        }
        conclude(slot, account, outcome);
        return outcome;
    }

    /** Releases a slot in exclusive use; what fails is set aside when its owner, who could try again, has ended. */
    ReleaseOutcome releaseOrSetAside(Slot slot) {
        var owner = slot.owner;
        int generation = slot.generation();
        var outcome = release(slot);
        if (outcome instanceof Failed failed) {
            // Either the end of the owner finds it live, or it is seen here that the owner has ended.
            VarHandle.fullFence();
            if (owner.hasEnded() && slot.seize(generation)) {
                return setAside(slot, failed.cause().getMessage());
            }
        }
        return outcome;
    }

    private void conclude(Slot slot, LedgerAccount account, ReleaseOutcome outcome) {
        boolean charged = !allocator.charges() && slot.kind == Slot.Kind.ALLOCATION;
        switch (outcome) {
            case Complete complete -> {
                if (charged) {
                    account.refund(slot.bytes, slot.bytes);
                }
                if (slot.kind == Slot.Kind.RESERVATION) {
                    account.reserved(-slot.bytes);
                }
                leftovers.forget(slot);
                slots.free(slot);
            }
            case Failed failed -> slot.publish(Slot.LIVE);
            case Quarantined left -> {
                if (charged) {
                    long owned = Math.min(left.ownedBytes(), slot.bytes);
                    account.refund(slot.bytes - owned, Math.min(left.unmappedBytes(), slot.bytes));
                    account.quarantine(owned);
                }
                // What the allocator says now includes what earlier operations left.
                leftovers.forget(slot);
                slot.ownedBytes = left.ownedBytes();
                slot.whole = false;
                slot.reason = left.cause().getMessage();
                slot.publish(Slot.QUARANTINED);
            }
        }
    }

    /** Puts a slot in exclusive use into quarantine as it is. */
    ReleaseOutcome setAside(Slot slot, String reason) {
        return setAside(slot, new MemoryException(ErrorCode.IN_USE, reason));
    }

    private ReleaseOutcome setAside(Slot slot, MemoryException cause) {
        long owned = ownedBytes(slot);
        slot.owner.account.quarantine(owned);
        slot.ownedBytes = owned;
        slot.whole = true;
        slot.reason = cause.getMessage();
        slot.publish(Slot.QUARANTINED);
        return new Quarantined(0, owned, cause);
    }

    /** Puts a slot that somebody touches for too long into quarantine as it is; false when it is not live any more. */
    boolean setAsidePinned(Slot slot, int generation, String reason) {
        var owner = slot.owner;
        if (owner == null || !slot.quarantinePinned(generation)) {
            return false;
        }
        long owned = ownedBytes(slot);
        owner.account.quarantine(owned);
        slot.ownedBytes = owned;
        slot.whole = true;
        slot.reason = reason;
        return true;
    }

    /** Releases a slot in exclusive use that was set aside; when that fails it is set aside again. */
    ReleaseOutcome settle(Slot slot) {
        var reason = slot.reason;
        slot.owner.account.endQuarantine(slot.ownedBytes);
        var outcome = release(slot);
        if (outcome instanceof Failed && slot.seizeFrom(Slot.LIVE)) {
            setAside(slot, reason);
        }
        return outcome;
    }

    private long ownedBytes(Slot slot) {
        if (slot.kind == Slot.Kind.PREFIX || slot.address == 0) {
            return 0;
        }
        try {
            return allocator.hasBacking() ? allocator.ownedBytes(slot.address) : slot.bytes;
        } catch (MemoryException e) {
            // The allocator cannot tell, which is counted as its fault; the length is the best there is.
            return slot.bytes;
        }
    }
}
