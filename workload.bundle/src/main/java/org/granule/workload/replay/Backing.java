package org.granule.workload.replay;

import java.lang.foreign.MemorySegment;
import org.granule.memory.ReleaseOutcome;

/** The memory that a replay works on: a provider's session, or books that pretend. Thread-safe. */
public interface Backing extends AutoCloseable {

    /** The account that is charged, for people. */
    String account();

    long granuleBytes();

    long reserve(long bytes);

    void commit(long token, long offset, long length);

    long share(long token, long offset, long length);

    void attach(long token, long[] offsets, long[] prefixes);

    ReleaseOutcome retire(long prefix);

    ReleaseOutcome release(long token);

    /** Whether there are bytes to write and verify. */
    boolean holdsBytes();

    void copyIn(long token, long offset, MemorySegment source);

    void copyOut(MemorySegment target, long token, long offset);

    long address(long token);

    /** What the ledger says of the account now. */
    LedgerReading ledger();

    @Override
    void close();
}
