package org.granule.itest.allocator;

import java.util.function.Supplier;
import org.granule.memory.DeviceAllocator;

/**
 * An allocator of either kind.
 *
 * @param allocator the service
 * @param leftover tells what it has still got, or {@code "nothing"}
 * @param end gives back what it keeps for itself
 */
record Mechanism(DeviceAllocator allocator, Supplier<String> leftover, Runnable end) {}
