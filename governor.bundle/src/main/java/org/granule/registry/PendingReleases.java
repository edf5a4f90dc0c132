package org.granule.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.granule.memory.Fence;
import org.granule.memory.ReleaseOutcome;

/**
 * Releases that wait for fences. A thread that exists only while there are any asks the fences; one that does not
 * pass holds back only what it belongs to.
 */
final class PendingReleases {

    private static final long PAUSE_NANOS = 500_000;

    /** A slot, and the fences that were not passed when they were asked last. */
    private record Waiting(Slot slot, ArrayList<Fence> fences, long since, CompletableFuture<ReleaseOutcome> result) {}

    private final String name;
    private final Function<Slot, ReleaseOutcome> release;
    private final CopyOnWriteArrayList<Waiting> waiting = new CopyOnWriteArrayList<>();
    private boolean polling;
    /** What becomes of what is added after the end; null before. */
    private Function<Slot, ReleaseOutcome> atOnce;

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

    /** Adds a slot that is in exclusive use, and lets it wait for some fences. */
    CompletionStage<ReleaseOutcome> add(Slot slot, List<Fence> fences) {
        var entry = new Waiting(slot, new ArrayList<>(fences), System.nanoTime(), new CompletableFuture<>());
        slot.reason = fences.size() == 1 ? "waits for its fence" : "waits for its " + fences.size() + " fences";
        slot.pendingSince = entry.since;
        Function<Slot, ReleaseOutcome> ended;
        synchronized (this) {
            // Listed first: whoever sees that it is pending must find it here.
            waiting.add(entry);
            slot.publish(Slot.PENDING);
            ended = atOnce;
            if (ended == null && !polling) {
                polling = true;
                Thread.ofVirtual()
                        .name(name)
                        .inheritInheritableThreadLocals(false)
                        .start(this::poll);
            }
        }
        if (ended != null) {
            settle(entry, ended);
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

    /**
     * Ends the wait of all that are left, and of what may still be added: each is given to somebody who says what
     * became of it.
     */
    void abandon(Function<Slot, ReleaseOutcome> quarantine) {
        synchronized (this) {
            atOnce = quarantine;
        }
        for (var entry : List.copyOf(waiting)) {
            settle(entry, quarantine);
        }
    }

    private void poll() {
        while (true) {
            for (var entry : waiting) {
                entry.fences.removeIf(Uses::hasPassed);
                if (entry.fences.isEmpty()) {
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
}
