package org.granule.workload.replay;

/**
 * A replay at one moment.
 *
 * @param seconds since the start
 * @param ledgerOwnedBytes what the ledger said, for comparison
 */
public record Sample(
        double seconds,
        long ownedBytes,
        long inUseBytes,
        long mappedBytes,
        long naiveBytes,
        long usefulBytes,
        long savedBytes,
        long ledgerOwnedBytes,
        long active,
        long waiting,
        long idleBlocks,
        long completed,
        long blocks,
        long blockHits) {}
