package org.granule.memory;

/** What may be done with memory, weakest first. */
public enum Access {
    /** There is no memory, or it may not be touched. */
    NONE,
    /** It may be read; a write is refused or faults. */
    READ,
    /** It may be read and written. */
    READ_WRITE
}
