/** Bindings and identities: what stands between the users of memory and the allocators that bring it. */
package org.granule.registry;
