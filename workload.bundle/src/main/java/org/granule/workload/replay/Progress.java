package org.granule.workload.replay;

import java.util.Locale;
import org.granule.memory.ByteSize;

/**
 * How far a replay is.
 *
 * @param seconds since the start
 * @param taken requests read from the trace
 * @param completed requests that ended well
 * @param active requests that run
 * @param waiting requests that wait for memory
 * @param ownedBytes memory held
 * @param blocks prefix blocks seen
 * @param blockHits of which were present
 */
public record Progress(
        double seconds,
        long taken,
        long completed,
        long active,
        long waiting,
        long ownedBytes,
        long blocks,
        long blockHits) {

    /** One line of at most 100 characters. */
    public String line() {
        double hits = blocks == 0 ? 0 : 100.0 * blockHits / blocks;
        return String.format(
                Locale.ROOT,
                "replay: %,d taken, %,d completed, %d active, %d waiting, %s owned, %.1f %% hits, %.0f s",
                taken,
                completed,
                active,
                waiting,
                ByteSize.format(ownedBytes),
                hits,
                seconds);
    }
}
