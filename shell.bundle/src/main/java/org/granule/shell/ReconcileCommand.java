package org.granule.shell;

import java.util.List;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.governor.AllocationRegistry;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReconciliationDTO;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/** Compares the books with the devices, now. */
@Component(service = ReconcileCommand.class)
@GogoCommand(scope = "granule", function = "reconcile")
public final class ReconcileCommand {

    private static final String USAGE = "reconcile [DEVICE]";

    private final AllocationRegistry registry;

    /**
     * Creates the command.
     *
     * @param registry reaches the allocators
     */
    @Activate
    public ReconcileCommand(@Reference AllocationRegistry registry) {
        this.registry = registry;
    }

    /**
     * Compares.
     *
     * @param session where a difference is printed
     * @param devices a device, or nothing for all
     * @return what was checked, when no difference was found
     * @throws DifferenceException when something differs or could not be compared, so that scripts stop there
     */
    @Descriptor("compares the books with what each device itself says, and fails when they differ")
    public Object reconcile(CommandSession session, @Descriptor("[DEVICE]: only this one") String... devices) {
        Misuse.refuseOptions(USAGE, devices);
        if (devices.length > 1) {
            throw Misuse.usage(USAGE);
        }
        var found = new Reconciled(devices.length == 0 ? registry.reconcile() : List.of(reconcile(devices[0])));
        if (!found.isClean()) {
            session.getConsole().println(Answer.wrapped(found.text()));
            session.getConsole().flush();
            throw new DifferenceException("books and device differ, or could not be compared");
        }
        return found;
    }

    private ReconciliationDTO reconcile(String device) {
        var key = DeviceKey.parse(device);
        var known = registry.devices().stream().map(one -> one.device).toList();
        if (!known.contains(key.toString())) {
            throw Misuse.unknown("device", device, known);
        }
        return registry.reconcile(key);
    }
}
