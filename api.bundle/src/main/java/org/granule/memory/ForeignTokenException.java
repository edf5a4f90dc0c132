package org.granule.memory;

import java.io.Serial;

/** A token that was issued by another binding or to another session. The allocator was not called. */
public class ForeignTokenException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public ForeignTokenException(String message) {
        super(ErrorCode.FOREIGN_TOKEN, message);
    }
}
