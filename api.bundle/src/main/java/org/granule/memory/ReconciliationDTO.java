package org.granule.memory;

import java.util.ArrayList;
import java.util.List;
import org.osgi.dto.DTO;

/**
 * What a comparison of books and device has found: of one allocator, or by the registry of a whole device and its
 * ledger. Sizes in bytes.
 */
public class ReconciliationDTO extends DTO {

    /** {@link #findings} lists at most this many. */
    public static final int MOST_FINDINGS = 1000;

    /** The ledger and the allocators agree in what is owned, or the difference is a finding. */
    public static final String COMPARED = "COMPARED";
    /** What is owned never stood still, so the ledger could not be compared. */
    public static final String MOVING = "MOVING";
    /** The ledger cannot be compared, see {@link #remarks}. */
    public static final String NOT_COMPARED = "NOT_COMPARED";

    /** Creates an empty DTO. */
    public ReconciliationDTO() {}

    /** The device. */
    public String device;
    /** Handles that were looked for. */
    public long handlesChecked;
    /** Mappings that were looked for. */
    public long mappingsChecked;
    /** Addresses without memory that were not looked at, because they are too many; 0 as a rule. */
    public long uncheckedBytes;
    /** Memory in quarantine. Nobody knows whether it is still mapped, so it was not looked for. */
    public long quarantinedBytes;
    /** All differences that were found. */
    public long findingCount;
    /** These differences, the first {@value #MOST_FINDINGS} of them. */
    public List<FindingDTO> findings = new ArrayList<>();
    /** The bytes of all differences; 0 when books and device agree. */
    public long differenceBytes;
    /**
     * {@link #COMPARED}, {@link #MOVING} or {@link #NOT_COMPARED}. Set by the registry, null from an allocator, which
     * does not know the ledger.
     */
    public String ledger;
    /** Allocators of the device that failed to compare, each with the reason. Set by the registry. */
    public List<String> faults = new ArrayList<>();
    /** What else limits the result, such as allocators that cannot be inspected. Set by the registry. */
    public List<String> remarks = new ArrayList<>();
}
