package org.granule.registry;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.granule.memory.Fence;

/**
 * What queued work touches of one allocation, in one life of its slot. Fences are asked without a lock: they are
 * somebody else's code.
 */
final class Uses {

    private static final int FIRST_PRUNE = 8;
    private static final int SPINS = 200;
    private static final long PAUSE_NANOS = 20_000;

    /** Compared by identity, since a fence may have an equals of its own. */
    private static final class Use {
        final long from;
        final long to;
        final Fence fence;
        final long since = System.nanoTime();

        Use(long from, long to, Fence fence) {
            this.from = from;
            this.to = to;
            this.fence = fence;
        }

        boolean overlaps(long otherFrom, long otherTo) {
            return from < otherTo && otherFrom < to;
        }
    }

    private final List<Use> all = new ArrayList<>();
    private int pruneAt = FIRST_PRUNE;

    /** Adds a range. Afterwards {@link #prune} is due, from where nothing is held. */
    synchronized void add(long from, long to, Fence fence) {
        all.add(new Use(from, to, fence));
    }

    /**
     * Drops what has passed when there is twice as much as was left the last time, so that a piece of work costs a
     * few questions on average however many are queued.
     */
    void prune() {
        synchronized (this) {
            if (all.size() < pruneAt) {
                return;
            }
        }
        dropPassed();
        synchronized (this) {
            pruneAt = Math.max(FIRST_PRUNE, 2 * all.size());
        }
    }

    void dropPassed() {
        dropPassed(0, Long.MAX_VALUE);
    }

    private void dropPassed(long from, long to) {
        var passed = new HashSet<Use>();
        for (Use use : of(from, to)) {
            if (hasPassed(use.fence)) {
                passed.add(use);
            }
        }
        if (!passed.isEmpty()) {
            synchronized (this) {
                all.removeIf(passed::contains);
            }
        }
    }

    private synchronized List<Use> of(long from, long to) {
        return all.stream().filter(use -> use.overlaps(from, to)).toList();
    }

    /** Whether work that is not known to be done touches a range. Asks no fence. */
    synchronized boolean touches(long from, long to) {
        return all.stream().anyMatch(use -> use.overlaps(from, to));
    }

    synchronized boolean isEmpty() {
        return all.isEmpty();
    }

    /** The fences of work that is not known to be done. Asks none. */
    List<Fence> fences() {
        return of(0, Long.MAX_VALUE).stream().map(use -> use.fence).toList();
    }

    /** Waits until no work that was recorded by then touches a range; false when that takes too long. */
    boolean awaitPassed(long from, long to, long deadlineNanos) {
        for (int turn = 0; ; turn++) {
            dropPassed(from, to);
            if (!touches(from, to)) {
                return true;
            }
            if (System.nanoTime() - deadlineNanos >= 0) {
                return false;
            }
            if (turn < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** How many fences hold a range, and for how long the oldest has. */
    String figures(long from, long to) {
        var left = of(from, to);
        long now = System.nanoTime();
        long oldest = left.stream().mapToLong(use -> now - use.since).max().orElse(0);
        return left.size() + (left.size() == 1 ? " fence" : " fences") + " of queued work, the oldest recorded "
                + oldest / 1_000_000 + " ms ago,";
    }

    /** Asks a fence; one that throws has by contract not passed: to unmap what is still used is the worse mistake. */
    static boolean hasPassed(Fence fence) {
        try {
            return fence.passed();
        } catch (RuntimeException | Error e) {
            return false;
        }
    }
}
