package org.granule.vmm;

import java.util.List;
import org.granule.memory.Account;

/** Handles that many may map. It holds one use of each until it is retired. */
final class Prefix {

    private final long number;
    private final List<Extent> extents;
    private final Account account;
    private boolean retired;

    Prefix(long number, List<Extent> extents, Account account) {
        this.number = number;
        this.extents = extents;
        this.account = account;
    }

    long number() {
        return number;
    }

    List<Extent> extents() {
        return extents;
    }

    Account account() {
        return account;
    }

    /** Adds a use to each handle for a mapping to come; false when the prefix has ended. */
    synchronized boolean use() {
        if (!retired) {
            extents.forEach(Extent::use);
        }
        return !retired;
    }

    synchronized boolean isRetired() {
        return retired;
    }

    /** Ends it; true for the first. */
    synchronized boolean retire() {
        boolean first = !retired;
        retired = true;
        return first;
    }
}
