/** What is run on a card: conformance and benchmarks, as commands of the shell. */
package org.granule.gpu;
