package org.granule.shell;

import org.granule.memory.ByteSize;
import org.granule.memory.ReleaseOutcome;

/**
 * What became of memory that an operator gave back.
 *
 * @param token the allocation
 * @param outcome never {@link ReleaseOutcome.Failed}: that is an error of the command
 */
public record Outcome(long token, ReleaseOutcome outcome) implements Answer {

    /** Turns "nothing changed" into the error that it is, so that scripts stop there. */
    static Outcome of(long token, ReleaseOutcome outcome) {
        if (outcome instanceof ReleaseOutcome.Failed failed) {
            throw failed.cause();
        }
        return new Outcome(token, outcome);
    }

    @Override
    public String text() {
        return switch (outcome) {
            case ReleaseOutcome.Complete done
            when done.unmappedBytes() == 0 ->
                "released " + token + "; its memory stays mapped for reuse or had no address";
            case ReleaseOutcome.Complete done ->
                "released " + token + ", unmapped " + ByteSize.format(done.unmappedBytes());
            case ReleaseOutcome.Quarantined left ->
                "released " + token + ", but " + ByteSize.format(left.ownedBytes())
                        + " could not be given back and stay charged, see granule:quarantine: "
                        + left.cause().getMessage();
            case ReleaseOutcome.Failed failed ->
                "still in use, nothing changed: " + failed.cause().getMessage();
        };
    }

    @Override
    public String id() {
        return Long.toString(token);
    }
}
