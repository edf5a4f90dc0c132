package org.granule.memory;

import java.io.Serial;

/** An allocator cannot be bound, or the holder has bound one already. No method of the allocator was called. */
public class BindingRefusedException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param message what happened, with figures, and what to do
     */
    public BindingRefusedException(String message) {
        super(ErrorCode.BINDING_REFUSED, message);
    }
}
