package org.granule.provider;

import java.util.ArrayList;
import java.util.List;
import org.granule.governor.AllocatorDTO;
import org.osgi.dto.DTO;

/** What a provider is, waits for, and holds. */
public class ProviderDTO extends DTO {

    /** Creates an empty DTO. */
    public ProviderDTO() {}

    /** Its name, unique in the framework; the PID of the configuration when that is refused. */
    public String name;
    /** The configured device. */
    public String device;
    /** The tenant whose budget is charged. */
    public String tenant;
    /** The filter that an allocator must match, as it is in effect. */
    public String filter;
    /** {@code WAITING}, {@code BOUND}, {@code DRAINING}, {@code FAILED} or {@code ENDED}. */
    public String state;
    /** Why it is in this state: what it waits for, which allocator was chosen and why, or what failed. */
    public String reason;
    /** The number of the present or last generation, 0 before the first. */
    public long generation;
    /** The bound allocator, null while there is none. */
    public AllocatorDTO allocator;
    /** Allocators that match and are not bound, best first. */
    public List<AllocatorDTO> candidates = new ArrayList<>();
    /** Allocations that live. */
    public long liveAllocations;
    /** Sessions that are open, of all bundles. */
    public int sessions;
    /** Releases that wait for a fence. */
    public int pendingReleases;
    /** Age of the oldest release that waits, in nanoseconds, 0 when none does. */
    public long oldestPendingNanos;
    /** {@code OK} or {@code DEGRADED}. */
    public String health;
    /** Why health is degraded, empty when it is not. */
    public List<String> healthReasons = new ArrayList<>();
}
