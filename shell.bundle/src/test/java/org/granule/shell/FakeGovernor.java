package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import org.granule.governor.AccountDTO;
import org.granule.governor.Governor;
import org.granule.governor.Lease;
import org.granule.memory.Account;
import org.granule.memory.DeviceKey;

/** A ledger that is a list. */
final class FakeGovernor implements Governor {

    final List<AccountDTO> accounts = new ArrayList<>();
    List<String> explanation = List.of();
    long alarms;

    AccountDTO add(String path, long owned, long limit) {
        var account = new AccountDTO();
        account.path = path;
        account.depth = path.split("/").length - 1;
        account.ownedBytes = owned;
        account.limitBytes = limit;
        account.excessBytes = Math.max(0, owned - limit);
        accounts.add(account);
        return account;
    }

    @Override
    public Account account(DeviceKey device, String tenant, String role) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long limit(String path, long bytes) {
        var account = accounts.stream()
                .filter(one -> one.path.equals(path))
                .findFirst()
                .orElseGet(() -> add(path, 0, bytes));
        account.limitBytes = bytes;
        account.excessBytes = Math.max(0, account.ownedBytes - bytes);
        return account.excessBytes;
    }

    @Override
    public Lease claim(Account account, long bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Lease record(Account account, long bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<AccountDTO> ledger() {
        return List.copyOf(accounts);
    }

    @Override
    public long alarms() {
        return alarms;
    }

    @Override
    public List<String> explain(String path) {
        return explanation;
    }
}
