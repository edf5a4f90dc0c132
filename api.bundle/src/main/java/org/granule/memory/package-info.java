/**
 * What an allocator is: the contract between whoever brings memory and the platform that governs it.
 *
 * <h2>The model</h2>
 *
 * A {@link org.granule.memory.DeviceAllocator} is an OSGi service for one device. It hands out
 * addresses and takes them back. Everything else is optional: {@link
 * org.granule.memory.VirtualBacking} separates an address range from the memory behind it, {@link
 * org.granule.memory.SharedMapping} maps one piece of memory at several addresses, {@link
 * org.granule.memory.Transfer} moves bytes on devices that Java cannot address, {@link
 * org.granule.memory.DeviceInspection} compares the allocator's books with its device.
 *
 * <p>An allocator is never called by applications. They hold a session of an execution provider,
 * whose binding checks every argument and every identity before the allocator sees it. An allocator
 * may therefore rely on what its methods say of their arguments.
 *
 * <p>All sizes, offsets, lengths and addresses are {@code long} values in bytes. All times are in
 * nanoseconds.
 */
@Export
@Version("1.0.0")
package org.granule.memory;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
