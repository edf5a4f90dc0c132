package org.granule.itest;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;

/** An allocator that a test registers itself, over arenas of its choice. */
final class PlainAllocator implements DeviceAllocator {

    final List<String> calls = new CopyOnWriteArrayList<>();
    private final DeviceKey device;
    private final Supplier<Arena> arenas;
    private final Map<Long, Arena> live = new ConcurrentHashMap<>();

    PlainAllocator(DeviceKey device) {
        this(device, Arena::ofShared);
    }

    PlainAllocator(DeviceKey device, Supplier<Arena> arenas) {
        this.device = device;
        this.arenas = arenas;
    }

    @Override
    public DeviceKey device() {
        calls.add("device");
        return device;
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        calls.add("allocate");
        var arena = arenas.get();
        long address = arena.allocate(bytes, alignment).address();
        live.put(address, arena);
        return address;
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        calls.add("release");
        live.remove(address).close();
        return new ReleaseOutcome.Complete(bytes);
    }
}
