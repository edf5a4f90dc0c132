package org.granule.registry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The slots of one binding. Allocators hand the same ranges out again and again, so a range that was seen keeps
 * its slot: the common case finds it by address and claims it with one atomic operation, and that it overlaps no
 * other is known from before. Only a range that was not seen, or is longer than it was, goes through the ordered
 * index under the lock, where overlaps are found.
 */
final class SlotTable {

    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(Slot[].class);
    private static final int CHUNK_SHIFT = 10;
    private static final int FIRST_PRUNE = 1 << 16;
    private static final long PAUSE_NANOS = 20_000;

    private final int firstGeneration;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Long, Slot> index = new TreeMap<>();
    private final ArrayDeque<Integer> freeIndexes = new ArrayDeque<>();
    private final ArrayDeque<Slot> unplaced = new ArrayDeque<>();
    private final Slot[][] chunks = new Slot[Token.MAX_SLOTS >>> CHUNK_SHIFT][];
    private int reached;
    private int nextIndex;
    private int pruneAt = FIRST_PRUNE;
    private int entriesUsed;

    /** Open addressing by address; half empty. Replaced as a whole when it grows or forgets. */
    private volatile Slot[] known = new Slot[1 << 10];

    SlotTable(int firstGeneration) {
        this.firstGeneration = firstGeneration;
        reached = firstGeneration;
    }

    /** Finds the slot of a token, which may be of another generation, or null. */
    Slot find(long token) {
        int slot = Token.slot(token);
        var chunk = chunks[slot >>> CHUNK_SHIFT];
        return chunk == null ? null : (Slot) ENTRY.getAcquire(chunk, slot & (1 << CHUNK_SHIFT) - 1);
    }

    /**
     * Claims the slot of a range that an allocator handed out.
     *
     * @return the slot, CLAIMED; or one that is live and overlaps the range; or null when there are too many
     */
    Slot claim(long address, long bytes) {
        var seen = lookup(address);
        if (seen != null) {
            long state = seen.state();
            if (Slot.phase(state) == Slot.FREE && seen.extent() >= bytes && seen.claim(state)) {
                return seen;
            }
        }
        return claimSlowly(address, bytes);
    }

    private Slot lookup(long address) {
        var entries = known;
        int mask = entries.length - 1;
        for (int at = hash(address) & mask; ; at = at + 1 & mask) {
            var slot = (Slot) ENTRY.getAcquire(entries, at);
            if (slot == null || slot.address == address) {
                return slot;
            }
        }
    }

    private Slot claimSlowly(long address, long bytes) {
        long deadline = System.nanoTime() + Slot.PATIENCE_NANOS;
        while (true) {
            Slot blocking;
            lock.lock();
            try {
                blocking = makeRoom(address, bytes);
                if (blocking == null) {
                    return place(address, bytes);
                }
            } finally {
                lock.unlock();
            }
            if (!isPassing(blocking.phase()) || System.nanoTime() - deadline > 0) {
                return blocking;
            }
            // Its release is under way in another thread, which has given the range back but not said so yet.
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static boolean isPassing(int phase) {
        return phase == Slot.CLAIMED || phase == Slot.EXCLUSIVE || phase == Slot.FREE;
    }

    /** Takes every free slot out that a range touches; returns one that stands in the way. */
    private Slot makeRoom(long address, long bytes) {
        var first = index.floorKey(address);
        var near = index.subMap(first == null ? address : first, true, address + bytes, false);
        for (Slot slot : new ArrayList<>(near.values())) {
            if (slot.address + slot.extent() <= address) {
                continue;
            }
            if (slot.retire()) {
                forget(slot);
            } else if (slot.phase() == Slot.CLAIMED
                    || slot.phase() == Slot.FREE
                    || slot.address + slot.bytes > address) {
                return slot;
            } else {
                // Nobody else had the end of it: what it reaches to is what it has now.
                slot.extent(slot.bytes);
            }
        }
        return null;
    }

    private Slot place(long address, long bytes) {
        var slot = make(address, bytes);
        if (slot != null) {
            index.put(address, slot);
            if (index.size() > pruneAt) {
                prune();
            }
            remember(slot);
        }
        return slot;
    }

    /** Claims a slot without an address: a prefix, or an allocation of no bytes. Null when there are too many. */
    Slot claimUnplaced() {
        lock.lock();
        try {
            var slot = unplaced.pollFirst();
            return slot != null && slot.claim(slot.state()) ? slot : make(0, 0);
        } finally {
            lock.unlock();
        }
    }

    private Slot make(long address, long bytes) {
        Integer free = freeIndexes.pollFirst();
        if (free == null && nextIndex == Token.MAX_SLOTS) {
            return null;
        }
        int slotIndex = free == null ? nextIndex++ : free;
        int chunk = slotIndex >>> CHUNK_SHIFT;
        if (chunks[chunk] == null) {
            chunks[chunk] = new Slot[1 << CHUNK_SHIFT];
        }
        var former = chunks[chunk][slotIndex & (1 << CHUNK_SHIFT) - 1];
        var slot = Slot.apart(slotIndex, address, bytes, former == null ? firstGeneration : former.generation());
        slot.claim(slot.state());
        ENTRY.setRelease(chunks[chunk], slotIndex & (1 << CHUNK_SHIFT) - 1, slot);
        return slot;
    }

    /**
     * Ends a life. A slot whose generations are used up is given up for good. Its fields stay as they are; the next
     * life most likely has the same owner.
     */
    void free(Slot slot) {
        if (slot.address != 0 && slot.generation() < Token.MAX_GENERATION) {
            slot.publish(Slot.FREE);
            return;
        }
        lock.lock();
        try {
            if (slot.generation() < Token.MAX_GENERATION) {
                slot.publish(Slot.FREE);
                unplaced.addFirst(slot);
                return;
            }
            reached = Token.MAX_GENERATION;
            slot.publish(Slot.RETIRED);
            if (slot.address != 0) {
                index.remove(slot.address, slot);
                rebuild();
            }
        } finally {
            lock.unlock();
        }
    }

    /** The highest generation of any slot so far. */
    int reachedGeneration() {
        lock.lock();
        try {
            forEach(slot -> reached = Math.max(reached, slot.generation()));
            return reached;
        } finally {
            lock.unlock();
        }
    }

    /** Visits all slots that are there now, whatever their state. */
    void forEach(Consumer<Slot> visitor) {
        List<Slot[]> present = new ArrayList<>();
        lock.lock();
        try {
            for (Slot[] chunk : chunks) {
                if (chunk == null) {
                    break;
                }
                present.add(chunk);
            }
        } finally {
            lock.unlock();
        }
        for (Slot[] chunk : present) {
            for (int i = 0; i < chunk.length; i++) {
                var slot = (Slot) ENTRY.getAcquire(chunk, i);
                if (slot != null) {
                    visitor.accept(slot);
                }
            }
        }
    }

    private void forget(Slot slot) {
        index.remove(slot.address);
        freeIndexes.addLast(slot.index);
    }

    /** Forgets free ranges that the allocator may never hand out again. */
    private void prune() {
        for (Slot slot : List.copyOf(index.values())) {
            if (slot.retire()) {
                forget(slot);
            }
        }
        pruneAt = Math.max(FIRST_PRUNE, 2 * index.size());
        rebuild();
    }

    /** Makes a slot findable by its address. Entries of slots that were forgotten stay until the next rebuild. */
    private void remember(Slot slot) {
        var entries = known;
        int mask = entries.length - 1;
        int at = hash(slot.address) & mask;
        while (entries[at] != null && entries[at].address != slot.address) {
            at = at + 1 & mask;
        }
        ENTRY.setRelease(entries, at, slot);
        entriesUsed++;
        if (entriesUsed > entries.length / 2) {
            rebuild();
        }
    }

    private void rebuild() {
        int size = Integer.highestOneBit(Math.max(512, index.size()) * 4);
        var entries = new Slot[size];
        for (Slot slot : index.values()) {
            int at = hash(slot.address) & size - 1;
            while (entries[at] != null) {
                at = at + 1 & size - 1;
            }
            entries[at] = slot;
        }
        entriesUsed = index.size();
        known = entries;
    }

    private static int hash(long address) {
        long mixed = address * 0x9E3779B97F4A7C15L;
        return (int) (mixed >>> 32);
    }
}
