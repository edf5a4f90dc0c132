package org.granule.shell;

import java.util.List;
import java.util.Optional;
import org.granule.governor.AccountDTO;

/** Finds accounts by path in one reading of the ledger. */
final class Accounts {

    private static final int TENANT = 1;

    private final List<AccountDTO> all;

    Accounts(List<AccountDTO> all) {
        this.all = all;
    }

    Optional<AccountDTO> find(String path) {
        return all.stream().filter(account -> account.path.equals(path)).findFirst();
    }

    AccountDTO require(String path) {
        return find(path).orElseThrow(() -> Misuse.unknown("account", path, paths()));
    }

    List<AccountDTO> below(String path) {
        require(path);
        return all.stream()
                .filter(account -> account.path.equals(path) || account.path.startsWith(path + "/"))
                .toList();
    }

    List<String> paths() {
        return all.stream().map(account -> account.path).toList();
    }

    List<String> tenants() {
        return all.stream()
                .filter(account -> account.depth == TENANT)
                .map(account -> part(account.path, TENANT))
                .distinct()
                .toList();
    }

    List<String> roles() {
        return all.stream()
                .filter(account -> account.depth > TENANT)
                .map(account -> part(account.path, TENANT + 1))
                .distinct()
                .toList();
    }

    /** Returns the device, tenant or role of a path: 0, 1 or 2; empty when the path is shorter. */
    static String part(String path, int depth) {
        var parts = path == null ? new String[0] : path.split("/");
        return depth < parts.length ? parts[depth] : "";
    }
}
