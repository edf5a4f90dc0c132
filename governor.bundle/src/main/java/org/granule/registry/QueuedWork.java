package org.granule.registry;

import java.util.ArrayList;
import java.util.List;
import org.granule.memory.Fence;
import org.granule.memory.InvalidRequestException;

/**
 * Work of the device that is queued on a binding's memory. Who takes memory away seizes it here: that waits for the
 * work on just that memory, while nothing is held, so that other operations on it go on. Memory on which no work was
 * recorded costs the look at one field.
 */
final class QueuedWork {

    private final GuardedAllocator allocator;
    private final Tokens tokens;

    /** The allocator's granule once it is known, 1 for one without backing. It never changes. */
    private volatile long granule;

    QueuedWork(GuardedAllocator allocator, Tokens tokens) {
        this.allocator = allocator;
        this.tokens = tokens;
    }

    /**
     * Records that work touches a range until a fence is passed. The range is kept rounded out to granules, because
     * memory leaves in granules.
     */
    void add(Owner owner, long token, long offset, long length, Fence fence) {
        requireUsable(owner, token, offset, length);
        // Asked while nothing is held, and not of a token that is refused anyway.
        if (length == 0 || hasPassed(fence)) {
            return;
        }
        long mask = granule() - 1;
        long end = offset + length;
        long to = end > Long.MAX_VALUE - mask ? Long.MAX_VALUE : end + mask & ~mask;
        var slot = tokens.pin(owner, token);
        Uses uses;
        try {
            uses = slot.makeUses();
            uses.add(offset & ~mask, to, fence);
        } finally {
            slot.unpin();
        }
        uses.prune();
    }

    private void requireUsable(Owner owner, long token, long offset, long length) {
        var slot = tokens.pin(owner, token);
        try {
            if (slot.kind == Slot.Kind.PREFIX) {
                throw Faults.unplaced(slot.kind);
            }
            slot.requireWithin(offset, length);
        } finally {
            slot.unpin();
        }
    }

    private long granule() {
        if (granule == 0) {
            granule = allocator.hasBacking() ? allocator.granuleBytes() : 1;
        }
        return granule;
    }

    /** Asks the fence of a caller, who is told when it does not answer. */
    static boolean hasPassed(Fence fence) {
        try {
            return fence.passed();
        } catch (RuntimeException | Error e) {
            throw new InvalidRequestException("the fence threw " + e + "; nothing has changed");
        }
    }

    /** Takes all memory of a token for one operation, like {@link Tokens#seize}, once no queued work touches it. */
    Slot seize(Owner owner, long token) {
        var slot = tokens.seize(owner, token);
        return slot.uses == null ? slot : seizeUsed(owner, token, slot, 0, Long.MAX_VALUE);
    }

    /**
     * Takes the memory of a token for an operation that takes a range of it away, once no queued work touches that
     * range, and checks the range.
     */
    Slot seize(Owner owner, long token, long offset, long length) {
        var slot = tokens.seize(owner, token);
        try {
            slot.requirePlaced();
            slot.requireWithin(offset, length);
        } catch (InvalidRequestException e) {
            slot.publish(Slot.LIVE);
            throw e;
        }
        return slot.uses == null || length == 0 ? slot : seizeUsed(owner, token, slot, offset, offset + length);
    }

    private Slot seizeUsed(Owner owner, long token, Slot seized, long from, long to) {
        long deadline = System.nanoTime() + Slot.PATIENCE_NANOS;
        var slot = seized;
        var uses = slot.uses;
        // Looked at again whenever it is seized: more may have been recorded since.
        while (uses != null && uses.touches(from, to)) {
            slot.publish(Slot.LIVE);
            requirePassed(slot, uses, from, to, deadline);
            slot = tokens.seize(owner, token);
            uses = slot.uses;
        }
        if (uses != null && uses.isEmpty()) {
            slot.uses = null;
        }
        return slot;
    }

    private static void requirePassed(Slot slot, Uses uses, long from, long to, long deadlineNanos) {
        if (!uses.awaitPassed(from, to, deadlineNanos)) {
            throw Faults.queued(slot, uses.figures(from, to));
        }
    }

    /** Takes a slot from quarantine, once no queued work touches its memory. */
    void seizeFromQuarantine(Slot slot) {
        requireSeized(slot);
        var uses = slot.uses;
        if (uses != null) {
            slot.publish(Slot.QUARANTINED);
            requirePassed(slot, uses, 0, Long.MAX_VALUE, System.nanoTime() + Slot.PATIENCE_NANOS);
            requireSeized(slot);
            slot.uses = null;
        }
    }

    private static void requireSeized(Slot slot) {
        if (!slot.seizeFrom(Slot.QUARANTINED)) {
            throw Faults.inUse(slot);
        }
    }

    /** Drops what is done of the work on a token's memory. */
    void dropPassed(Owner owner, long token) {
        var slot = tokens.pin(owner, token);
        var uses = slot.uses;
        slot.unpin();
        if (uses != null) {
            uses.dropPassed();
        }
    }

    /** Takes the fences off a slot in exclusive use, which will wait for them where it goes. */
    static List<Fence> take(Slot slot) {
        var fences = new ArrayList<Fence>();
        if (slot.uses != null) {
            fences.addAll(slot.uses.fences());
            slot.uses = null;
        }
        return fences;
    }

    /**
     * Takes the fences that are not passed off a slot in exclusive use. Only when its owner has ended: a fence that
     * used the slot would wait for itself.
     */
    static List<Fence> notPassed(Slot slot) {
        var fences = take(slot);
        fences.removeIf(Uses::hasPassed);
        return fences;
    }
}
