/** The content of the allocator bundles that tests make at run time; each has its own copy of these classes. */
package org.granule.itest.allocator;
