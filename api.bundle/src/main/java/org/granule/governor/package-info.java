/**
 * Who holds what, and how much may be held: the exact ledger over all allocators, and the registry that
 * binds allocators and issues identities.
 */
@Export
@Version("1.0.0")
package org.granule.governor;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
