package org.granule.registry;

import org.granule.memory.InvalidRequestException;

/** Issues the tokens of one binding, and lets through to a slot only who may. */
final class Tokens {

    private final int number;
    private final String holder;
    private final Registry registry;
    private final SlotTable slots;

    Tokens(int number, String holder, Registry registry, SlotTable slots) {
        this.number = number;
        this.holder = holder;
        this.registry = registry;
        this.slots = slots;
    }

    /** Writes a claimed slot and makes it live. */
    long issue(Slot slot, Owner owner, Slot.Kind kind, long bytes, long alignment) {
        slot.assign(owner, kind, registry.recordsSites() ? Sites.here() : null);
        slot.bytes = bytes;
        slot.alignment = alignment;
        slot.bornTicks = registry.ticks();
        long token = of(slot);
        slot.publish(Slot.LIVE);
        return token;
    }

    /** Claims a slot without an address. */
    Slot claimUnplaced() {
        var slot = slots.claimUnplaced();
        if (slot == null) {
            throw tooMany();
        }
        return slot;
    }

    /** Gives up a slot that was claimed and not issued. */
    void abandon(Slot slot) {
        slots.free(slot);
    }

    InvalidRequestException tooMany() {
        return new InvalidRequestException("provider " + holder + " has " + Token.MAX_SLOTS
                + " allocations; release some, or allocate larger ones");
    }

    long of(Slot slot) {
        return Token.of(number, slot.index, slot.generation());
    }

    /** Finds the slot of a token, which may have had other lives since. */
    Slot find(long token) {
        if (Token.binding(token) != number) {
            throw Faults.foreign(token);
        }
        var slot = slots.find(token);
        if (slot == null) {
            throw Faults.stale(token);
        }
        return slot;
    }

    /** Pins what an owner has; the caller unpins. */
    Slot pin(Owner owner, long token) {
        var slot = pinAny(owner, token);
        if (slot.owner != owner) {
            slot.unpin();
            throw Faults.foreign(token);
        }
        return slot;
    }

    /** Finds what an owner has now, for what never changes of a slot. Two atomic operations cheaper than a pin. */
    Slot see(Owner owner, long token) {
        if (!owner.hasEnded()) {
            var slot = find(token);
            if (slot.isLiveFor(owner, Token.generation(token))) {
                return slot;
            }
        }
        var slot = pin(owner, token);
        slot.unpin();
        return slot;
    }

    /** Pins a prefix, whoever has it; the caller unpins. */
    Slot pinPrefix(Owner user, long token) {
        var slot = pinAny(user, token);
        if (slot.kind != Slot.Kind.PREFIX) {
            slot.unpin();
            throw Faults.noPrefix(token);
        }
        return slot;
    }

    private Slot pinAny(Owner user, long token) {
        if (user.hasEnded()) {
            throw Faults.stale(token);
        }
        var slot = find(token);
        if (!slot.pin(Token.generation(token))) {
            throw Faults.stale(token);
        }
        return slot;
    }

    /** Takes what an owner has for one operation; the caller publishes what becomes of it. */
    Slot seize(Owner owner, long token) {
        if (owner.hasEnded()) {
            throw Faults.stale(token);
        }
        var slot = find(token);
        if (!slot.seize(Token.generation(token))) {
            throw Faults.stale(token);
        }
        if (slot.owner != owner) {
            slot.publish(Slot.LIVE);
            throw Faults.foreign(token);
        }
        return slot;
    }
}
