package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.Binding;
import org.granule.governor.BindingDTO;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.StaleTokenException;
import org.osgi.framework.ServiceReference;

/** A registry that is two lists. */
final class FakeRegistry implements AllocationRegistry {

    final List<AllocatorDTO> allocators = new ArrayList<>();
    final List<AllocationDTO> allocations = new ArrayList<>();
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
}
