package org.granule.conformance;

/** How much an allocator keeps of what was given back. */
enum Keeping {
    /** Nothing: everything goes to the device at once, so every release makes its calls. */
    NOTHING,
    /** As much as it likes, which is how it is deployed. */
    MUCH
}
