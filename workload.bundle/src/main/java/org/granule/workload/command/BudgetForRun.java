package org.granule.workload.command;

import org.granule.governor.AccountDTO;
import org.granule.governor.Governor;
import org.granule.workload.replay.LedgerReading;

/** The account of a replay: a limit for the time of the run, and what the ledger says of it. */
final class BudgetForRun implements AutoCloseable {

    private final Governor governor;
    private final String path;
    private final Long limitBefore;

    /**
     * Sets the limit.
     *
     * @param bytes the limit, or null to leave it alone
     */
    BudgetForRun(Governor governor, String path, Long bytes) {
        this.governor = governor;
        this.path = path;
        this.limitBefore = bytes == null ? null : account().limitBytes;
        if (bytes != null) {
            governor.limit(path, bytes);
        }
    }

    LedgerReading reading() {
        var account = account();
        return new LedgerReading(account.ownedBytes, account.mappedBytes, account.leases, account.quarantinedBytes);
    }

    private AccountDTO account() {
        return governor.ledger().stream()
                .filter(account -> account.path.equals(path))
                .findFirst()
                .orElseGet(BudgetForRun::untouched);
    }

    /** An account that nobody has used yet is not listed. */
    private static AccountDTO untouched() {
        var account = new AccountDTO();
        account.limitBytes = Long.MAX_VALUE;
        return account;
    }

    @Override
    public void close() {
        if (limitBefore != null) {
            governor.limit(path, limitBefore);
        }
    }
}
