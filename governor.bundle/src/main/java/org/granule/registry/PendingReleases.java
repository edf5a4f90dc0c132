package org.granule.registry;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.granule.memory.Fence;
import org.granule.memory.ReleaseOutcome;

/**
 * Releases that wait for a fence. A thread that exists only while there are any asks the fences; one that does not
 * pass holds back none of the others.
 */
final class PendingReleases {

    private static final long PAUSE_NANOS = 500_000;

    private record Waiting(Slot slot, Fence fence, long since, CompletableFuture<ReleaseOutcome> result) {}

    private final String name;
    private final Function<Slot, ReleaseOutcome> release;
    private final CopyOnWriteArrayList<Waiting> waiting = new CopyOnWriteArrayList<>();
    private boolean polling;

    /**
     * Makes an empty list.
     *
     * @param name of the thread
     * @param release gives back a slot in exclusive use
     */
    PendingReleases(String name, Function<Slot, ReleaseOutcome> release) {
        this.name = name;
        this.release = release;
    }

    /** Adds a slot that is in exclusive use, and lets it wait. */
    CompletionStage<ReleaseOutcome> add(Slot slot, Fence fence) {
        var entry = new Waiting(slot, fence, System.nanoTime(), new CompletableFuture<>());
        slot.reason = "waits for its fence";
        slot.publish(Slot.PENDING);
        synchronized (this) {
            waiting.add(entry);
            if (!polling) {
                polling = true;
                Thread.ofVirtual()
                        .name(name)
                        .inheritInheritableThreadLocals(false)
                        .start(this::poll);
            }
        }
        return entry.result.minimalCompletionStage();
    }

    int count() {
        return waiting.size();
    }

    long oldestNanos() {
        long now = System.nanoTime();
        return waiting.stream().mapToLong(entry -> now - entry.since).max().orElse(0);
    }

    /** Waits until all have settled; false when that takes too long. */
    boolean awaitNone(long deadlineNanos) {
        while (!waiting.isEmpty()) {
            if (System.nanoTime() - deadlineNanos >= 0) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    /** Ends the wait of all that are left: each is given to somebody who says what became of it. */
    void abandon(Function<Slot, ReleaseOutcome> quarantine) {
        for (var entry : List.copyOf(waiting)) {
            settle(entry, quarantine);
        }
    }

    private void poll() {
        while (true) {
            for (var entry : waiting) {
                if (hasPassed(entry.fence)) {
                    settle(entry, release);
                }
            }
            synchronized (this) {
                if (waiting.isEmpty()) {
                    polling = false;
                    return;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void settle(Waiting entry, Function<Slot, ReleaseOutcome> how) {
        if (!entry.slot.seizeFrom(Slot.PENDING)) {
            return;
        }
        Runnable tell;
        try {
            var outcome = how.apply(entry.slot);
            tell = () -> entry.result.complete(outcome);
        } catch (RuntimeException | Error e) {
            // The others must not wait for ever because of one.
            tell = () -> entry.result.completeExceptionally(e);
        }
        waiting.remove(entry);
        // On a thread of its own: what users do with the outcome must not hold others back.
        Thread.startVirtualThread(tell);
    }

    private static boolean hasPassed(Fence fence) {
        try {
            return fence.passed();
        } catch (RuntimeException | Error e) {
            // By contract not passed: releasing memory that may still be in use is the worse mistake.
            return false;
        }
    }
}
