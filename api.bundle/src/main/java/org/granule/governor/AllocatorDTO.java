package org.granule.governor;

import org.osgi.dto.DTO;

/** An allocator service, by what the framework says of it. */
public class AllocatorDTO extends DTO {

    /** Creates an empty DTO. */
    public AllocatorDTO() {}

    /** The framework's number of the service in this run. */
    public long serviceId;
    /** The bundle that registered it. */
    public long bundleId;
    /** That bundle's symbolic name. */
    public String bundle;
    /** That bundle's version. */
    public String version;
    /** The device that the service claims by its property; verified when it is bound. */
    public String device;
    /** The name of that device for people, or null. */
    public String deviceName;
    /** The mechanism that it claims, or null. */
    public String mechanism;
    /** The facets that it claims, or empty. */
    public String facets;
    /** The service ranking. */
    public int ranking;
    /**
     * {@code AVAILABLE}, {@code BOUND}, {@code UNHEALTHY}, {@code REFUSED}, {@code INVISIBLE}, or {@code UNAVAILABLE}
     * for one that cannot work on this machine.
     */
    public String state;
    /** Why, with the remedy, when it can not be used; who has bound it when it is. */
    public String reason;
}
