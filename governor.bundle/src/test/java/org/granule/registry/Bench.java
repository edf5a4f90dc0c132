package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.granule.governor.AccountDTO;
import org.granule.governor.Binding;
import org.granule.ledger.Ledger;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.osgi.framework.ServiceReference;

/** A registry with its ledger, and what it reports. */
final class Bench implements AutoCloseable {

    static final DeviceKey DEVICE = new DeviceKey("fake", 0);

    final Ledger ledger = new Ledger();
    final List<String> reports = Collections.synchronizedList(new ArrayList<>());
    final List<ServiceReference<?>> services = Collections.synchronizedList(new ArrayList<>());
    final Registry registry = new Registry(ledger, () -> services, reports::add);
    private long generations;

    Binding bind(DeviceAllocator allocator) {
        return bind(allocator, ++generations);
    }

    Binding bind(DeviceAllocator allocator, long generation) {
        return registry.bind("p", generation, Fakes.reference(100 + generation), allocator, DEVICE);
    }

    AccountDTO row(String path) {
        return ledger.ledger().stream()
                .filter(dto -> dto.path.equals(path))
                .findFirst()
                .orElseThrow();
    }

    void checkLedger(long owned, long mapped, long quarantined) {
        assertThat(row("fake:0"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes, dto -> dto.quarantinedBytes)
                .as("owned, mapped, quarantined")
                .containsExactly(owned, mapped, quarantined);
        assertThat(ledger.alarms()).as("alarms").isZero();
    }

    /** Waits, up to some seconds, for something that another thread does. */
    static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        registry.close();
    }
}
