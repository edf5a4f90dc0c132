package org.granule.workload.replay;

/** The account of a replay at one moment. */
public record LedgerReading(long ownedBytes, long mappedBytes, long leases, long quarantinedBytes) {

    /** An account that holds nothing. */
    public static final LedgerReading ZERO = new LedgerReading(0, 0, 0, 0);

    public boolean isZero() {
        return equals(ZERO);
    }
}
