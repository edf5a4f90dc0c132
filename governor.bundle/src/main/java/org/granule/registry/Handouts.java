package org.granule.registry;

import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;

/** Asks an allocator for memory, checks what it hands out, and has a token issued for it. */
final class Handouts {

    private final GuardedAllocator allocator;
    private final boolean charges;
    private final DeviceKey device;
    private final Registry registry;
    private final Tokens tokens;
    private final SlotTable slots;

    Handouts(GuardedAllocator allocator, DeviceKey device, Registry registry, Tokens tokens, SlotTable slots) {
        this.allocator = allocator;
        this.charges = allocator.charges();
        this.device = device;
        this.registry = registry;
        this.tokens = tokens;
        this.slots = slots;
    }

    long allocate(Owner owner, long bytes, long alignment) {
        if (bytes == 0) {
            return tokens.issue(tokens.claimUnplaced(), owner, Slot.Kind.ALLOCATION, 0, alignment);
        }
        long address;
        try {
            address = allocateOnce(owner, bytes, alignment);
        } catch (BudgetExceededException e) {
            makeRoom(e);
            address = allocateOnce(owner, bytes, alignment);
        }
        return verified(owner, Slot.Kind.ALLOCATION, address, bytes, alignment);
    }

    private long allocateOnce(Owner owner, long bytes, long alignment) {
        if (charges) {
            return allocator.allocate(bytes, alignment, owner.account);
        }
        owner.account.charge(bytes, bytes);
        try {
            return allocator.allocate(bytes, alignment, owner.account);
        } catch (RuntimeException e) {
            owner.account.refund(bytes, bytes);
            throw e;
        }
    }

    long reserve(Owner owner, long bytes, long alignment, Ranges committed, Extents extents) {
        long address;
        try {
            address = allocator.reserve(bytes, alignment, committed, extents, owner.account);
        } catch (BudgetExceededException e) {
            makeRoom(e);
            address = allocator.reserve(bytes, alignment, committed, extents, owner.account);
        }
        return verified(owner, Slot.Kind.RESERVATION, address, bytes, alignment);
    }

    /** Asks all allocators of the device for idle memory, or throws the refusal when that cannot help. */
    void makeRoom(BudgetExceededException refusal) {
        long missing = refusal.askedBytes() - refusal.availableBytes();
        if (!refusal.limitedBy().equals(device.toString()) || registry.trim(device, missing) == 0) {
            throw refusal;
        }
    }

    /** Checks what an allocator handed out, and issues a token for it. */
    private long verified(Owner owner, Slot.Kind kind, long address, long bytes, long alignment) {
        if (address <= 0 || (address & alignment - 1) != 0 || address > Long.MAX_VALUE - bytes) {
            unwind(owner, address, bytes, alignment);
            throw allocator.broken(
                    "answered 0x" + Long.toHexString(address) + " for " + bytes + " bytes aligned to " + alignment);
        }
        var slot = slots.claim(address, bytes);
        if (slot == null) {
            unwind(owner, address, bytes, alignment);
            throw tokens.tooMany();
        }
        if (slot.address != address || slot.phase() != Slot.CLAIMED) {
            // Giving it back would take the memory from whoever has it.
            if (!charges) {
                owner.account.refund(bytes, bytes);
            }
            throw allocator.broken("handed out 0x" + Long.toHexString(address) + " with " + bytes
                    + " bytes, which overlaps " + slot.bytes + " live bytes at 0x" + Long.toHexString(slot.address)
                    + "; it was not passed on");
        }
        if (kind == Slot.Kind.RESERVATION) {
            owner.account.reserved(bytes);
        }
        return tokens.issue(slot, owner, kind, bytes, alignment);
    }

    /** Gives an answer back that cannot be passed on. */
    private void unwind(Owner owner, long address, long bytes, long alignment) {
        if (!charges) {
            owner.account.refund(bytes, bytes);
        }
        if (address == 0) {
            return;
        }
        try {
            var outcome = allocator.release(address, bytes, alignment, owner.account);
            if (!(outcome instanceof Complete)) {
                allocator.noteFault("did not take back 0x" + Long.toHexString(address) + ": " + outcome);
            }
        } catch (MemoryException e) {
            allocator.noteFault("did not take back 0x" + Long.toHexString(address) + ": " + e.getMessage());
        }
    }
}
