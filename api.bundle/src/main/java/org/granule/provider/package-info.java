/**
 * How applications get memory. An {@link org.granule.provider.ExecutionProvider} is an OSGi service with
 * a name; it has bound exactly one allocator, and opens {@link org.granule.provider.MemorySession
 * sessions}.
 */
@Export
@Version("1.0.0")
package org.granule.provider;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
