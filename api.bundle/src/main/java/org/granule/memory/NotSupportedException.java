package org.granule.memory;

import java.io.Serial;

/** The allocator or device cannot do this at all. Nothing has changed. */
public class NotSupportedException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public NotSupportedException(String message) {
        super(ErrorCode.NOT_SUPPORTED, message);
    }
}
