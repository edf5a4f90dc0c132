package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.Collections;
import org.granule.governor.Binding;
import org.granule.governor.DeviceDTO;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.memory.FindingDTO;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.provider.MemorySession;
import org.granule.user.Application;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What allocators and ledger say of a device, side by side, and whether it is the same. */
@Timeout(60)
class DevicesTest {

    private static final long BYTES = 4096;

    private final Bench bench = new Bench();
    private final InspectedAllocator inspected = new InspectedAllocator();
    private long services = 500;

    @AfterEach
    void close() {
        bench.close();
    }

    private Binding bind(String holder, String mechanism, DeviceAllocator allocator) {
        var properties = Fakes.properties(++services);
        properties.put("granule.mechanism", mechanism);
        properties.put("granule.device.name", "Fake 9000");
        var reference = Fakes.reference(properties, Fakes.bundle(7, "fake.allocator"));
        return bench.registry.bind(holder, 1, reference, allocator, allocator.device());
    }

    private MemorySession open() {
        return Application.open(bind("p", "paged", inspected));
    }

    private DeviceDTO only() {
        assertThat(bench.registry.devices()).hasSize(1);
        return bench.registry.devices().getFirst();
    }

    private ReconciliationDTO reconcile() {
        return bench.registry.reconcile(Bench.DEVICE);
    }

    @Test
    void aDeviceShowsWhatItsAllocatorAndTheLedgerSay() {
        var session = open();
        session.allocate(BYTES, 1);
        bind("q", "paged", inspected);
        inspected.held.totalBytes = 1 << 20;
        inspected.held.freeBytes = 1 << 19;
        inspected.held.pooledBytes = 5;
        inspected.held.quarantinedBytes = 6;
        var device = only();
        assertThat(device.device).isEqualTo("fake:0");
        assertThat(device.name).isEqualTo("Fake 9000");
        assertThat(device.allocators).as("two bindings of one").hasSize(1);
        assertThat(device.inspected).isEqualTo(1);
        assertThat(device.totalBytes).isEqualTo(1 << 20);
        assertThat(device.freeBytes).isEqualTo(1 << 19);
        assertThat(device)
                .extracting(d -> d.ownedBytes, d -> d.mappedBytes, d -> d.pooledBytes, d -> d.quarantinedBytes)
                .containsExactly(BYTES, BYTES, 5L, 6L);
        assertThat(device)
                .extracting(
                        d -> d.ledgerOwnedBytes,
                        d -> d.ledgerMappedBytes,
                        d -> d.ledgerPooledBytes,
                        d -> d.ledgerQuarantinedBytes)
                .containsExactly(BYTES, BYTES, 0L, 0L);
        assertThat(device.differenceBytes).as("never compared").isEqualTo(-1);
    }

    @Test
    void anAllocatorThatCannotBeInspectedIsKnownByTheLedgerAlone() {
        Application.open(bind("p", "eager", new EagerAllocator())).allocate(BYTES, 1);
        var device = only();
        assertThat(device.inspected).isZero();
        assertThat(device)
                .extracting(d -> d.totalBytes, d -> d.freeBytes, d -> d.ownedBytes, d -> d.mappedBytes)
                .containsExactly(-1L, -1L, -1L, -1L);
        assertThat(device.ledgerOwnedBytes).isEqualTo(BYTES);
        var found = reconcile();
        assertThat(found.findings).isEmpty();
        assertThat(found.ledger).isEqualTo(ReconciliationDTO.NOT_COMPARED);
        assertThat(found.remarks).singleElement().asString().startsWith("eager #501 cannot be inspected");
    }

    @Test
    void devicesAreAskedApart() {
        open();
        bind("q", "eager", new EagerAllocator(new DeviceKey("fake", 1)));
        assertThat(bench.registry.devices()).extracting(device -> device.device).containsExactly("fake:0", "fake:1");
        assertThat(bench.registry.reconcile())
                .extracting(found -> found.device, found -> found.ledger)
                .containsExactly(
                        tuple("fake:0", ReconciliationDTO.COMPARED), tuple("fake:1", ReconciliationDTO.NOT_COMPARED));
        assertThatThrownBy(() -> bench.registry.reconcile(new DeviceKey("fake", 2)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("fake:2");
    }

    @Test
    @DisplayName("D13 findings are passed on with the allocator's name, and the last difference is remembered")
    void findings() {
        open();
        inspected.comparison = () -> InspectedAllocator.finding(FindingDTO.MAPPING_MISSING, 100);
        var found = reconcile();
        assertThat(found.handlesChecked).isEqualTo(7);
        assertThat(found.mappingsChecked).isEqualTo(8);
        assertThat(found.findingCount).isEqualTo(1);
        assertThat(found.differenceBytes).isEqualTo(100);
        assertThat(found.findings).singleElement().satisfies(one -> {
            assertThat(one.kind).isEqualTo(FindingDTO.MAPPING_MISSING);
            assertThat(one.allocator).isEqualTo("paged #501");
        });
        assertThat(only().differenceBytes).isEqualTo(100);
        inspected.comparison = ReconciliationDTO::new;
        assertThat(reconcile().ledger).isEqualTo(ReconciliationDTO.COMPARED);
        assertThat(only().differenceBytes).isZero();
    }

    @Test
    @DisplayName("D13 the ledger and the allocators differ: a finding, and leases are no difference")
    void ledgerDiffers() {
        var session = open();
        session.allocate(BYTES, 1);
        try (var lease = bench.ledger.claim(bench.ledger.account(Bench.DEVICE, "a", "lease"), 777)) {
            assertThat(lease.bytes()).isEqualTo(777);
            assertThat(reconcile().findings).isEmpty();
            inspected.held.ownedBytes -= 10;
            assertThat(reconcile().findings).singleElement().satisfies(one -> {
                assertThat(one.kind).isEqualTo(FindingDTO.LEDGER_DIFFERS);
                assertThat(one.bytes).isEqualTo(10);
                assertThat(one.account).isEqualTo("fake:0");
            });
        }
        assertThat(only().differenceBytes).isEqualTo(10);
        inspected.held.ownedBytes += 10;
        assertThat(reconcile().findings).isEmpty();
    }

    @Test
    @DisplayName("D13 what never stands still is no difference")
    void moving() {
        open();
        inspected.before = () -> {
            inspected.held.ownedBytes = BYTES;
            inspected.held.changes++;
        };
        assertThat(reconcile())
                .extracting(found -> found.ledger, found -> found.findingCount, found -> found.differenceBytes)
                .containsExactly(ReconciliationDTO.MOVING, 0L, 0L);
        inspected.before = () -> inspected.held.changing = 1;
        assertThat(reconcile().ledger).isEqualTo(ReconciliationDTO.MOVING);
        inspected.before = () -> inspected.held.ownedBytes = 0;
        assertThat(reconcile().ledger).as("agreement needs no rest").isEqualTo(ReconciliationDTO.COMPARED);
    }

    @Test
    @DisplayName("A13 an allocator that throws or answers null is named and keeps no other from being compared")
    void faults() {
        open();
        var other = new InspectedAllocator();
        bind("q", "other", other);
        other.comparison = () -> InspectedAllocator.finding(FindingDTO.HANDLE_MISSING, 3);
        inspected.comparison = () -> {
            throw new DriverFaultException(DriverFaultException.Kind.DEVICE_LOST, "lost");
        };
        var found = reconcile();
        assertThat(found.faults).singleElement().asString().contains("paged #501", "lost");
        assertThat(found.findings).singleElement().satisfies(one -> assertThat(one.allocator)
                .isEqualTo("other #502"));
        assertThat(found.ledger).isEqualTo(ReconciliationDTO.NOT_COMPARED);
        assertThat(bench.registry.allocators()).as("a lost device is no breach").isEmpty();
        assertThat(bench.reports).isEmpty();

        inspected.comparison = () -> null;
        assertThat(reconcile().faults).singleElement().asString().contains("G400", "null from reconcile");
        var nulls = new ReconciliationDTO();
        nulls.findings = Collections.singletonList(null);
        inspected.comparison = () -> nulls;
        assertThat(reconcile().faults).singleElement().asString().contains("null in the findings");
        inspected.comparison = ReconciliationDTO::new;
        inspected.before = () -> {
            throw new IllegalStateException("broken");
        };
        assertThat(reconcile().faults).singleElement().asString().contains("G400", "broken");
        assertThat(only().inspected).as("the other one").isEqualTo(1);
        assertThat(bench.reports).isNotEmpty();
    }

    @Test
    void whatAnEndedBindingLeftIsInTheLedgerAlone() {
        var binding = bind("p", "paged", inspected);
        Application.open(binding).allocate(BYTES, 1);
        inspected.outcome = given ->
                new ReleaseOutcome.Failed(new DriverFaultException(DriverFaultException.Kind.INVALID, "stays"));
        binding.close(Duration.ZERO);
        assertThat(bench.registry.devices()).isEmpty();
        bind("q", "paged", new InspectedAllocator());
        var found = reconcile();
        assertThat(found.ledger).isEqualTo(ReconciliationDTO.NOT_COMPARED);
        assertThat(found.findings).isEmpty();
        assertThat(found.remarks).singleElement().asString().contains("in quarantine");
    }
}
