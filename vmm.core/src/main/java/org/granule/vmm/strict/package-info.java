/**
 * A driver in memory for tests: it knows what a real driver accepts and refuses, notes what it would not report,
 * and fails on request.
 */
package org.granule.vmm.strict;
