package org.granule.shell;

import java.util.ArrayList;
import org.granule.governor.AccountDTO;
import org.granule.memory.ByteSize;

/** Accounts of the ledger. */
final class AccountFace extends Face<AccountDTO> {

    /** Each account indented below the one that it belongs to. */
    static final AccountFace TREE = new AccountFace(true);

    /** Each account with its whole path. */
    static final AccountFace FLAT = new AccountFace(false);

    private final boolean tree;

    private AccountFace(boolean tree) {
        this.tree = tree;
    }

    @Override
    Table columns() {
        return new Table()
                .name("ACCOUNT")
                .figure("OWNED")
                .figure("LIMIT")
                .word("USE")
                .figure("MAPPED")
                .figure("RESERVED")
                .figure("PEAK")
                .figure("LEASES");
    }

    @Override
    void add(Table table, AccountDTO item) {
        table.row(
                        tree ? indented(item) : item.path,
                        ByteSize.format(item.ownedBytes),
                        ByteSize.format(item.limitBytes),
                        Bar.of(item.ownedBytes, item.limitBytes),
                        ByteSize.format(item.mappedBytes),
                        ByteSize.format(item.reservedBytes),
                        ByteSize.format(item.peakOwnedBytes),
                        Text.count(item.leases))
                .note(remarks(item));
    }

    private static String indented(AccountDTO item) {
        return item.depth == 0
                ? item.path
                : "  ".repeat(item.depth) + item.path.substring(item.path.lastIndexOf('/') + 1);
    }

    private static String remarks(AccountDTO item) {
        var remarks = new ArrayList<String>();
        if (item.excessBytes > 0) {
            remarks.add(ByteSize.format(item.excessBytes) + " above the limit, new claims are refused");
        }
        if (item.quarantinedBytes > 0) {
            remarks.add(ByteSize.format(item.quarantinedBytes) + " in quarantine");
        }
        if (item.refusals > 0) {
            remarks.add(Text.plural(item.refusals, "claim") + " refused, see granule:explain " + item.path);
        }
        return String.join("; ", remarks);
    }

    @Override
    Details details(AccountDTO item) {
        return new Details()
                .add("account", item.path)
                .add("owned", ByteSize.format(item.ownedBytes) + " = " + item.ownedBytes + " bytes")
                .add("limit", ByteSize.format(item.limitBytes))
                .add("use", Bar.of(item.ownedBytes, item.limitBytes))
                .add("above limit", ByteSize.format(item.excessBytes))
                .add("mapped", ByteSize.format(item.mappedBytes))
                .add("reserved", ByteSize.format(item.reservedBytes))
                .add("quarantined", ByteSize.format(item.quarantinedBytes))
                .add("peak", ByteSize.format(item.peakOwnedBytes))
                .add("leases", item.leases)
                .add("refusals", item.refusals);
    }

    @Override
    String id(AccountDTO item) {
        return item.path;
    }
}
