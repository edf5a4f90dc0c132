package org.granule.vmm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/**
 * The addresses of a device and who has them. Addresses come from the driver in large arenas and are cut
 * into spans here. The lock is held for the books only, never across a driver call.
 */
final class AddressSpace {

    private static final int CHUNK_SHIFT = 12;

    /** No device has more; what is longer would only be refused after books for it were made. */
    private static final long MAX_ADDRESSES = 1L << 48;

    /** One contiguous range from the driver, with the reservation that starts at each of its granules. */
    private static final class Arena {
        final long start;
        final long length;
        final int shift;
        final Spans spans;
        final AtomicReferenceArray<AtomicReferenceArray<Reservation>> chunks;

        Arena(long start, long length, int shift) {
            this.start = start;
            this.length = length;
            this.shift = shift;
            this.spans = new Spans(start, length);
            this.chunks = new AtomicReferenceArray<>(Math.toIntExact((length >>> shift + CHUNK_SHIFT) + 1));
        }

        boolean holds(long address) {
            return address - start >= 0 && address - start < length;
        }

        Reservation get(long address) {
            long granule = address - start >>> shift;
            var chunk = chunks.get((int) (granule >>> CHUNK_SHIFT));
            return chunk == null ? null : chunk.get((int) granule & (1 << CHUNK_SHIFT) - 1);
        }

        void collect(List<Reservation> found) {
            for (int i = 0; i < chunks.length(); i++) {
                var chunk = chunks.get(i);
                for (int k = 0; chunk != null && k < chunk.length(); k++) {
                    var reservation = chunk.get(k);
                    if (reservation != null) {
                        found.add(reservation);
                    }
                }
            }
        }

        void set(long address, Reservation reservation) {
            long granule = address - start >>> shift;
            int index = (int) (granule >>> CHUNK_SHIFT);
            var chunk = chunks.get(index);
            if (chunk == null) {
                var made = new AtomicReferenceArray<Reservation>(1 << CHUNK_SHIFT);
                chunk = chunks.compareAndSet(index, null, made) ? made : chunks.get(index);
            }
            chunk.set((int) granule & (1 << CHUNK_SHIFT) - 1, reservation);
        }
    }

    private final GuardedDriver driver;
    private final long arenaBytes;
    private final int shift;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Arena[] arenas = {};

    AddressSpace(GuardedDriver driver, long granuleBytes, long arenaBytes) {
        this.driver = driver;
        this.shift = Long.numberOfTrailingZeros(granuleBytes);
        this.arenaBytes = (arenaBytes + granuleBytes - 1) & -granuleBytes;
    }

    /** Takes addresses, a multiple of the granule and aligned. */
    long take(long bytes, long alignment) {
        long found = cut(bytes, alignment);
        while (found < 0) {
            long room = alignment > 1L << shift ? bytes + alignment : bytes;
            if (room < bytes || room > MAX_ADDRESSES) {
                throw new DriverFaultException(
                        Kind.OUT_OF_MEMORY, "no address range of " + bytes + " bytes aligned to " + alignment);
            }
            long length = Math.max(room, arenaBytes);
            add(new Arena(driver.reserve(length), length, shift));
            found = cut(bytes, alignment);
        }
        return found;
    }

    private void add(Arena arena) {
        lock.lock();
        try {
            var more = new Arena[arenas.length + 1];
            System.arraycopy(arenas, 0, more, 0, arenas.length);
            more[arenas.length] = arena;
            arenas = more;
        } finally {
            lock.unlock();
        }
    }

    private long cut(long bytes, long alignment) {
        lock.lock();
        try {
            for (Arena arena : arenas) {
                long start = arena.spans.take(bytes, alignment);
                if (start >= 0) {
                    return start;
                }
            }
            return -1;
        } finally {
            lock.unlock();
        }
    }

    /** Gives addresses back for others. Nothing is mapped there. */
    void give(long address, long bytes) {
        lock.lock();
        try {
            arenaOf(address).spans.give(address, bytes);
        } finally {
            lock.unlock();
        }
    }

    /** Notes who starts at an address; null for nobody. */
    void note(long address, Reservation reservation) {
        arenaOf(address).set(address, reservation);
    }

    /** Finds the reservation that starts at an address, or null. */
    Reservation find(long address) {
        for (Arena arena : arenas) {
            if (arena.holds(address)) {
                return (address - arena.start & (1L << shift) - 1) == 0 ? arena.get(address) : null;
            }
        }
        return null;
    }

    /** Lists all reservations that can be found by their address, kept blocks included. */
    List<Reservation> reservations() {
        var found = new ArrayList<Reservation>();
        for (Arena arena : arenas) {
            arena.collect(found);
        }
        return found;
    }

    /** A range of addresses. */
    record Range(long start, long bytes) {}

    /** Lists the free ranges, in each arena up to the highest address that was ever taken. */
    List<Range> freeRanges() {
        var found = new ArrayList<Range>();
        lock.lock();
        try {
            for (Arena arena : arenas) {
                arena.spans.forEachUsedBefore((start, bytes) -> found.add(new Range(start, bytes)));
            }
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Takes just this range so that nobody else gets it meanwhile; false when it is not free. */
    boolean hold(long address, long bytes) {
        lock.lock();
        try {
            for (Arena arena : arenas) {
                if (arena.holds(address)) {
                    return arena.spans.takeAt(address, bytes);
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Gives arenas back to the driver in which nothing is taken. What the driver refuses stays for the next time. */
    void freeWholeArenas() {
        DriverFaultException first = null;
        for (Arena arena : removeWholeArenas()) {
            try {
                driver.free(arena.start, arena.length);
            } catch (DriverFaultException e) {
                add(arena);
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private List<Arena> removeWholeArenas() {
        List<Arena> whole = new ArrayList<>();
        lock.lock();
        try {
            List<Arena> stay = new ArrayList<>();
            for (Arena arena : arenas) {
                (arena.spans.freeBytes() == arena.length ? whole : stay).add(arena);
            }
            arenas = stay.toArray(Arena[]::new);
            return whole;
        } finally {
            lock.unlock();
        }
    }

    /** How many free spans there are; one for each arena when nothing is taken. */
    int spanCount() {
        lock.lock();
        try {
            int count = 0;
            for (Arena arena : arenas) {
                count += arena.spans.count();
            }
            return count;
        } finally {
            lock.unlock();
        }
    }

    boolean isLockedByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }

    private Arena arenaOf(long address) {
        for (Arena arena : arenas) {
            if (arena.holds(address)) {
                return arena;
            }
        }
        throw new IllegalStateException("0x" + Long.toHexString(address) + " is in no arena");
    }
}
