package org.granule.memory;

/**
 * The stable code of a {@link MemoryException}. Codes are never reused or renumbered; the user
 * documentation lists each with its remedy.
 */
public enum ErrorCode {
    /** G100: a limit would be passed. */
    BUDGET_EXCEEDED("G100"),
    /** G110: an argument is outside its legal bounds. */
    INVALID_REQUEST("G110"),
    /** G120: the allocator or device cannot do this at all. */
    NOT_SUPPORTED("G120"),
    /** G200: a token was released, or belongs to something that has ended. */
    STALE_TOKEN("G200"),
    /** G210: a token was issued to somebody else. */
    FOREIGN_TOKEN("G210"),
    /** G220: memory is in use by an operation that has not ended. */
    IN_USE("G220"),
    /** G300: an allocator serves another device than the one that was asked for. */
    DEVICE_MISMATCH("G300"),
    /** G310: an allocator cannot be bound, or one was bound already. */
    BINDING_REFUSED("G310"),
    /** G320: a provider or binding takes no more work. */
    CLOSED("G320"),
    /** G400: an allocator broke its contract or threw. */
    ALLOCATOR_FAULT("G400"),
    /** G410: a request failed and could not be undone completely. */
    UNDO_FAILED("G410"),
    /** G500: the device's driver refused or failed. */
    DRIVER_FAULT("G500"),
    /** G510: the device is lost. */
    DEVICE_LOST("G510");

    private final String code;

    ErrorCode(String code) {
        this.code = code;
    }

    /**
     * Returns the code that messages and documentation use.
     *
     * @return such as {@code G100}
     */
    public String code() {
        return code;
    }
}
