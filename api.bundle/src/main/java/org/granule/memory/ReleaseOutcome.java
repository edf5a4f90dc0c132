package org.granule.memory;

import java.util.Objects;

/**
 * What became of memory that was given back. There is no fourth case, and none of the three may be
 * mistaken for another:
 *
 * <pre>{@code
 * switch (session.release(token)) {
 *     case Complete done -> { }
 *     case Failed failed -> retryLater(failed.cause());
 *     case Quarantined left -> log.warn("{} bytes still owned", left.ownedBytes());
 * }
 * }</pre>
 */
public sealed interface ReleaseOutcome {

    /**
     * Nothing is left owned by who released.
     *
     * @param unmappedBytes bytes that were unmapped; 0 is legal, for instance when memory is kept for reuse
     */
    record Complete(long unmappedBytes) implements ReleaseOutcome {
        /** Complete, and nothing had to be unmapped. */
        public static final Complete NOTHING_UNMAPPED = new Complete(0);

        /** Checks the figure. */
        public Complete {
            requireNotNegative(unmappedBytes, "unmappedBytes");
        }
    }

    /**
     * Nothing whatsoever changed; the memory is still in use by its owner.
     *
     * @param cause why
     */
    record Failed(MemoryException cause) implements ReleaseOutcome {
        /** Requires the cause. */
        public Failed {
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * Anything in between: the owner cannot use the memory any more, but some of it could not be given
     * back. That part stays charged and its addresses are never handed out again.
     *
     * @param unmappedBytes bytes that were unmapped
     * @param ownedBytes bytes that are still owned, and charged
     * @param cause the first error
     */
    record Quarantined(long unmappedBytes, long ownedBytes, MemoryException cause) implements ReleaseOutcome {
        /** Checks the figures and requires the cause. */
        public Quarantined {
            requireNotNegative(unmappedBytes, "unmappedBytes");
            requireNotNegative(ownedBytes, "ownedBytes");
            Objects.requireNonNull(cause, "cause");
        }
    }

    private static void requireNotNegative(long bytes, String name) {
        if (bytes < 0) {
            throw new InvalidRequestException(name + " is negative: " + bytes);
        }
    }
}
