package org.granule.workload.replay;

import org.granule.workload.model.Geometry;

/**
 * How a replay runs.
 *
 * @param geometry bytes a token
 * @param retain prefix blocks that are kept when nobody uses them; {@link Long#MAX_VALUE} for all
 * @param threads workers
 * @param active requests that may be active at once, over all workers
 * @param speed trace seconds in a second, or 0 for as fast as possible
 * @param write how much is written
 */
public record ReplaySettings(Geometry geometry, long retain, int threads, int active, double speed, WriteMode write) {

    public ReplaySettings {
        require(retain >= 0, "retain", retain, "at least 0");
        require(threads >= 1 && threads <= 256, "threads", threads, "1 to 256");
        require(active >= 1 && active <= 100_000, "active", active, "1 to 100000");
        require(speed >= 0 && speed <= 1e9, "speed", speed, "0 to 1e9");
    }

    private static void require(boolean holds, String name, Object value, String legal) {
        if (!holds) {
            throw new IllegalArgumentException(name + " is " + value + "; it can be " + legal);
        }
    }
}
