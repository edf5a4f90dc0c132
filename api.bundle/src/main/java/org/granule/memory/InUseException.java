package org.granule.memory;

import java.io.Serial;

/** Memory is in use by an operation, or by queued work, that did not end in time. Nothing has changed. */
public class InUseException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public InUseException(String message) {
        super(ErrorCode.IN_USE, message);
    }
}
