package org.granule.ledger;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Credit of one account: bytes that were drawn from the tree, count as used there, and can be charged here with
 * one atomic operation. Each thread has a stripe of its own as long as there are no more threads than stripes.
 *
 * <p>A sweep closes all stripes and takes their credit. Until they are opened again, by the next charge for which
 * there is plenty of room, every charge and refund goes the slow way and waits for the lock of whoever sweeps, so
 * that what the sweep sees is exact, and nobody puts credit back by a bound from before it.
 */
final class Stripes {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    /** 128 bytes: two cache lines, since processors fetch them in pairs. */
    private static final int STRIDE = 16;

    private static final int COUNT =
            Math.min(64, 2 * Integer.highestOneBit(Runtime.getRuntime().availableProcessors() * 2 - 1));

    private static final long CLOSED = -1;

    /** In each stride: the credit, then what is mapped above what is owned. One stride is left free in front. */
    private final long[] cells = new long[(COUNT + 1) * STRIDE];

    private boolean open = true;

    /** Takes credit; false when this thread's stripe has too little or is closed. */
    boolean take(long bytes) {
        int cell = cell();
        long credit = (long) CELL.getAcquire(cells, cell);
        while (credit >= bytes) {
            if (CELL.compareAndSet(cells, cell, credit, credit - bytes)) {
                return true;
            }
            credit = (long) CELL.getAcquire(cells, cell);
        }
        return false;
    }

    /** Puts credit back, up to a bound; false when there would be more, or the stripe is closed. */
    boolean give(long bytes, long bound) {
        int cell = cell();
        long credit = (long) CELL.getAcquire(cells, cell);
        while (credit != CLOSED && bytes <= bound - credit) {
            if (CELL.compareAndSet(cells, cell, credit, credit + bytes)) {
                return true;
            }
            credit = (long) CELL.getAcquire(cells, cell);
        }
        return false;
    }

    /** Opens the stripes if they are closed, and adds credit that was drawn; only under the lock. */
    void add(long bytes) {
        open();
        CELL.getAndAdd(cells, cell(), bytes);
    }

    /** Closes all stripes and takes their credit; only under the lock. */
    long close() {
        open = false;
        long credit = 0;
        for (int stripe = 1; stripe <= COUNT; stripe++) {
            credit += Math.max(0, (long) CELL.getAndSet(cells, stripe * STRIDE, CLOSED));
        }
        return credit;
    }

    /** Opens the stripes, without credit; only under the lock. */
    void open() {
        if (!open) {
            open = true;
            for (int stripe = 1; stripe <= COUNT; stripe++) {
                CELL.setRelease(cells, stripe * STRIDE, 0L);
            }
        }
    }

    /** Whether the stripes are open; only under the lock. */
    boolean isOpen() {
        return open;
    }

    void addUnowned(long mappedLessOwned) {
        CELL.getAndAdd(cells, cell() + 1, mappedLessOwned);
    }

    /** What is mapped above what is owned, which is negative when more is owned. */
    long unowned() {
        long sum = 0;
        for (int stripe = 1; stripe <= COUNT; stripe++) {
            sum += (long) CELL.getAcquire(cells, stripe * STRIDE + 1);
        }
        return sum;
    }

    static int count() {
        return COUNT;
    }

    /** Thread numbers are consecutive, so threads that start together get different stripes. */
    private static int cell() {
        return (1 + ((int) Thread.currentThread().threadId() & COUNT - 1)) * STRIDE;
    }
}
