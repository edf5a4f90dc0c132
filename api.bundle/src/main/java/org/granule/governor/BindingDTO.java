package org.granule.governor;

import org.osgi.dto.DTO;

/** A binding: one holder and one allocator, from beginning to end. */
public class BindingDTO extends DTO {

    /** Creates an empty DTO. */
    public BindingDTO() {}

    /** Issued by the registry, never used again. */
    public long serial;
    /** Who holds it: the provider's name. */
    public String holder;
    /** The holder's generation. */
    public long generation;
    /** The allocator. */
    public AllocatorDTO allocator;
    /** The verified device. */
    public String device;
    /** {@code OPEN}, {@code CLOSING} or {@code CLOSED}. */
    public String state;
    /** Allocations that live, pending ones included. */
    public long liveAllocations;
    /** Sessions that are open. */
    public int sessions;
    /** Releases that wait for a fence. */
    public int pendingReleases;
    /** Age of the oldest of these, in nanoseconds. */
    public long oldestPendingNanos;
    /** Calls of the allocator that broke its contract or threw. */
    public long faults;
    /** The last of these, or null. */
    public String lastFault;
    /** Calls that the allocator made of its device's driver since it started, −1 when it does not count. */
    public long driverCalls;
}
