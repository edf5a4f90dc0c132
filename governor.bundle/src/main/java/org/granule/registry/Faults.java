package org.granule.registry;

import org.granule.memory.AllocatorFaultException;
import org.granule.memory.ClosedException;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InUseException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.StaleTokenException;

/** The errors of the registry, each said in one place. */
final class Faults {

    private Faults() {}

    static StaleTokenException stale(long token) {
        return new StaleTokenException(
                "token " + token + " was released, or its session or provider has ended; the allocator was not called");
    }

    static ForeignTokenException foreign(long token) {
        return new ForeignTokenException("token " + token
                + " was issued to another session or provider; use it there. The allocator was not called");
    }

    static InUseException inUse(Slot slot) {
        return new InUseException(slot.bytes + " bytes at 0x" + Long.toHexString(slot.address)
                + " are in use by another operation for more than " + Slot.PATIENCE_NANOS / 1_000_000
                + " ms; try again when it has ended");
    }

    static InUseException queued(Slot slot, String figures) {
        return new InUseException(
                slot.bytes + " bytes at 0x" + Long.toHexString(slot.address) + ": " + figures
                        + " did not pass within " + Slot.PATIENCE_NANOS / 1_000_000
                        + " ms; nothing has changed. Try again when the work is done, or use releaseAfter, which does not block");
    }

    static ClosedException closed(String what) {
        return new ClosedException(
                what + " has ended or is ending; get the provider's present service and open a session");
    }

    static NotSupportedException noFacet(String allocator, String facet) {
        return new NotSupportedException(allocator + " has no " + facet + "; use a provider whose allocator has it");
    }

    static InvalidRequestException noPrefix(long token) {
        return new InvalidRequestException("token " + token + " is no prefix; share() makes one");
    }

    static InvalidRequestException unplaced(Slot.Kind kind) {
        return new InvalidRequestException(
                kind == Slot.Kind.PREFIX
                        ? "the token is a prefix and has no addresses; attach it to a reservation, and use that"
                        : "the token is an allocation of 0 bytes and has no addresses");
    }

    static InvalidRequestException outside(long offset, long length, long bytes) {
        return new InvalidRequestException("offset " + offset + " with " + length
                + " bytes is outside the allocation: both at least 0, together at most " + bytes);
    }

    static AllocatorFaultException threw(String allocator, String method, Throwable thrown) {
        return new AllocatorFaultException(
                allocator + " threw " + thrown + " from " + method
                        + "; nothing was charged. Report it to the allocator's author",
                thrown);
    }
}
