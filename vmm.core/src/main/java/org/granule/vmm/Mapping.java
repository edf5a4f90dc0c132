package org.granule.vmm;

/**
 * An extent at its place in a reservation.
 *
 * @param extent what is mapped, whole
 * @param first the granule of the reservation where it starts
 * @param count how many granules it covers
 * @param prefix the prefix that it came with, null for private memory
 * @param stuck whether an unmap of it failed: nobody knows what is there, and nobody may use it again
 */
record Mapping(Extent extent, long first, long count, Prefix prefix, boolean stuck) {

    boolean isReadOnly() {
        return prefix != null;
    }

    Mapping asStuck() {
        return new Mapping(extent, first, count, prefix, true);
    }

    long end() {
        return first + count;
    }
}
