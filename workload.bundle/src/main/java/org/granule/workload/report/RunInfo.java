package org.granule.workload.report;

/**
 * What a replay ran on.
 *
 * @param provider the provider's name, or a word for a dry run
 * @param mechanism the allocator's mechanism, as it names it
 * @param budgetBytes the limit that was set for the run, {@link Long#MAX_VALUE} when none was
 * @param dry whether nothing was mapped
 */
public record RunInfo(String provider, String mechanism, long budgetBytes, boolean dry) {

    /** What a run without a provider shows. */
    public static RunInfo dryRun(long budgetBytes) {
        return new RunInfo("none", "dry", budgetBytes, true);
    }
}
