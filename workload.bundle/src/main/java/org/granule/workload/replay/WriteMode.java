package org.granule.workload.replay;

/** How much of a granule is written and verified. */
public enum WriteMode {
    /** Every byte. */
    full,
    /** One page of 4 KiB in each granule. */
    sparse
}
