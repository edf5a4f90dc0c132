/** Execution providers: made from configuration, bound to exactly one allocator for each generation. */
package org.granule.execution;
