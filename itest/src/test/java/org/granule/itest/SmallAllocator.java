package org.granule.itest;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;
import org.osgi.service.component.annotations.Component;

/** Host memory from shared arenas, one for each allocation: the least that an allocator has to be. */
@Component(property = {"granule.device=host:0", "granule.mechanism=arena", "service.ranking:Integer=-1"})
public class SmallAllocator implements DeviceAllocator {

    private final Map<Long, Arena> arenas = new ConcurrentHashMap<>();

    @Override
    public DeviceKey device() {
        return new DeviceKey("host", 0);
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        var arena = Arena.ofShared();
        long address = arena.allocate(bytes, alignment).address();
        arenas.put(address, arena);
        return address;
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        arenas.remove(address).close();
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }
}
