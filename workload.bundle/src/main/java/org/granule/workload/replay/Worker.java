package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.granule.workload.replay.ActiveRequest.Step;

/** One thread of a replay. It gives each of its active requests a turn, as a server batches them. */
final class Worker implements Runnable {

    private final Admission admission;
    private final Tools tools;
    private final int places;
    private final long startNanos;
    private final List<ActiveRequest> mine = new ArrayList<>();
    private Throwable failure;

    Worker(Admission admission, Tools tools, int places, long startNanos) {
        this.admission = admission;
        this.tools = tools;
        this.places = places;
        this.startNanos = startNanos;
    }

    /** What ended the worker against the rules, or null. Read it once its thread has ended. */
    Throwable failure() {
        return failure;
    }

    Latencies latencies() {
        return tools.memory().latencies();
    }

    @Override
    public void run() {
        try {
            serve();
        } catch (InterruptedException e) {
            admission.stop();
        } catch (Throwable e) {
            // Whatever it is, the others have to stop and the run has to say it.
            failure = e;
            admission.stop();
        }
        stopAll();
    }

    private void serve() throws InterruptedException {
        while (!admission.isStopping() && !(mine.isEmpty() && admission.finished())) {
            long epoch = admission.epoch();
            boolean moved = admit();
            long due = Long.MAX_VALUE;
            for (Iterator<ActiveRequest> all = mine.iterator(); all.hasNext(); ) {
                var request = all.next();
                var step = turn(request, epoch);
                if (step == Step.ENDED) {
                    all.remove();
                }
                if (step == Step.LATER) {
                    due = Math.min(due, request.readyAt());
                }
                moved |= step == Step.MOVED || step == Step.ENDED;
            }
            if (!moved) {
                admission.await(epoch, due == Long.MAX_VALUE ? due : due - now());
            }
        }
    }

    private boolean admit() {
        boolean any = false;
        while (mine.size() < places) {
            var request = admission.poll(now());
            if (request == null) {
                break;
            }
            mine.add(new ActiveRequest(request, admission.startedBefore(request), tools));
            any = true;
        }
        return any;
    }

    private Step turn(ActiveRequest request, long epoch) {
        switch (admission.verdict(request)) {
            case MAKE_ROOM -> {
                request.abandon();
                tools.books().preempted.increment();
                admission.madeRoom(request);
                return Step.ENDED;
            }
            case REFUSE -> {
                request.refuse();
                admission.ended(request);
                return Step.ENDED;
            }
            case GO_ON -> {}
        }
        var step = request.step(now());
        switch (step) {
            case MOVED -> admission.moved(request);
            case STALLED -> admission.stalled(request, epoch);
            case ENDED -> admission.ended(request);
            case LATER -> {}
        }
        return step;
    }

    private void stopAll() {
        for (var request : mine) {
            try {
                request.abandon();
            } catch (RuntimeException e) {
                tools.books().problems.add("request " + request.request().index() + " was not ended: " + e);
            }
            admission.ended(request);
        }
        mine.clear();
    }

    private long now() {
        return System.nanoTime() - startNanos;
    }
}
