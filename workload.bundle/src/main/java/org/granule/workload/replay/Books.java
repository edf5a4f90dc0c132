package org.granule.workload.replay;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a replay counts. Bytes are added after the memory has come and taken off before it goes, so no count is
 * ever above what there was.
 */
final class Books {

    /** Physical memory that the replay holds, each shared granule once. */
    final Gauge ownedBytes = new Gauge();
    /** The part of the owned bytes that active requests use; the rest are prefixes kept for later. */
    final Gauge inUseBytes = new Gauge();
    /** Memory that requests can reach, once for each of them. */
    final Gauge mappedBytes = new Gauge();
    /** What active requests would own if each held its whole context from the start, alone. */
    final Gauge naiveBytes = new Gauge();
    /** The part of the owned bytes in which there is a token. */
    final Gauge usefulBytes = new Gauge();
    /** What active requests have attached and would otherwise own copies of. */
    final Gauge savedBytes = new Gauge();

    final Gauge active = new Gauge();

    final LongAdder completed = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder preempted = new LongAdder();
    final LongAdder tokens = new LongAdder();
    final LongAdder blocks = new LongAdder();
    final LongAdder blockHits = new LongAdder();
    final LongAdder attachedBytes = new LongAdder();
    final LongAdder writtenGranules = new LongAdder();
    final LongAdder verifiedGranules = new LongAdder();
    final LongAdder wrongBytes = new LongAdder();

    final Messages problems = new Messages();
    final Messages refusals = new Messages();
}
