package org.granule.memory;

import org.osgi.dto.DTO;

/** One difference between books and device. */
public class FindingDTO extends DTO {

    /** The books have a handle that the device does not know, or knows with another size. */
    public static final String HANDLE_MISSING = "HANDLE_MISSING";
    /** The books have a mapping where nothing, or not everything, is mapped. */
    public static final String MAPPING_MISSING = "MAPPING_MISSING";
    /** Something else is mapped where the books have a mapping. */
    public static final String OTHER_HANDLE = "OTHER_HANDLE";
    /** Something is mapped where the books have nothing. */
    public static final String UNKNOWN_MAPPING = "UNKNOWN_MAPPING";
    /** The ledger and the allocators of a device differ in what is owned. */
    public static final String LEDGER_DIFFERS = "LEDGER_DIFFERS";

    /** Creates an empty DTO. */
    public FindingDTO() {}

    /** One of the constants of this class. */
    public String kind;
    /** Where it is or should be mapped, 0 when it is about no address. */
    public long address;
    /** The handle in the books, −1 when there is none. */
    public long handle;
    /** How many bytes it is about, at least 1. */
    public long bytes;
    /** The path of the account that is charged, or null when nobody is. */
    public String account;
    /** Whose books: the mechanism and number of the service. Set by the registry, null from an allocator. */
    public String allocator;
}
