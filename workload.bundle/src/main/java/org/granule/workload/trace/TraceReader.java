package org.granule.workload.trace;

import java.util.Iterator;

/** Requests in the order of a trace, read as they are asked for. For one thread at a time. */
public interface TraceReader extends Iterator<Request>, AutoCloseable {

    /** What is read, for people. */
    String name();

    /** How the trace is written: a format's name, or {@code generated}. */
    String format();

    /** How many lines were skipped so far because they are no requests. */
    long badLines();

    @Override
    void close();
}
