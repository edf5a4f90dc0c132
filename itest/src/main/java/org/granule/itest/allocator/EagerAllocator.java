package org.granule.itest.allocator;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;

/** The smallest allocator: an arena for each allocation. */
final class EagerAllocator implements DeviceAllocator {

    private final DeviceKey device;
    private final Map<Long, Arena> live = new ConcurrentHashMap<>();

    EagerAllocator(DeviceKey device) {
        this.device = device;
    }

    @Override
    public DeviceKey device() {
        return device;
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        var arena = Arena.ofShared();
        long address = arena.allocate(bytes, alignment).address();
        live.put(address, arena);
        return address;
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        live.remove(address).close();
        return new ReleaseOutcome.Complete(bytes);
    }

    static Mechanism of(DeviceKey device) {
        var eager = new EagerAllocator(device);
        return new Mechanism(eager, eager::leftover, () -> {});
    }

    private String leftover() {
        return live.isEmpty() ? "nothing" : live.size() + " allocations";
    }
}
