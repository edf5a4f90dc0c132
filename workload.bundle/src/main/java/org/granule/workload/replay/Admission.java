package org.granule.workload.replay;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import org.granule.workload.trace.Request;
import org.granule.workload.trace.TraceReader;

/**
 * Decides which requests run. Requests come in the order of the trace while there is a free place and nobody
 * waits for memory. When every active request waits, the youngest makes room: it gives everything back and
 * starts again later. The oldest is never chosen, so the replay always gets on; and when the one that waits is
 * alone, it is refused.
 */
final class Admission {

    /** What a worker has to do with a request before its next step. */
    enum Verdict {
        GO_ON,
        MAKE_ROOM,
        REFUSE
    }

    /** Longer than any gap that matters, short enough that a missed call costs little. */
    private static final long MOST_WAIT_NANOS = 20_000_000;

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TraceReader trace;
    private final long limit;
    private final int places;
    private final Pace pace;
    private final PriorityQueue<Request> again = new PriorityQueue<>(Comparator.comparingLong(Request::index));
    private final Set<Long> startedBefore = new HashSet<>();
    /** Who waits for memory, and the epoch in which they tried last. */
    private final Map<ActiveRequest, Long> stalled = new HashMap<>();

    private Request next;
    private long taken;
    private int active;
    private boolean someoneMadeRoom;
    private boolean stopping;
    private ActiveRequest victim;
    /** Grows whenever memory was given back. */
    private long epoch;

    Admission(TraceReader trace, long limit, int places, Pace pace) {
        this.trace = trace;
        this.limit = limit;
        this.places = places;
        this.pace = pace;
    }

    /**
     * Takes the next request.
     *
     * @param now nanoseconds since the start
     * @return null when none may start now
     */
    synchronized Request poll(long now) {
        if (stopping || active >= places || !stalled.isEmpty()) {
            return null;
        }
        if (!again.isEmpty()) {
            // Started at once it would take the room that it has just made.
            if (someoneMadeRoom && active > 0) {
                return null;
            }
            active++;
            return again.poll();
        }
        if (!peek() || pace.arrivalNanos(next.arrivalNanos()) > now) {
            return null;
        }
        var request = next;
        next = null;
        taken++;
        active++;
        return request;
    }

    private boolean peek() {
        if (next == null && taken < limit && trace.hasNext()) {
            next = trace.next();
        }
        return next != null;
    }

    /** Whether a request was active before and had to make room. */
    synchronized boolean startedBefore(Request request) {
        return startedBefore.contains(request.index());
    }

    synchronized boolean finished() {
        return active == 0 && (stopping || (again.isEmpty() && !peek()));
    }

    synchronized Verdict verdict(ActiveRequest request) {
        if (request != victim) {
            return Verdict.GO_ON;
        }
        return active == 1 ? Verdict.REFUSE : Verdict.MAKE_ROOM;
    }

    /** A request found no room, having looked in an epoch. */
    synchronized void stalled(ActiveRequest request, long triedInEpoch) {
        stalled.put(request, triedInEpoch);
    }

    synchronized void moved(ActiveRequest request) {
        stalled.remove(request);
    }

    synchronized void ended(ActiveRequest request) {
        someoneMadeRoom = false;
        left(request);
    }

    synchronized void madeRoom(ActiveRequest request) {
        someoneMadeRoom = true;
        startedBefore.add(request.request().index());
        again.add(request.request());
        left(request);
    }

    private void left(ActiveRequest request) {
        active--;
        stalled.remove(request);
        if (victim == request) {
            victim = null;
        }
        freed();
    }

    /** Memory was given back: who waits may try again. */
    synchronized void freed() {
        epoch++;
        notifyAll();
    }

    synchronized long epoch() {
        return epoch;
    }

    /** Lets nothing more start; what is active ends early. */
    synchronized void stop() {
        stopping = true;
        notifyAll();
    }

    synchronized boolean isStopping() {
        return stopping;
    }

    synchronized long taken() {
        return taken;
    }

    synchronized int waiting() {
        return stalled.size() + again.size();
    }

    /**
     * Waits until there may be something to do.
     *
     * @param seenEpoch returns at once when memory was given back since
     * @param nanos how long at most
     */
    synchronized void await(long seenEpoch, long nanos) throws InterruptedException {
        if (epoch != seenEpoch || stopping) {
            return;
        }
        if (victim == null && allWait()) {
            victim = stalled.keySet().stream()
                    .max(Comparator.comparingLong(each -> each.request().index()))
                    .orElseThrow();
            notifyAll();
            return;
        }
        long most = Math.min(nanos, MOST_WAIT_NANOS);
        if (most > 0) {
            wait(most / NANOS_PER_MILLI, (int) (most % NANOS_PER_MILLI));
        }
    }

    private boolean allWait() {
        return active > 0
                && stalled.size() == active
                && stalled.values().stream().allMatch(tried -> tried == epoch);
    }
}
