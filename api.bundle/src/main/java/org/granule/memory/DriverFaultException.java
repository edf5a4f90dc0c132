package org.granule.memory;

import java.io.Serial;

/** The device's driver refused or failed a call. The message names the call, its code and its figures. */
public class DriverFaultException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** What kind of failure it was. */
    public enum Kind {
        /** The device or the operating system has no more memory or addresses. */
        OUT_OF_MEMORY,
        /** The driver refused an argument or a state. */
        INVALID,
        /** The device is lost: nothing can be done with it until its context is gone. */
        DEVICE_LOST
    }

    private final Kind kind;

    /**
     * Makes an exception.
     *
     * @param kind what kind of failure
     * @param message the call, its arguments, the driver's own code
     */
    public DriverFaultException(Kind kind, String message) {
        super(kind == Kind.DEVICE_LOST ? ErrorCode.DEVICE_LOST : ErrorCode.DRIVER_FAULT, message);
        this.kind = kind;
    }

    /**
     * Returns what kind of failure it was.
     *
     * @return never null
     */
    public Kind kind() {
        return kind;
    }
}
