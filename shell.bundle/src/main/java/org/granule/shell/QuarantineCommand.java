package org.granule.shell;

import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.memory.ByteSize;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/** Memory whose release did not finish: what it is, and another try by the operator. */
@Component(service = QuarantineCommand.class)
@GogoCommand(scope = "granule", function = "quarantine")
public final class QuarantineCommand {

    private static final String QUARANTINED = "QUARANTINED";
    private static final String USAGE = "quarantine [settle TOKEN]";

    private final AllocationRegistry registry;

    /**
     * Creates the command.
     *
     * @param registry the allocations
     */
    @Activate
    public QuarantineCommand(@Reference AllocationRegistry registry) {
        this.registry = registry;
    }

    /**
     * Lists quarantined allocations, or tries again to release one.
     *
     * @param arguments nothing, or {@code settle} and a token
     * @return the list, or what became of the allocation
     */
    @Descriptor("lists memory whose release did not finish, or tries once more to release it")
    public Object quarantine(@Descriptor("[settle TOKEN]: try once more; without it, list") String... arguments) {
        Misuse.refuseOptions(USAGE, arguments);
        if (arguments.length == 0) {
            return list();
        }
        if (arguments.length != 2 || !"settle".equals(arguments[0])) {
            throw Misuse.usage(USAGE);
        }
        long token = Misuse.token(arguments[1]);
        return Outcome.of(token, registry.settle(token));
    }

    static boolean isQuarantined(AllocationDTO allocation) {
        return QUARANTINED.equals(allocation.state);
    }

    private Listing<?> list() {
        var all = registry.allocations().stream()
                .filter(QuarantineCommand::isQuarantined)
                .toList();
        if (all.isEmpty()) {
            return new Listing<>(all, AllocationFace.QUARANTINED, "nothing is in quarantine", null);
        }
        long owned = all.stream().mapToLong(one -> one.ownedBytes).sum();
        var summary = Text.plural(all.size(), "allocation") + ", " + ByteSize.format(owned) + " still owned";
        return new Listing<>(
                all, AllocationFace.QUARANTINED, summary, summary + "; granule:quarantine settle TOKEN tries again");
    }
}
