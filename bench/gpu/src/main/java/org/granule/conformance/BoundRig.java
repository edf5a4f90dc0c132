package org.granule.conformance;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.granule.cuda.vmm.CudaRig;
import org.granule.governor.Binding;
import org.granule.ledger.Ledger;
import org.granule.memory.DeviceKey;
import org.granule.provider.MemorySession;
import org.granule.registry.Registry;
import org.granule.vmm.VmmSettings;

/** An engine on a card behind a registry and a ledger of its own with limits at three levels, and a session of it. */
public final class BoundRig implements AutoCloseable {

    private static final DeviceKey DEVICE = new DeviceKey("cuda", 0);
    private static final long GIB = 1L << 30;
    private static final long ARENA = 1L << 40;
    private static final String TENANT = "tenant";
    private static final String ROLE = "bench";

    private final CudaRig rig;
    private final Ledger ledger = new Ledger();
    private final Registry registry;
    private final Binding binding;
    private final MemorySession session;

    /**
     * Makes one.
     *
     * @param keptBytes the engine's bound of kept blocks
     * @param idleBytes the engine's bound of idle handles
     */
    public BoundRig(long keptBytes, long idleBytes) {
        rig = new CudaRig(new VmmSettings(DEVICE, ARENA, keptBytes, idleBytes, GIB), UnaryOperator.identity());
        ledger.limit(DEVICE.toString(), 120 * GIB);
        ledger.limit(DEVICE + "/" + TENANT, 110 * GIB);
        ledger.limit(DEVICE + "/" + TENANT + "/" + ROLE, 100 * GIB);
        var reference = Services.reference(DEVICE);
        registry = new Registry(ledger, () -> List.of(reference), System.err::println);
        binding = registry.bind("bench", 1, reference, rig.allocator(), DEVICE);
        session = binding.open(TENANT, ROLE);
    }

    /** Returns the session. */
    public MemorySession session() {
        return session;
    }

    /** Returns the engine and its driver. */
    public CudaRig rig() {
        return rig;
    }

    /** Ends it, and fails when something is still charged. */
    @Override
    public void close() {
        session.close();
        long left = binding.close(Duration.ofSeconds(5));
        registry.close();
        rig.allocator().close();
        rig.close();
        long owned = ledger.ledger().stream()
                .filter(row -> row.path.equals(DEVICE.toString()))
                .mapToLong(row -> row.ownedBytes)
                .sum();
        if (left != 0 || owned != 0 || ledger.alarms() != 0) {
            throw new IllegalStateException(
                    left + " bytes in quarantine, " + owned + " charged, " + ledger.alarms() + " alarms after the end");
        }
    }
}
