package org.granule.workload.command;

import java.io.Serial;

/** A replay ran and found something wrong. */
public final class ReplayFailedException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    ReplayFailedException(String message) {
        super(message);
    }
}
