/** Allocators of host memory. */
package org.granule.host;
