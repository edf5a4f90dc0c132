package org.granule.vmm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.memory.Account;

/**
 * Released blocks that stay mapped for the next allocation of the same size, up to a bound that holds for all
 * together: one block may be as large as the bound. Threads use different stripes, so that the common allocate and
 * release neither wait nor call the driver nor make garbage.
 *
 * <p>The bound is shared out as room: every byte of it is kept, room of one stripe, room in nobody's hands, or on its
 * way from one to another. A stripe takes room when it has too little, first what is in nobody's hands, then what
 * others do not use, and keeps it, so that whoever releases what was allocated before finds room at home.
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
        /** What it may keep besides what it keeps. */
        private long room;

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
            room += block.span;
            return block;
        }

        long bytes() {
            long sum = 0;
            for (int i = 0; i < size; i++) {
                sum += blocks[i].span;
            }
            return sum;
        }

        void add(Reservation block) {
            blocks[size++] = block;
            room -= block.span;
        }
    }

    private final Stripe[] stripes;
    /** Room in nobody's hands. */
    private final AtomicLong unassigned;

    KeptBlocks(long boundBytes, int stripeCount) {
        stripes = new Stripe[Integer.highestOneBit(stripeCount)];
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Stripe();
        }
        unassigned = new AtomicLong(boundBytes);
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
        if (place(block, charged, home, 0)) {
            return true;
        }
        if (!gather(block.span, home)) {
            return false;
        }
        if (place(block, charged, home, block.span)) {
            return true;
        }
        unassigned.addAndGet(block.span);
        return false;
    }

    /** Puts a block on the first stripe that can be entered and has a place, which gets this much room before. */
    private boolean place(Reservation block, boolean charged, int home, long gathered) {
        for (int i = 0; i < stripes.length; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (!stripe.enter()) {
                continue;
            }
            try {
                if (stripe.size == DEPTH) {
                    continue;
                }
                if (gathered > 0) {
                    stripe.room += gathered;
                } else if (stripe.room < block.span && !draw(stripe, block.span - stripe.room)) {
                    return false;
                }
                if (charged) {
                    // Before anybody can find it; once it is certain to be kept, since the way back may be refused.
                    block.account().moveTo(block.account().idle(), block.span, block.span);
                }
                stripe.add(block);
                return true;
            } finally {
                stripe.leave();
            }
        }
        return false;
    }

    /** Gives an entered stripe room that is in nobody's hands: all that it needs, or nothing. */
    private boolean draw(Stripe stripe, long missing) {
        for (long there = unassigned.get(); there >= missing; there = unassigned.get()) {
            if (unassigned.compareAndSet(there, there - missing)) {
                stripe.room += missing;
                return true;
            }
        }
        return false;
    }

    /**
     * Takes room from wherever it is not used, for a caller who is in no stripe. One caller at a time: of two, each
     * could take what the other needs, and both be refused though there is room for one. Stripes are not waited for,
     * so what others are just allocating and releasing may be missed.
     */
    private synchronized boolean gather(long bytes, int home) {
        if (roomOfAll() < bytes) {
            return false;
        }
        long gathered = takeUnassigned(bytes);
        for (int i = 0; i < stripes.length && gathered < bytes; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (stripe.room > 0 && stripe.enter()) {
                long taken = Math.min(stripe.room, bytes - gathered);
                stripe.room -= taken;
                stripe.leave();
                gathered += taken;
            }
        }
        if (gathered < bytes) {
            unassigned.addAndGet(gathered);
            return false;
        }
        return true;
    }

    private long takeUnassigned(long most) {
        while (true) {
            long there = unassigned.get();
            long taken = Math.min(there, most);
            if (unassigned.compareAndSet(there, there - taken)) {
                return taken;
            }
        }
    }

    /** How much is not used, looked at without entering: a refusal leaves everybody's room where it is. */
    private long roomOfAll() {
        long sum = unassigned.get();
        for (var stripe : stripes) {
            sum += stripe.room;
        }
        return sum;
    }

    /** What is kept and what could be, in all; the bound, while nobody else uses this. */
    long accountedBytes() {
        long sum = roomOfAll();
        for (var stripe : stripes) {
            for (int k = 0; k < stripe.size; k++) {
                sum += stripe.blocks[k].span;
            }
        }
        return sum;
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
            sum += stripe.bytes();
            stripe.leave();
        }
        return sum;
    }

    /** Thread numbers are consecutive, so threads that start together get different stripes. */
    private int home() {
        return (int) Thread.currentThread().threadId() & stripes.length - 1;
    }
}
