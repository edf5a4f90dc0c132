package org.granule.shell;

import java.io.Serial;

/** Books and device were compared and differ, or could not be compared. What was found has been printed. */
public final class DifferenceException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    DifferenceException(String message) {
        super(message);
    }
}
