package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.provider.MemorySession;

/**
 * A provider's session. All workers share the one session, because a prefix belongs to the session that made
 * it and has to outlive the request that did.
 */
public final class SessionBacking implements Backing {

    private final MemorySession session;
    private final Supplier<LedgerReading> ledger;

    public SessionBacking(MemorySession session, Supplier<LedgerReading> ledger) {
        this.session = session;
        this.ledger = ledger;
    }

    @Override
    public String account() {
        return session.account();
    }

    @Override
    public long granuleBytes() {
        return session.granuleBytes();
    }

    @Override
    public long reserve(long bytes) {
        return session.reserve(bytes, session.granuleBytes(), Ranges.none(), Extents.PIECES);
    }

    @Override
    public void commit(long token, long offset, long length) {
        session.commit(token, offset, length);
    }

    @Override
    public long share(long token, long offset, long length) {
        return session.share(token, offset, length);
    }

    @Override
    public void attach(long token, long[] offsets, long[] prefixes) {
        session.attach(token, offsets, prefixes);
    }

    @Override
    public ReleaseOutcome retire(long prefix) {
        return session.retire(prefix);
    }

    @Override
    public ReleaseOutcome release(long token) {
        return session.release(token);
    }

    @Override
    public boolean holdsBytes() {
        return true;
    }

    @Override
    public void copyIn(long token, long offset, MemorySegment source) {
        session.copyIn(token, offset, source);
    }

    @Override
    public void copyOut(MemorySegment target, long token, long offset) {
        session.copyOut(target, token, offset);
    }

    @Override
    public long address(long token) {
        return session.address(token);
    }

    @Override
    public LedgerReading ledger() {
        return ledger.get();
    }

    @Override
    public void close() {
        session.close();
    }
}
