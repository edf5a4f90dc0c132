package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.List;

/** Samples over a run of unknown length: when there are many, every second one goes and the pace halves. */
final class Samples {

    private static final int MOST = 800;
    private static final long FIRST_INTERVAL_MILLIS = 20;

    private final List<Sample> samples = new ArrayList<>();
    private long intervalMillis = FIRST_INTERVAL_MILLIS;

    long intervalMillis() {
        return intervalMillis;
    }

    void add(Sample sample) {
        samples.add(sample);
        if (samples.size() >= MOST) {
            for (int i = 0; i < samples.size() / 2; i++) {
                samples.set(i, samples.get(2 * i));
            }
            samples.subList(samples.size() / 2, samples.size()).clear();
            intervalMillis *= 2;
        }
    }

    List<Sample> all() {
        return List.copyOf(samples);
    }
}
