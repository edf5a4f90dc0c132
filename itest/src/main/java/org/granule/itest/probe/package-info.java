/**
 * What tests and the allocator bundles that they deploy have in common. It holds no object of a deployed bundle, so
 * that such a bundle's classes can go.
 */
@Export
@Version("1.0.0")
package org.granule.itest.probe;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
