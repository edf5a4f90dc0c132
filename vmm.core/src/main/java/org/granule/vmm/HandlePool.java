package org.granule.vmm;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.granule.memory.Account;

/**
 * Physical handles that are mapped nowhere and wait for the next commit, up to a bound. Creating a handle
 * and touching it for the first time is what a commit costs most.
 */
final class HandlePool {

    /** How many handles of a size are looked at for one that needs no scrubbing. */
    private static final int LOOK = 8;

    private final long boundBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Long, ArrayDeque<Extent>> bySize = new TreeMap<>();
    private long bytes;

    HandlePool(long boundBytes) {
        this.boundBytes = boundBytes;
    }

    /** Takes a handle of exactly this size, if possible one that the account wrote last; null when there is none. */
    Extent take(long size, Account account) {
        lock.lock();
        try {
            var extents = bySize.get(size);
            if (extents == null || extents.isEmpty()) {
                return null;
            }
            Extent found = null;
            int looked = 0;
            for (Iterator<Extent> youngest = extents.descendingIterator();
                    youngest.hasNext() && looked < LOOK;
                    looked++) {
                var extent = youngest.next();
                if (extent.wasWrittenBy(account)) {
                    youngest.remove();
                    found = extent;
                    break;
                }
            }
            if (found == null) {
                found = extents.pollLast();
            }
            bytes -= size;
            return found;
        } finally {
            lock.unlock();
        }
    }

    /** Sets room aside for a handle to come, or refuses when the bound would be passed. */
    boolean admit(long size) {
        lock.lock();
        try {
            if (size > boundBytes - bytes) {
                return false;
            }
            bytes += size;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Keeps a handle that was admitted. */
    void add(Extent extent) {
        lock.lock();
        try {
            bySize.computeIfAbsent(extent.bytes, size -> new ArrayDeque<>()).addLast(extent);
        } finally {
            lock.unlock();
        }
    }

    /** Puts a handle back that was just taken, whatever the bound. */
    void putBack(Extent extent) {
        lock.lock();
        try {
            bySize.computeIfAbsent(extent.bytes, size -> new ArrayDeque<>()).addLast(extent);
            bytes += extent.bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the handle to give up first: the oldest of the largest size. */
    Extent evict() {
        lock.lock();
        try {
            for (var extents : bySize.descendingMap().values()) {
                var oldest = extents.pollFirst();
                if (oldest != null) {
                    bytes -= oldest.bytes;
                    return oldest;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Lists what waits now. */
    List<Extent> all() {
        lock.lock();
        try {
            return bySize.values().stream().flatMap(ArrayDeque::stream).toList();
        } finally {
            lock.unlock();
        }
    }

    boolean contains(Extent extent) {
        lock.lock();
        try {
            var extents = bySize.get(extent.bytes);
            return extents != null && extents.contains(extent);
        } finally {
            lock.unlock();
        }
    }

    boolean isLockedByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }
}
