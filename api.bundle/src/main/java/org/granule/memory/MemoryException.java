package org.granule.memory;

import java.io.Serial;
import java.util.Objects;

/**
 * A request that was refused or failed. The message starts with the stable code, carries the figures and
 * says what to do. Unless a subclass says otherwise, nothing has changed.
 */
public class MemoryException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    /**
     * Makes an exception.
     *
     * @param code the stable code
     * @param message what happened, with figures, and what to do
     */
    public MemoryException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param code the stable code
     * @param message what happened, with figures, and what to do
     * @param cause what led to it, or null
     */
    public MemoryException(ErrorCode code, String message, Throwable cause) {
        super(Objects.requireNonNull(code, "code").code() + " " + message, cause);
        this.code = code;
    }

    /**
     * Returns the stable code.
     *
     * @return never null
     */
    public ErrorCode code() {
        return code;
    }
}
