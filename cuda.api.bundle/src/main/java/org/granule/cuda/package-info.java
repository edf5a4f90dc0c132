/**
 * What a CUDA device offers beside memory: fences of streams, pointers for JCuda, and handles for other processes.
 */
@Export
@Version("1.0.0")
package org.granule.cuda;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
