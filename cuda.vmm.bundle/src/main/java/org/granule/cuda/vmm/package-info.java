/** The engine over the CUDA driver. */
package org.granule.cuda.vmm;
