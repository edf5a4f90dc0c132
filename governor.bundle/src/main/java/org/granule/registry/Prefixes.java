package org.granule.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.UndoFailedException;

/** What a binding does with shared mappings. */
final class Prefixes {

    private final GuardedAllocator allocator;
    private final Tokens tokens;
    private final QueuedWork queued;
    /** Lists what an operation on a live allocation left in quarantine. */
    private final BiFunction<Slot, ReleaseOutcome, ReleaseOutcome> noted;

    Prefixes(
            GuardedAllocator allocator,
            Tokens tokens,
            QueuedWork queued,
            BiFunction<Slot, ReleaseOutcome, ReleaseOutcome> noted) {
        this.allocator = allocator;
        this.tokens = tokens;
        this.queued = queued;
        this.noted = noted;
    }

    long share(Owner owner, long token, long offset, long length) {
        var slot = tokens.pin(owner, token);
        try {
            slot.requirePlaced();
            slot.requireWithin(offset, length);
            var shared = tokens.claimUnplaced();
            try {
                shared.prefix = allocator.share(slot.address, offset, length);
            } catch (RuntimeException e) {
                tokens.abandon(shared);
                throw e;
            }
            return tokens.issue(shared, owner, Slot.Kind.PREFIX, length, 1);
        } finally {
            slot.unpin();
        }
    }

    long price(Owner owner, long prefix) {
        var shared = tokens.pinPrefix(owner, prefix);
        try {
            return allocator.price(shared.prefix, owner.account);
        } finally {
            shared.unpin();
        }
    }

    void attach(Owner owner, long token, long offset, long prefix) {
        attach(owner, token, new long[] {offset}, new long[] {prefix});
    }

    void attach(Owner owner, long token, long[] offsets, long[] prefixes) {
        if (offsets.length != prefixes.length) {
            throw new InvalidRequestException(offsets.length + " offsets for " + prefixes.length + " prefixes");
        }
        var slot = tokens.pin(owner, token);
        // All are held until the end: what was retired meanwhile could not be undone.
        var held = new ArrayList<Slot>(prefixes.length);
        try {
            slot.requirePlaced();
            for (int i = 0; i < prefixes.length; i++) {
                held.add(tokens.pinPrefix(owner, prefixes[i]));
                slot.requireWithin(offsets[i], held.get(i).bytes);
            }
            attach(slot, offsets, held);
        } finally {
            held.forEach(Slot::unpin);
            slot.unpin();
        }
    }

    private void attach(Slot slot, long[] offsets, List<Slot> shared) {
        for (int i = 0; i < offsets.length; i++) {
            try {
                allocator.map(shared.get(i).prefix, slot.address, offsets[i]);
            } catch (RuntimeException e) {
                undo(slot, offsets, shared.subList(0, i), e);
                throw e;
            }
        }
    }

    private void undo(Slot slot, long[] offsets, List<Slot> attached, RuntimeException first) {
        for (int i = attached.size() - 1; i >= 0; i--) {
            var shared = attached.get(i);
            var outcome = allocator.unmap(shared.prefix, slot.address, offsets[i], shared.bytes);
            if (!(noted.apply(slot, outcome) instanceof Complete)) {
                throw new UndoFailedException(
                        "prefix " + tokens.of(shared) + " stays attached at offset " + offsets[i]
                                + " after a later one failed: " + outcome
                                + ". Release the reservation; do not use it for private memory",
                        first);
            }
        }
    }

    /** The prefix may have been retired meanwhile; its number is known as long as its slot was not issued again. */
    ReleaseOutcome detach(Owner owner, long token, long offset, long prefix) {
        // Whose memory it is comes first, also among errors.
        tokens.see(owner, token);
        var shared = tokens.find(prefix);
        var kind = shared.kind;
        long number = shared.prefix;
        long bytes = shared.bytes;
        if (shared.generation() != Token.generation(prefix)) {
            throw Faults.stale(prefix);
        }
        if (kind != Slot.Kind.PREFIX) {
            throw Faults.noPrefix(prefix);
        }
        var slot = queued.seize(owner, token, offset, bytes);
        try {
            return noted.apply(slot, allocator.unmap(number, slot.address, offset, bytes));
        } finally {
            slot.publish(Slot.LIVE);
        }
    }

    void privatise(Owner owner, long token, long offset, long length) {
        var slot = queued.seize(owner, token, offset, length);
        try {
            allocator.privatise(slot.address, offset, length);
        } finally {
            slot.publish(Slot.LIVE);
        }
    }
}
