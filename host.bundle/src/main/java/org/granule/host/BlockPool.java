package org.granule.host;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;

/**
 * Released blocks by size class, up to a bound. Threads use different stripes; a stripe is entered with one atomic
 * operation and never waited for.
 *
 * <p>What is kept is charged to the device's idle account, ahead in steps of {@link #CHARGE_STEP}, so that the
 * ledger is never below what exists and the common case does not touch it.
 */
final class BlockPool {

    static final long CHARGE_STEP = 1L << 20;

    /** How far the charge of a stripe may be above what it keeps before some of it is refunded. */
    private static final long SLACK = 4 * CHARGE_STEP;

    private static final int MOST_BLOCKS = 64;
    private static final int FEWEST_BLOCKS = 2;
    private static final long CLASS_BYTES = 4L << 20;
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(StripeFields.class, "busy", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * The blocks of one class in one stripe. What changes all the time, the count included, lies in the middle of an
     * array, away from whatever the collector puts beside it.
     */
    private static final class Shelf {
        private static final int ROOM = 16;
        private static final int COUNT_AT = ROOM - 1;

        private final long[] cells;
        final Account[] lastUsers;

        Shelf(long blockBytes) {
            int depth = Math.clamp(CLASS_BYTES / blockBytes, FEWEST_BLOCKS, MOST_BLOCKS);
            cells = new long[ROOM + depth + ROOM];
            lastUsers = new Account[depth];
        }

        int count() {
            return (int) cells[COUNT_AT];
        }

        boolean isFull() {
            return count() == lastUsers.length;
        }

        void push(long address, Account account) {
            int count = count();
            cells[ROOM + count] = address;
            if (lastUsers[count] != account) {
                // Storing a reference costs the collector's barrier, and mostly it is there already.
                lastUsers[count] = account;
            }
            cells[COUNT_AT] = count + 1;
        }

        /** Takes the youngest block; its last user stays at the index of the new count. */
        long pop() {
            int last = count() - 1;
            cells[COUNT_AT] = last;
            return cells[ROOM + last];
        }
    }

    /** Room in front of what a stripe writes, so that no two stripes share a cache line. */
    @SuppressWarnings("unused")
    private abstract static class RoomBefore {
        private long p0;
        private long p1;
        private long p2;
        private long p3;
        private long p4;
        private long p5;
        private long p6;
        private long p7;
        private long p8;
        private long p9;
        private long p10;
        private long p11;
        private long p12;
        private long p13;
        private long p14;
        private long p15;
    }

    private abstract static class StripeFields extends RoomBefore {
        /** By BUSY; a long, since an int would be laid into the gap in front of the room. */
        @SuppressWarnings("unused")
        volatile long busy;

        long keptBytes;
        long chargedBytes;
        Account idle;
        final Shelf[] shelves = new Shelf[SizeClasses.COUNT];
    }

    private static final class Stripe extends StripeFields {
        /** Room behind. */
        @SuppressWarnings("unused")
        private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;

        boolean enter() {
            return (long) BUSY.getAcquire(this) == 0 && BUSY.compareAndSet(this, 0L, 1L);
        }

        void leave() {
            BUSY.setRelease(this, 0L);
        }

        /** Charges ahead for one more block; false when that is refused or the block is another ledger's. */
        boolean cover(long bytes, Account account) {
            if (keptBytes + bytes <= chargedBytes) {
                return idle == account.idle();
            }
            if (chargedBytes > 0 && idle != account.idle()) {
                return false;
            }
            long step = (bytes + CHARGE_STEP - 1) & -CHARGE_STEP;
            try {
                account.idle().charge(step, 0);
            } catch (BudgetExceededException e) {
                // The device is full: better to give the block back than to keep it.
                return false;
            }
            idle = account.idle();
            chargedBytes += step;
            return true;
        }

        void uncover() {
            long needed = (keptBytes + CHARGE_STEP - 1) & -CHARGE_STEP;
            if (chargedBytes > needed) {
                idle.refund(chargedBytes - needed, 0);
                chargedBytes = needed;
            }
            if (chargedBytes == 0) {
                idle = null;
            }
        }
    }

    /** Takes blocks that are given up. */
    @FunctionalInterface
    interface Sink {
        void free(long address);
    }

    private final Stripe[] stripes;
    private final long boundPerStripe;
    private final Sink sink;

    BlockPool(long boundBytes, int stripeCount, Sink sink) {
        stripes = new Stripe[Integer.highestOneBit(stripeCount)];
        for (int i = 0; i < stripes.length; i++) {
            stripes[i] = new Stripe();
        }
        boundPerStripe = boundBytes / stripes.length;
        this.sink = sink;
    }

    /**
     * Takes a block.
     *
     * @return its address, negated when another account had it last and it must be scrubbed; 0 when there is none
     */
    long take(int sizeClass, Account account) {
        int home = (int) Thread.currentThread().threadId();
        for (int i = 0; i < stripes.length; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (!stripe.enter()) {
                continue;
            }
            try {
                var shelf = stripe.shelves[sizeClass];
                if (shelf != null && shelf.count() > 0) {
                    long address = shelf.pop();
                    boolean own = shelf.lastUsers[shelf.count()] == account;
                    stripe.keptBytes -= SizeClasses.bytes(sizeClass);
                    if (stripe.chargedBytes - stripe.keptBytes > SLACK) {
                        stripe.uncover();
                    }
                    return own ? address : -address;
                }
            } finally {
                stripe.leave();
            }
        }
        return 0;
    }

    /** Keeps a block, or refuses. */
    boolean offer(long address, int sizeClass, Account account) {
        long bytes = SizeClasses.bytes(sizeClass);
        int home = (int) Thread.currentThread().threadId();
        for (int i = 0; i < stripes.length; i++) {
            var stripe = stripes[home + i & stripes.length - 1];
            if (!stripe.enter()) {
                continue;
            }
            try {
                var shelf = stripe.shelves[sizeClass];
                if (shelf == null) {
                    shelf = stripe.shelves[sizeClass] = new Shelf(bytes);
                }
                if (shelf.isFull() || stripe.keptBytes > boundPerStripe - bytes || !stripe.cover(bytes, account)) {
                    return false;
                }
                shelf.push(address, account);
                stripe.keptBytes += bytes;
                return true;
            } finally {
                stripe.leave();
            }
        }
        return false;
    }

    /** Gives blocks up until enough bytes left the idle account; returns how many did. */
    long trim(long bytes) {
        long trimmed = 0;
        for (int i = 0; i < stripes.length && trimmed < bytes; i++) {
            trimmed += trim(stripes[i], bytes - trimmed);
        }
        return trimmed;
    }

    private long trim(Stripe stripe, long bytes) {
        while (!stripe.enter()) {
            Thread.onSpinWait();
        }
        try {
            long before = stripe.chargedBytes;
            long freed = 0;
            for (int sizeClass = SizeClasses.COUNT - 1; sizeClass >= 0 && freed < bytes; sizeClass--) {
                var shelf = stripe.shelves[sizeClass];
                while (shelf != null && shelf.count() > 0 && freed < bytes) {
                    sink.free(shelf.pop());
                    stripe.keptBytes -= SizeClasses.bytes(sizeClass);
                    freed += SizeClasses.bytes(sizeClass);
                }
            }
            for (var shelf : stripe.shelves) {
                if (shelf != null) {
                    // Accounts of a ledger that has ended are not kept.
                    Arrays.fill(shelf.lastUsers, shelf.count(), shelf.lastUsers.length, null);
                }
            }
            stripe.uncover();
            return before - stripe.chargedBytes;
        } finally {
            stripe.leave();
        }
    }

    long keptBytes() {
        long sum = 0;
        for (var stripe : stripes) {
            sum += stripe.keptBytes;
        }
        return sum;
    }
}
