package org.granule.memory;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * Shows what an allocator holds of its device, and compares its books with what the device itself says. For
 * operators: nothing else depends on it.
 *
 * <p>Both methods may be called at any time, from any thread, while allocations go on. They change nothing,
 * and no allocation waits for them longer than for another one.
 */
@ConsumerType
public interface DeviceInspection {

    /**
     * Reads the figures. They are read one after the other: at rest they fit each other, while memory comes and
     * goes one may be ahead of another.
     *
     * @return a new DTO; what the device cannot say, or not any more, is −1
     */
    DeviceStateDTO state();

    /**
     * Compares the books with the device: every handle that should exist, every mapping that should be there, and
     * mappings that nobody knows. What changes meanwhile is looked at again and is no finding. Takes time in
     * proportion to the handles and mappings.
     *
     * @return a new DTO with what was looked at and every difference found
     * @throws DriverFaultException when the device cannot be asked, such as one that is lost
     */
    ReconciliationDTO reconcile();
}
