package org.granule.governor;

import org.osgi.dto.DTO;

/** A live allocation. Sizes in bytes. */
public class AllocationDTO extends DTO {

    /** The state of an allocation that is in use. */
    public static final String LIVE = "LIVE";
    /** The state of an allocation that was given back and waits for a fence. */
    public static final String PENDING = "PENDING";
    /** The state of an allocation whose release did not finish. */
    public static final String QUARANTINED = "QUARANTINED";

    /** Creates an empty DTO. */
    public AllocationDTO() {}

    /** Its token. */
    public long token;
    /** {@code ALLOCATION}, {@code RESERVATION} or {@code PREFIX}. */
    public String kind;
    /** The provider that holds the binding. */
    public String provider;
    /** That provider's generation. */
    public long generation;
    /** The account that is charged. */
    public String account;
    /** The number of its session. */
    public long session;
    /** Its address, 0 when it has none. */
    public long address;
    /** The length that was asked for. */
    public long bytes;
    /** How long ago it was made, in nanoseconds, to a tenth of a second. */
    public long ageNanos;
    /** How long it has waited for its fences, in nanoseconds; 0 when it is not pending. */
    public long pendingNanos;
    /** Where it was made, or null when sites are not recorded. */
    public String site;
    /** {@link #LIVE}, {@link #PENDING} or {@link #QUARANTINED}. */
    public String state;
    /** Why it is quarantined or pending, or null. */
    public String reason;
    /** What is still owned of it; set for quarantined allocations. */
    public long ownedBytes;
}
