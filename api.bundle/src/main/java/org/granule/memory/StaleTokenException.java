package org.granule.memory;

import java.io.Serial;

/** A token whose allocation was released, or whose provider or binding has ended. The allocator was not called. */
public class StaleTokenException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public StaleTokenException(String message) {
        super(ErrorCode.STALE_TOKEN, message);
    }
}
