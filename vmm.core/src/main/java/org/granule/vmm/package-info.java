/**
 * The engine for devices whose addresses and memory are separate things: whoever brings a {@link
 * org.granule.vmm.VmmDriver} gets an allocator with virtual backing and shared mapping as final classes over
 * that one driver.
 */
package org.granule.vmm;
