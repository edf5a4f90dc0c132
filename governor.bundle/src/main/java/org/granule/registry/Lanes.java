package org.granule.registry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts who is inside, so that a binding that closes can wait for them. Entering costs one atomic operation and
 * leaving a store: a thread occupies a lane for itself, or is counted together with others when all near ones are
 * taken.
 */
final class Lanes {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(int[].class);
    private static final int STRIDE = 32;
    private static final int COUNT =
            Math.min(128, 4 * Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 2 - 1));
    private static final int TRIES = 4;
    private static final int SHARED = -1;
    private static final long PAUSE_NANOS = 50_000;

    private final int[] cells = new int[(COUNT + 1) * STRIDE];
    private final AtomicInteger shared = new AtomicInteger();

    /** Enters; what is returned must be passed to {@link #leave}. A full fence. */
    int enter() {
        int home = (int) Thread.currentThread().threadId();
        for (int i = 0; i < TRIES; i++) {
            int cell = (1 + (home + i & COUNT - 1)) * STRIDE;
            if (CELL.compareAndSet(cells, cell, 0, 1)) {
                return cell;
            }
        }
        shared.incrementAndGet();
        return SHARED;
    }

    void leave(int lane) {
        if (lane == SHARED) {
            shared.decrementAndGet();
        } else {
            CELL.setRelease(cells, lane, 0);
        }
    }

    /** Waits until everybody who is inside now has left; false when that takes too long. */
    boolean awaitQuiet(long deadlineNanos) {
        for (int stripe = 1; stripe <= COUNT; stripe++) {
            while ((int) CELL.getVolatile(cells, stripe * STRIDE) != 0) {
                if (!pause(deadlineNanos)) {
                    return false;
                }
            }
        }
        while (shared.get() != 0) {
            if (!pause(deadlineNanos)) {
                return false;
            }
        }
        return true;
    }

    private static boolean pause(long deadlineNanos) {
        LockSupport.parkNanos(PAUSE_NANOS);
        return System.nanoTime() - deadlineNanos < 0;
    }
}
