package org.granule.memory;

import java.io.Serial;

/** An allocator serves another device than the one that was asked for; the message names both. */
public class DeviceMismatchException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public DeviceMismatchException(String message) {
        super(ErrorCode.DEVICE_MISMATCH, message);
    }
}
