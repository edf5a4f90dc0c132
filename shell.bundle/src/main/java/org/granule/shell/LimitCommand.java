package org.granule.shell;

import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.governor.Governor;
import org.granule.memory.ByteSize;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/** Shows and sets limits. */
@Component(service = LimitCommand.class)
@GogoCommand(scope = "granule", function = "limit")
public final class LimitCommand {

    private static final String UNLIMITED = "unlimited";
    private static final String USAGE = "limit [ACCOUNT [SIZE | unlimited]]";

    private final Governor governor;

    /**
     * Creates the command.
     *
     * @param governor the ledger
     */
    @Activate
    public LimitCommand(@Reference Governor governor) {
        this.governor = governor;
    }

    /**
     * Shows all limits or one, or sets one.
     *
     * @param arguments nothing, a path, or a path and a size
     * @return the accounts that have a limit, or one limit
     */
    @Descriptor("shows the accounts that have a limit, shows one limit, or sets it")
    public Object limit(@Descriptor("[ACCOUNT [SIZE | unlimited]]: such as host:0/tenant-a 2GiB") String... arguments) {
        Misuse.refuseOptions(USAGE, arguments);
        return switch (arguments.length) {
            case 0 -> list();
            case 1 -> show(arguments[0]);
            case 2 -> set(arguments[0], arguments[1]);
            default -> throw Misuse.usage(USAGE);
        };
    }

    private Listing<?> list() {
        var limited = governor.ledger().stream()
                .filter(account -> account.limitBytes != Long.MAX_VALUE)
                .toList();
        var summary = limited.isEmpty() ? "no account has a limit" : Text.plural(limited.size(), "limit");
        return new Listing<>(limited, AccountFace.FLAT, summary, null);
    }

    private Limit show(String path) {
        var account = new Accounts(governor.ledger()).require(path);
        return new Limit(path, account.limitBytes, account.ownedBytes, false);
    }

    private Limit set(String path, String size) {
        // Read before anything is looked up: a malformed size must not make an account.
        long bytes = UNLIMITED.equalsIgnoreCase(size) ? Long.MAX_VALUE : ByteSize.parse(size);
        boolean made = new Accounts(governor.ledger()).find(path).isEmpty();
        long excess = governor.limit(path, bytes);
        // The excess is exact for the moment at which the limit took hold; a later reading may be another.
        long owned = excess > 0
                ? bytes + excess
                : new Accounts(governor.ledger())
                        .find(path)
                        .map(a -> a.ownedBytes)
                        .orElse(0L);
        return new Limit(path, bytes, owned, made);
    }
}
