package org.granule.workload.trace;

import java.io.Serial;

/** A line cannot be read; who reads the file knows which one it is. */
final class BadLineException extends Exception {

    @Serial
    private static final long serialVersionUID = 1L;

    BadLineException(String problem) {
        super(problem);
    }
}
