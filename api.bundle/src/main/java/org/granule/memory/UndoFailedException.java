package org.granule.memory;

import java.io.Serial;

/**
 * A request of several steps failed, and so did taking back the steps that were done. What is left is in
 * quarantine, the target is not usable, and there must be no fallback onto it: release it.
 */
public class UndoFailedException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what is left, with figures
     * @param cause the first error of the request
     */
    public UndoFailedException(String message, Throwable cause) {
        super(ErrorCode.UNDO_FAILED, message, cause);
    }
}
