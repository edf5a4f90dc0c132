package org.granule.governor;

import org.osgi.dto.DTO;

/** One node of the ledger at one moment, everything below it included. Sizes in bytes. */
public class AccountDTO extends DTO {

    /** Creates an empty DTO. */
    public AccountDTO() {}

    /** Its path, such as {@code host:0/tenant-a/kv}; {@code host:0/idle} is memory kept for reuse. */
    public String path;
    /** 0 for a device, 1 for a tenant, 2 for a role. */
    public int depth;
    /** The hard limit, {@link Long#MAX_VALUE} when there is none. */
    public long limitBytes;
    /** Physical memory that exists, quarantined memory included. */
    public long ownedBytes;
    /** Memory reachable through addresses, each mapping counted. */
    public long mappedBytes;
    /** Addresses reserved. */
    public long reservedBytes;
    /** The part of the owned bytes whose release did not finish. */
    public long quarantinedBytes;
    /** The highest owned bytes that were seen; at least every value that a snapshot showed. */
    public long peakOwnedBytes;
    /** How far owned bytes are above the limit, 0 when they are not. */
    public long excessBytes;
    /** Leases that are open. */
    public long leases;
    /** The part of the owned bytes that leases hold. */
    public long leasedBytes;
    /** Claims that were refused for this account since the start. */
    public long refusals;
}
