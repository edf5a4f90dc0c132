package org.granule.memory;

import java.io.Serial;

/** A provider, binding or session has ended or is ending and takes no more work. */
public class ClosedException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public ClosedException(String message) {
        super(ErrorCode.CLOSED, message);
    }
}
