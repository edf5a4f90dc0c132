package org.granule.registry;

import org.granule.ledger.LedgerAccount;

/**
 * Who slots belong to: the inside of a session, which outlives the object that users hold, so that a session that
 * was dropped can still be told from one that was closed.
 */
final class Owner {

    final long number;
    final LedgerAccount account;
    /** Where the session was opened. */
    final String site;

    /** Set once, before its slots are released or quarantined. */
    private volatile boolean ended;

    Owner(long number, LedgerAccount account, String site) {
        this.number = number;
        this.account = account;
        this.site = site;
    }

    boolean hasEnded() {
        return ended;
    }

    void end() {
        ended = true;
    }
}
