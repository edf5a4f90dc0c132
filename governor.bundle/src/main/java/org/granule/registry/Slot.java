package org.granule.registry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.granule.memory.InvalidRequestException;

/**
 * One known range of addresses, or one prefix, and its life: free, live, in exclusive use, and free again with the
 * next generation. The state is one word, changed by compare-and-set only, so that of any number of threads that
 * race to release a token one succeeds. Memory that is being touched is pinned; whoever would take it away waits
 * for the pins to go.
 */
class Slot extends Apart {

    /** Nobody has it; its next life gets the next generation. */
    static final int FREE = 0;
    /** Being issued: its fields are written. */
    static final int CLAIMED = 1;
    /** Issued. */
    static final int LIVE = 2;
    /** In exclusive use by one operation, after which it is live or gone. */
    static final int EXCLUSIVE = 3;
    /** Given back, waiting for a fence. */
    static final int PENDING = 4;
    /** Not given back completely; never issued again. */
    static final int QUARANTINED = 5;
    /** Not in the table any more. */
    static final int RETIRED = 6;

    private static final int PHASE_BITS = 3;
    private static final int PIN_BITS = 16;
    private static final long PHASE_MASK = (1L << PHASE_BITS) - 1;
    private static final long ONE_PIN = 1L << PHASE_BITS;
    private static final long PIN_MASK = (1L << PIN_BITS) - 1 << PHASE_BITS;
    private static final int GENERATION_SHIFT = PHASE_BITS + PIN_BITS;

    /** How long anybody waits for another operation on the same memory. */
    static final long PATIENCE_NANOS = 1_000_000_000L;

    private static final int SPINS = 200;
    private static final long PAUSE_NANOS = 20_000;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Slot.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What a slot names. */
    enum Kind {
        /** Memory that was allocated as a whole. */
        ALLOCATION,
        /** A reservation. */
        RESERVATION,
        /** A shared prefix. */
        PREFIX
    }

    final int index;
    final long address;

    /** The longest range known to start at the address and to touch no other slot. Shrinks while it is live. */
    private volatile long extent;

    private volatile long state;

    // Written while CLAIMED or EXCLUSIVE, read while pinned, LIVE by its owner, or EXCLUSIVE.
    Owner owner;
    Kind kind;
    long bytes;
    long alignment;
    long bornTicks;
    String site;
    /** The allocator's number of a prefix. */
    long prefix;
    /** Why it is pending or in quarantine. */
    String reason;
    /** What is still owned of it in quarantine. */
    long ownedBytes;
    /** Whether it is in quarantine as a whole, so that it can be released later. */
    boolean whole;
    /** When it began to wait for fences. */
    long pendingSince;

    /** What queued work touches, null when there is none. Made while pinned, taken off while in exclusive use. */
    Uses uses;

    /** Makes a slot with room around it. */
    static Slot apart(int index, long address, long extent, int generation) {
        return new Roomy(index, address, extent, generation);
    }

    /** Room of a cache line behind the fields as well, where anything may lie that others read. */
    @SuppressWarnings("unused")
    private static final class Roomy extends Slot {
        private long q0;
        private long q1;
        private long q2;
        private long q3;
        private long q4;
        private long q5;
        private long q6;
        private long q7;

        Roomy(int index, long address, long extent, int generation) {
            super(index, address, extent, generation);
        }
    }

    private Slot(int index, long address, long extent, int generation) {
        this.index = index;
        this.address = address;
        this.extent = extent;
        this.state = word(generation, FREE);
    }

    private static long word(int generation, int phase) {
        return (long) generation << GENERATION_SHIFT | phase;
    }

    static int phase(long state) {
        return (int) (state & PHASE_MASK);
    }

    static int generation(long state) {
        return (int) (state >>> GENERATION_SHIFT);
    }

    /** Whether it is issued and not given back, whatever goes on with it. */
    boolean isThere() {
        int phase = phase();
        return phase == LIVE || phase == EXCLUSIVE || phase == PENDING;
    }

    /** Requires that it has addresses, which a prefix and an allocation of no bytes have not. */
    void requirePlaced() {
        if (address == 0) {
            throw Faults.unplaced(kind);
        }
    }

    /** Checks a range against the length that was asked for. */
    void requireWithin(long offset, long length) {
        if (offset < 0 || length < 0 || offset > bytes - length) {
            throw Faults.outside(offset, length, bytes);
        }
    }

    /** Like {@link #requireWithin}, and at least one byte. */
    void requireSomeWithin(long offset, long length) {
        requireWithin(offset, length);
        if (length == 0) {
            throw new InvalidRequestException(
                    "0 bytes at offset " + offset + ": at least 1, together at most " + bytes);
        }
    }

    long state() {
        return state;
    }

    int phase() {
        return phase(state);
    }

    int generation() {
        return generation(state);
    }

    long extent() {
        return extent;
    }

    void extent(long bytes) {
        extent = bytes;
    }

    /** Starts the next life; false when the slot is not free any more. */
    boolean claim(long seen) {
        return phase(seen) == FREE && STATE.compareAndSet(this, seen, word(generation(seen) + 1, CLAIMED));
    }

    /** Takes a free slot out of the table. */
    boolean retire() {
        long seen = state;
        return phase(seen) == FREE && STATE.compareAndSet(this, seen, word(generation(seen), RETIRED));
    }

    /** Publishes the fields with a new phase; only by who has claimed it or uses it exclusively. */
    void publish(int phase) {
        STATE.setRelease(this, word(generation(state), phase));
    }

    /**
     * Writes whose memory it is. Mostly that is as it was in the slot's life before, and then nothing is stored: the
     * collector's barrier for a reference costs more than the rest of an allocation's bookkeeping.
     */
    void assign(Owner next, Kind nextKind, String nextSite) {
        if (owner != next) {
            owner = next;
        }
        if (kind != nextKind) {
            kind = nextKind;
        }
        if (site != nextSite) {
            site = nextSite;
        }
    }

    /** Waits while it is being issued, which takes a moment. */
    void awaitIssued() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (phase() == CLAIMED && System.nanoTime() - deadline < 0) {
            Thread.onSpinWait();
        }
    }

    /** Holds the memory where it is; false when the generation is not live. */
    boolean pin(int generation) {
        long started = 0;
        for (int turn = 0; ; turn++) {
            long seen = state;
            if (generation(seen) != generation) {
                return false;
            }
            switch (phase(seen)) {
                case LIVE -> {
                    if ((seen & PIN_MASK) != PIN_MASK && STATE.compareAndSet(this, seen, seen + ONE_PIN)) {
                        return true;
                    }
                }
                case EXCLUSIVE -> {
                    // Another operation decides whether it stays live.
                }
                default -> {
                    return false;
                }
            }
            started = pause(turn, started, PATIENCE_NANOS);
        }
    }

    /**
     * Whether it is live and somebody has it, at one moment and without a pin, for what does not change while it
     * lives. False also while an operation uses it exclusively.
     */
    boolean isLiveFor(Owner by, int generation) {
        if (!isLive(state, generation) || owner != by) {
            return false;
        }
        VarHandle.acquireFence();
        return isLive(state, generation);
    }

    private static boolean isLive(long state, int generation) {
        return generation(state) == generation && phase(state) == LIVE;
    }

    /** Finds or makes the list of what queued work touches; only for who has pinned it. */
    synchronized Uses makeUses() {
        if (uses == null) {
            uses = new Uses();
        }
        return uses;
    }

    void unpin() {
        STATE.getAndAdd(this, -ONE_PIN);
    }

    /** Takes the memory for one operation, once nobody touches it; false when the generation is not live. */
    boolean seize(int generation) {
        return seize(generation, PATIENCE_NANOS);
    }

    boolean seize(int generation, long patienceNanos) {
        long started = 0;
        for (int turn = 0; ; turn++) {
            long seen = state;
            if (generation(seen) != generation || phase(seen) != LIVE && phase(seen) != EXCLUSIVE) {
                return false;
            }
            if (seen == word(generation, LIVE) && STATE.compareAndSet(this, seen, word(generation, EXCLUSIVE))) {
                return true;
            }
            started = pause(turn, started, patienceNanos);
        }
    }

    /** Takes memory in quarantine or pending for one operation, if nobody touches it. */
    boolean seizeFrom(int phase) {
        long seen = state;
        return seen == word(generation(seen), phase)
                && STATE.compareAndSet(this, seen, word(generation(seen), EXCLUSIVE));
    }

    /** Puts memory that is being touched into quarantine; who touches it unpins it later. False when it is not live. */
    boolean quarantinePinned(int generation) {
        for (long seen = state; generation(seen) == generation && phase(seen) == LIVE; seen = state) {
            if (STATE.compareAndSet(this, seen, seen & ~PHASE_MASK | QUARANTINED)) {
                return true;
            }
        }
        return false;
    }

    private long pause(int turn, long started, long patienceNanos) {
        if (turn < SPINS) {
            Thread.onSpinWait();
            return started;
        }
        long now = System.nanoTime();
        if (turn == SPINS) {
            return now;
        }
        if (now - started > patienceNanos) {
            throw Faults.inUse(this);
        }
        LockSupport.parkNanos(PAUSE_NANOS);
        return started;
    }
}
