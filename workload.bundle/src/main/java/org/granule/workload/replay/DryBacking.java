package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.ByteSize;
import org.granule.memory.ReleaseOutcome;

/** Books of memory that does not exist: the same charges and refusals as a provider's, nothing mapped. */
public final class DryBacking implements Backing {

    private static final String ACCOUNT = "dry run";

    private final long granuleBytes;
    private final long budgetBytes;
    private final Map<Long, Reservation> reservations = new HashMap<>();
    private final Map<Long, Prefix> prefixes = new HashMap<>();
    private long lastToken;
    private long ownedBytes;
    private long mappedBytes;

    public DryBacking(long granuleBytes, long budgetBytes) {
        this.granuleBytes = granuleBytes;
        this.budgetBytes = budgetBytes;
    }

    @Override
    public String account() {
        return ACCOUNT;
    }

    @Override
    public long granuleBytes() {
        return granuleBytes;
    }

    @Override
    public synchronized long reserve(long bytes) {
        reservations.put(++lastToken, new Reservation());
        return lastToken;
    }

    @Override
    public synchronized void commit(long token, long offset, long length) {
        if (length > budgetBytes - ownedBytes) {
            throw new BudgetExceededException(
                    ACCOUNT,
                    ACCOUNT,
                    length,
                    ownedBytes,
                    budgetBytes,
                    ByteSize.format(length) + " asked, " + ByteSize.format(ownedBytes) + " of "
                            + ByteSize.format(budgetBytes) + " in use");
        }
        var reservation = reservation(token);
        reservation.privateBytes += length;
        reservation.mappedBytes += length;
        ownedBytes += length;
        mappedBytes += length;
    }

    @Override
    public synchronized long share(long token, long offset, long length) {
        var prefix = new Prefix(length);
        var reservation = reservation(token);
        reservation.privateBytes -= length;
        reservation.prefixes.add(prefix);
        prefixes.put(++lastToken, prefix);
        return lastToken;
    }

    @Override
    public synchronized void attach(long token, long[] offsets, long[] tokens) {
        var reservation = reservation(token);
        for (long each : tokens) {
            var prefix = prefixes.get(each);
            prefix.users++;
            reservation.prefixes.add(prefix);
            reservation.mappedBytes += prefix.bytes;
            mappedBytes += prefix.bytes;
        }
    }

    @Override
    public synchronized ReleaseOutcome retire(long token) {
        var prefix = prefixes.remove(token);
        prefix.retired = true;
        freeIfUnused(prefix);
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }

    @Override
    public synchronized ReleaseOutcome release(long token) {
        var reservation = reservation(token);
        reservations.remove(token);
        ownedBytes -= reservation.privateBytes;
        mappedBytes -= reservation.mappedBytes;
        for (var prefix : reservation.prefixes) {
            prefix.users--;
            freeIfUnused(prefix);
        }
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }

    private Reservation reservation(long token) {
        var reservation = reservations.get(token);
        if (reservation == null) {
            throw new IllegalStateException("token " + token + " is not live");
        }
        return reservation;
    }

    private void freeIfUnused(Prefix prefix) {
        if (prefix.retired && prefix.users == 0) {
            ownedBytes -= prefix.bytes;
        }
    }

    @Override
    public boolean holdsBytes() {
        return false;
    }

    @Override
    public void copyIn(long token, long offset, MemorySegment source) {
        throw new UnsupportedOperationException("a dry run has no bytes");
    }

    @Override
    public void copyOut(MemorySegment target, long token, long offset) {
        throw new UnsupportedOperationException("a dry run has no bytes");
    }

    @Override
    public long address(long token) {
        return 0;
    }

    @Override
    public synchronized LedgerReading ledger() {
        return new LedgerReading(ownedBytes, mappedBytes, 0, 0);
    }

    @Override
    public void close() {
        // Nothing is held.
    }

    private static final class Reservation {
        private final List<Prefix> prefixes = new ArrayList<>();
        private long privateBytes;
        private long mappedBytes;
    }

    private static final class Prefix {
        private final long bytes;
        /** Reservations that map it; the creator's is the first. */
        private int users = 1;

        private boolean retired;

        Prefix(long bytes) {
            this.bytes = bytes;
        }
    }
}
