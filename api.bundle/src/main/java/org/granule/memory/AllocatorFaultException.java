package org.granule.memory;

import java.io.Serial;

/**
 * An allocator broke its contract: it threw, or answered with something that cannot be. Whatever it
 * handed out was not passed on.
 */
public class AllocatorFaultException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message which allocator did what, and what to do
     * @param cause what it threw, or null
     */
    public AllocatorFaultException(String message, Throwable cause) {
        super(ErrorCode.ALLOCATOR_FAULT, message, cause);
    }
}
