package org.granule.memory;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * Registered as a service in the place of an allocator that cannot work on this machine, so that operators find the
 * reason where they look for the allocator. It has the allocator's {@value DeviceAllocator#DEVICE_PROPERTY} and
 * {@value DeviceAllocator#MECHANISM_PROPERTY}, and {@value #REASON_PROPERTY}. Nobody calls it.
 */
@ConsumerType
public interface UnavailableAllocator {

    /** Service property that says what is missing, and what to do, for people. */
    String REASON_PROPERTY = "granule.reason";
}
