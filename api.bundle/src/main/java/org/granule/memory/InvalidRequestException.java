package org.granule.memory;

import java.io.Serial;

/** An argument is outside its legal bounds; the message names them. Nothing has changed. */
public class InvalidRequestException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public InvalidRequestException(String message) {
        super(ErrorCode.INVALID_REQUEST, message);
    }
}
