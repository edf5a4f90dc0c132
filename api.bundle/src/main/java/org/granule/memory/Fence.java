package org.granule.memory;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * A point in a stream of device work. Memory that the work touches must not be unmapped or reused before
 * the point is passed.
 */
@ConsumerType
@FunctionalInterface
public interface Fence {

    /**
     * Tells whether all work before the point is done. Once true, it stays true. Must be cheap, thread-safe
     * and not block; an exception counts as not passed.
     *
     * @return whether the point is passed
     */
    boolean passed();
}
