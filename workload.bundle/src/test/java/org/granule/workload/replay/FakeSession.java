package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.ClosedException;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;

/** A session on Java arrays: real bytes, exact books, a budget, and every rule of a session checked. */
final class FakeSession implements MemorySession {

    static final int GRANULE = 4096;

    private final Map<Long, Reservation> reservations = new HashMap<>();
    private final Map<Long, List<Granule>> prefixes = new HashMap<>();
    private final long budgetBytes;
    private long lastToken = 100;
    private long owned;
    private long mapped;
    private boolean closed;

    /** Flips a byte of what the n-th write from now wrote; 0 for none. */
    long corruptWrite;
    /** Throws at the n-th commit from now; 0 for none. */
    long failCommit;
    /** What is thrown then. */
    RuntimeException failure;

    int mostReservations;

    FakeSession(long budgetBytes) {
        this.budgetBytes = budgetBytes;
    }

    private static final class Granule {
        private final byte[] bytes = new byte[GRANULE];
        private int holders;
    }

    private record Reservation(Granule[] granules, boolean[] attached) {}

    synchronized LedgerReading ledger() {
        return new LedgerReading(owned, mapped, 0, 0);
    }

    @Override
    public String account() {
        return "fake:0/tests/replay";
    }

    @Override
    public long granuleBytes() {
        return GRANULE;
    }

    @Override
    public synchronized long reserve(long bytes, long alignment, Ranges committed, Extents extents) {
        require(!closed, "the session is closed");
        require(committed.count() == 0 && extents == Extents.PIECES && bytes % GRANULE == 0, "reservation");
        int granules = (int) (bytes / GRANULE);
        reservations.put(++lastToken, new Reservation(new Granule[granules], new boolean[granules]));
        mostReservations = Math.max(mostReservations, reservations.size());
        return lastToken;
    }

    @Override
    public synchronized void commit(long token, long offset, long length) {
        if (failCommit > 0 && --failCommit == 0) {
            throw failure;
        }
        var reservation = live(token);
        if (owned + length > budgetBytes) {
            throw new BudgetExceededException(account(), account(), length, owned, budgetBytes, "no room");
        }
        for (int i = first(offset); i < first(offset + length); i++) {
            require(reservation.granules[i] == null, "granule " + i + " is committed already");
            reservation.granules[i] = new Granule();
            hold(reservation.granules[i]);
            mapped += GRANULE;
        }
    }

    @Override
    public synchronized long share(long token, long offset, long length) {
        var shared = new ArrayList<Granule>();
        for (int i = first(offset); i < first(offset + length); i++) {
            var granule = live(token).granules[i];
            require(granule != null && !live(token).attached[i], "granule " + i + " is not the creator's");
            hold(granule);
            shared.add(granule);
        }
        prefixes.put(++lastToken, shared);
        return lastToken;
    }

    @Override
    public synchronized void attach(long token, long[] offsets, long[] tokens) {
        for (int n = 0; n < offsets.length; n++) {
            var prefix = prefixes.get(tokens[n]);
            if (prefix == null) {
                throw new StaleTokenException("prefix " + tokens[n]);
            }
            int at = first(offsets[n]);
            for (var granule : prefix) {
                require(live(token).granules[at] == null, "granule " + at + " is committed already");
                live(token).granules[at] = granule;
                live(token).attached[at++] = true;
                hold(granule);
                mapped += GRANULE;
            }
        }
    }

    @Override
    public synchronized ReleaseOutcome retire(long prefix) {
        var granules = prefixes.remove(prefix);
        require(granules != null, "prefix " + prefix + " was retired before");
        granules.forEach(this::drop);
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }

    @Override
    public synchronized ReleaseOutcome release(long token) {
        for (var granule : live(token).granules) {
            if (granule != null) {
                drop(granule);
                mapped -= GRANULE;
            }
        }
        reservations.remove(token);
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }

    @Override
    public synchronized void copyIn(long token, long offset, MemorySegment source) {
        int index = (int) (offset / GRANULE);
        require(!live(token).attached[index], "granule " + index + " is read-only");
        var target = MemorySegment.ofArray(live(token).granules[index].bytes);
        target.asSlice(offset % GRANULE, source.byteSize()).copyFrom(source);
        if (corruptWrite > 0 && --corruptWrite == 0) {
            live(token).granules[index].bytes[(int) (offset % GRANULE) + 77] ^= 0x55;
        }
    }

    @Override
    public synchronized void copyOut(MemorySegment target, long token, long offset) {
        var source = MemorySegment.ofArray(live(token).granules[(int) (offset / GRANULE)].bytes);
        target.copyFrom(source.asSlice(offset % GRANULE, target.byteSize()));
    }

    @Override
    public long address(long token) {
        return token << 32;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }

    private Reservation live(long token) {
        if (closed) {
            throw new ClosedException("the session is closed");
        }
        var reservation = reservations.get(token);
        if (reservation == null) {
            throw new StaleTokenException("token " + token);
        }
        return reservation;
    }

    private void hold(Granule granule) {
        if (granule.holders++ == 0) {
            owned += GRANULE;
        }
    }

    private void drop(Granule granule) {
        if (--granule.holders == 0) {
            owned -= GRANULE;
        }
    }

    private static int first(long offset) {
        require(offset % GRANULE == 0, "offset " + offset + " is inside a granule");
        return (int) (offset / GRANULE);
    }

    private static void require(boolean holds, String problem) {
        if (!holds) {
            throw new InvalidRequestException(problem);
        }
    }

    @Override
    public long allocate(long bytes, long alignment) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAfter(long token, Fence fence) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void usedUntil(long token, long offset, long length, Fence fence) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ReleaseOutcome decommit(long token, long offset, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long estimate(Ranges ranges) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long committedBytes(long token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long price(long prefix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void attach(long token, long offset, long prefix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ReleaseOutcome detach(long token, long offset, long prefix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void privatise(long token, long offset, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long bytes(long token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void fill(long token, long offset, long length, byte value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void copy(long target, long targetOffset, long source, long sourceOffset, long length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void synchronise() {
        throw new UnsupportedOperationException();
    }
}
