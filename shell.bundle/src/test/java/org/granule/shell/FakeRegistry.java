package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.Binding;
import org.granule.governor.BindingDTO;
import org.granule.governor.DeviceDTO;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.FindingDTO;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.StaleTokenException;
import org.osgi.framework.ServiceReference;

/** A registry that is two lists. */
final class FakeRegistry implements AllocationRegistry {

    final List<AllocatorDTO> allocators = new ArrayList<>();
    final List<AllocationDTO> allocations = new ArrayList<>();
    final List<DeviceDTO> devices = new ArrayList<>();
    final List<ReconciliationDTO> reconciled = new ArrayList<>();
    ReleaseOutcome settled = new ReleaseOutcome.Complete(4096);

    static AllocatorDTO allocator(long id, String mechanism, String state) {
        var allocator = new AllocatorDTO();
        allocator.serviceId = id;
        allocator.bundleId = 10;
        allocator.bundle = "org.granule.host";
        allocator.version = "0.1.0";
        allocator.device = "host:0";
        allocator.mechanism = mechanism;
        allocator.facets = "virtual, shared";
        allocator.state = state;
        return allocator;
    }

    static DeviceDTO device(String key, AllocatorDTO... allocators) {
        var device = new DeviceDTO();
        device.device = key;
        device.allocators.addAll(List.of(allocators));
        device.inspected = allocators.length;
        device.totalBytes = -1;
        device.freeBytes = -1;
        device.differenceBytes = -1;
        return device;
    }

    static ReconciliationDTO reconciliation(String device, FindingDTO... findings) {
        var result = new ReconciliationDTO();
        result.device = device;
        result.handlesChecked = 3;
        result.mappingsChecked = 1;
        result.ledger = ReconciliationDTO.COMPARED;
        result.findings.addAll(List.of(findings));
        result.findingCount = findings.length;
        for (var finding : findings) {
            result.differenceBytes += finding.bytes;
        }
        return result;
    }

    static FindingDTO finding(String kind, long address, long handle, String account) {
        var finding = new FindingDTO();
        finding.kind = kind;
        finding.address = address;
        finding.handle = handle;
        finding.bytes = 2 << 20;
        finding.account = account;
        finding.allocator = "host-vmm #55";
        return finding;
    }

    static AllocationDTO allocation(long token, String provider, String account, String state) {
        var allocation = new AllocationDTO();
        allocation.token = token;
        allocation.kind = "ALLOCATION";
        allocation.provider = provider;
        allocation.generation = 1;
        allocation.account = account;
        allocation.bytes = 2 << 20;
        allocation.ageNanos = 3_200_000_000L;
        allocation.state = state;
        return allocation;
    }

    @Override
    public Binding bind(
            String holder,
            long generation,
            ServiceReference<DeviceAllocator> reference,
            DeviceAllocator allocator,
            DeviceKey device) {
        throw new UnsupportedOperationException();
    }

    @Override
    public AllocatorDTO describe(ServiceReference<?> reference) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<AllocatorDTO> allocators() {
        return List.copyOf(allocators);
    }

    @Override
    public List<BindingDTO> bindings() {
        return List.of();
    }

    @Override
    public List<AllocationDTO> allocations() {
        return List.copyOf(allocations);
    }

    @Override
    public ReleaseOutcome settle(long token) {
        if (allocations.stream().noneMatch(one -> one.token == token)) {
            throw new StaleTokenException("no quarantined allocation has the token " + token);
        }
        return settled;
    }

    @Override
    public long trim(DeviceKey device, long bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<DeviceDTO> devices() {
        return List.copyOf(devices);
    }

    @Override
    public List<ReconciliationDTO> reconcile() {
        return List.copyOf(reconciled);
    }

    @Override
    public ReconciliationDTO reconcile(DeviceKey device) {
        return reconciled.stream()
                .filter(one -> one.device.equals(device.toString()))
                .findFirst()
                .orElseThrow();
    }
}
