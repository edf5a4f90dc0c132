package org.granule.shell;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;

/** A session that keeps lengths and no memory; what the shell does not use is not there. */
final class FakeSession implements MemorySession {

    final Map<Long, Long> committed = new LinkedHashMap<>();
    boolean closed;
    ReleaseOutcome outcome = new ReleaseOutcome.Complete(4096);

    private final String account;
    private final AtomicLong tokens;

    FakeSession(String account, AtomicLong tokens) {
        this.account = account;
        this.tokens = tokens;
    }

    @Override
    public String account() {
        return account;
    }

    @Override
    public long allocate(long bytes, long alignment) {
        long token = tokens.incrementAndGet();
        committed.put(token, bytes);
        return token;
    }

    @Override
    public long reserve(long bytes, long alignment, Ranges ranges, Extents extents) {
        long token = tokens.incrementAndGet();
        committed.put(token, ranges.end());
        return token;
    }

    @Override
    public ReleaseOutcome release(long token) {
        if (!committed.containsKey(token)) {
            throw new StaleTokenException("token " + token + " was released");
        }
        if (!(outcome instanceof ReleaseOutcome.Failed)) {
            committed.remove(token);
        }
        return outcome;
    }

    @Override
    public long committedBytes(long token) {
        return committed.get(token);
    }

    @Override
    public long address(long token) {
        return token << 21;
    }

    @Override
    public void close() {
        closed = true;
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
    public void commit(long token, long offset, long length) {
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
    public long granuleBytes() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long share(long token, long offset, long length) {
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
    public void attach(long token, long[] offsets, long[] prefixes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ReleaseOutcome detach(long token, long offset, long prefix) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ReleaseOutcome retire(long prefix) {
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
    public void copyIn(long target, long offset, MemorySegment source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void copyOut(MemorySegment target, long source, long offset) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void synchronise() {
        throw new UnsupportedOperationException();
    }
}
