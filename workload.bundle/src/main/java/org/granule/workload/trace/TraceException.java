package org.granule.workload.trace;

import java.io.Serial;

/** A trace cannot be read, or has a bad line and may not have any. */
public final class TraceException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    public TraceException(String message) {
        super(message);
    }

    public TraceException(String message, Throwable cause) {
        super(message, cause);
    }
}
