package org.granule.workload.replay;

import java.util.List;
import java.util.Map;

/**
 * What a replay came to.
 *
 * @param trace what was replayed
 * @param format how the trace is written
 * @param badLines lines of it that were skipped
 * @param account who was charged
 * @param granuleBytes the allocator's granule
 * @param settings how it ran
 * @param requests taken from the trace: those completed, refused, failed or stopped
 * @param stopped requests that had not ended when the replay was stopped
 * @param interrupted whether it was stopped before the end of the trace
 * @param preempted how often a request gave everything back and started again
 * @param blocks prefix blocks of all requests
 * @param blockHits of which were present when their request began
 * @param attachedBytes memory that was attached in place of owning a copy, added up over the whole run
 * @param peakInUseBytes owned bytes at their highest without prefixes that nobody used just then
 * @param peakSavedBytes what was attached at the highest moment
 * @param driverCalls calls of the device's driver, or -1 when they are not counted
 * @param problems what went wrong, the first ones
 * @param refusals why requests were refused, the first ones
 */
public record ReplayResult(
        String trace,
        String format,
        long badLines,
        String account,
        long granuleBytes,
        ReplaySettings settings,
        long requests,
        long completed,
        long refused,
        long failed,
        long stopped,
        boolean interrupted,
        long preempted,
        long tokens,
        long blocks,
        long blockHits,
        long attachedBytes,
        long writtenGranules,
        long verifiedGranules,
        long wrongBytes,
        long peakOwnedBytes,
        long peakInUseBytes,
        long peakMappedBytes,
        long peakNaiveBytes,
        long peakUsefulBytes,
        long peakSavedBytes,
        long peakActive,
        long driverCalls,
        double wallSeconds,
        Map<Latencies.Operation, Latencies.Summary> latencies,
        LedgerReading ledgerAtEnd,
        List<Sample> samples,
        List<String> problems,
        List<String> refusals) {

    public double blockHitRatio() {
        return blocks == 0 ? 0 : (double) blockHits / blocks;
    }

    /** Bytes held for each byte that holds a token, over the whole run; 1 is perfect, 0 means no sample. */
    public double heldOverUseful() {
        double held = samples.stream().mapToLong(Sample::ownedBytes).sum();
        double useful = samples.stream().mapToLong(Sample::usefulBytes).sum();
        return useful == 0 ? 0 : held / useful;
    }

    /** Whether everything went as it must: nothing failed, every byte right, nothing left behind. */
    public boolean isGood() {
        return failed == 0 && wrongBytes == 0 && problems.isEmpty() && ledgerAtEnd.isZero();
    }
}
