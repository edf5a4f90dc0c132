package org.granule.workload.replay;

import java.util.Iterator;
import java.util.List;
import org.granule.workload.trace.Request;
import org.granule.workload.trace.TraceReader;

/** A trace from a list. */
public final class ListTrace implements TraceReader {

    private final Iterator<Request> requests;

    public ListTrace(Request... requests) {
        this.requests = List.of(requests).iterator();
    }

    @Override
    public boolean hasNext() {
        return requests.hasNext();
    }

    @Override
    public Request next() {
        return requests.next();
    }

    @Override
    public String name() {
        return "list";
    }

    @Override
    public String format() {
        return "list";
    }

    @Override
    public long badLines() {
        return 0;
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
