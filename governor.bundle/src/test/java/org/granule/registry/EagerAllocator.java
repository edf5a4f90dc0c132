package org.granule.registry;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import java.util.function.UnaryOperator;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;

/** The shortest allocator: required members only, addresses without memory, and what a test wants it to do wrong. */
class EagerAllocator implements DeviceAllocator {

    private final DeviceKey device;
    private final Map<Long, Long> live = new HashMap<>();
    private final Map<Long, Deque<Long>> free = new HashMap<>();
    private final List<String> mistakes = new ArrayList<>();
    private long next = 1L << 32;

    final AtomicLong calls = new AtomicLong();
    volatile LongUnaryOperator answer = address -> address;
    volatile UnaryOperator<ReleaseOutcome> outcome = given -> given;
    volatile Runnable inside = () -> {};

    EagerAllocator() {
        this(new DeviceKey("fake", 0));
    }

    EagerAllocator(DeviceKey device) {
        this.device = device;
    }

    @Override
    public DeviceKey device() {
        return device;
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        calls.incrementAndGet();
        inside.run();
        long address;
        synchronized (this) {
            long size = Math.max(bytes, alignment);
            var again = free.getOrDefault(bytes, new ArrayDeque<>());
            var fitting = again.stream().filter(at -> (at & alignment - 1) == 0).findFirst();
            if (fitting.isPresent()) {
                address = fitting.get();
                again.remove(address);
            } else {
                address = next + alignment - 1 & -alignment;
                next = address + size;
            }
            live.put(address, bytes);
        }
        return answer.applyAsLong(address);
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        calls.incrementAndGet();
        inside.run();
        // Asked before anything is given back: a release that fails changes nothing.
        var given = outcome.apply(new ReleaseOutcome.Complete(bytes));
        if (given instanceof ReleaseOutcome.Complete) {
            synchronized (this) {
                if (!Long.valueOf(bytes).equals(live.remove(address))) {
                    mistakes.add("release of " + bytes + " bytes at " + address);
                }
                free.computeIfAbsent(bytes, size -> new ArrayDeque<>()).addLast(address);
            }
        }
        return given;
    }

    synchronized int liveBlocks() {
        return live.size();
    }

    /** What the registry must never have let through. */
    synchronized List<String> mistakes() {
        return List.copyOf(mistakes);
    }
}
