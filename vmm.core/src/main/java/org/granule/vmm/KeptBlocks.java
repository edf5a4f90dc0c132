package org.granule.vmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.granule.memory.Account;

/**
 * Released blocks that stay mapped for the next allocation of the same size, up to a bound. Threads use
 * different stripes, so that the common allocate and release neither wait nor call the driver nor make
 * garbage.
 */
final class KeptBlocks {

    private static final int DEPTH = 16;
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(Stripe.class, "busy", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final class Stripe {
        @SuppressWarnings("unused") // by BUSY
        private volatile int busy;

        private final Reservation[] blocks = new Reservation[DEPTH];
        private int size;
        private long bytes;

        boolean enter() {
            return (int) BUSY.getAcquire(this) == 0 && BUSY.compareAndSet(this, 0, 1);
        }

        void leave() {
            BUSY.setRelease(this, 0);
        }

        Reservation remove(int index) {
            var block = blocks[index];
            size--;
            System.arraycopy(blocks, index + 1, blocks, index, size - index);
            blocks[size] = null;
            bytes -= block.span;
            return block;
        }
    }

    private final Stripe[] stripes;
    private final long boundPerStripe;

    KeptBlocks(long boundBytes, int stripeCount) {
        stripes = new Stripe[Integer.highestOneBit(stripeCount)];
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Stripe();
        }
        boundPerStripe = boundBytes / stripes.length;
    }

    /** Takes a block of exactly this span, best one that the account had last; null when none is at hand. */
    Reservation take(long span, long alignment, Account account) {
        int home = home();
        for (int i = 0; i < stripes.length; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (stripe.size == 0 || !stripe.enter()) {
                continue;
            }
            try {
                int found = -1;
                for (int k = stripe.size - 1; k >= 0; k--) {
                    var block = stripe.blocks[k];
                    if (block.span == span && (block.address & alignment - 1) == 0) {
                        found = k;
                        if (block.account() == account) {
                            break;
                        }
                    }
                }
                if (found >= 0) {
                    return stripe.remove(found);
                }
            } finally {
                stripe.leave();
            }
        }
        return null;
    }

    /** Keeps a block and moves its charge to the idle account, or refuses when there is no room. */
    boolean offer(Reservation block) {
        return add(block, true);
    }

    /** Keeps a block again that was just taken and is charged to the idle account, if there is still room. */
    boolean putBack(Reservation block) {
        return add(block, false);
    }

    private boolean add(Reservation block, boolean charged) {
        int home = home();
        for (int i = 0; i < stripes.length; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (!stripe.enter()) {
                continue;
            }
            try {
                if (stripe.size < DEPTH && block.span <= boundPerStripe - stripe.bytes) {
                    if (charged) {
                        // Before anybody can find it; once it is certain to be kept, since the way back may be refused.
                        block.account().moveTo(block.account().idle(), block.span, block.span);
                    }
                    stripe.blocks[stripe.size++] = block;
                    stripe.bytes += block.span;
                    return true;
                }
            } finally {
                stripe.leave();
            }
        }
        return false;
    }

    /** Takes any block, to give it up; null when there is none. */
    Reservation evict() {
        for (var stripe : stripes) {
            while (stripe.size > 0) {
                if (stripe.enter()) {
                    try {
                        if (stripe.size > 0) {
                            return stripe.remove(0);
                        }
                    } finally {
                        stripe.leave();
                    }
                } else {
                    Thread.onSpinWait();
                }
            }
        }
        return null;
    }

    /** What is kept now. */
    long bytes() {
        long sum = 0;
        for (var stripe : stripes) {
            while (!stripe.enter()) {
                Thread.onSpinWait();
            }
            sum += stripe.bytes;
            stripe.leave();
        }
        return sum;
    }

    /** Thread numbers are consecutive, so threads that start together get different stripes. */
    private int home() {
        return (int) Thread.currentThread().threadId() & stripes.length - 1;
    }
}
