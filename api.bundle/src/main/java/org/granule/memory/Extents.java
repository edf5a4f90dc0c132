package org.granule.memory;

/** How the memory behind a reservation will be taken away again; it decides how it is cut. */
public enum Extents {
    /**
     * In pieces: each granule has a handle of its own and can leave alone. For caches that grow and are
     * shared by the granule.
     */
    PIECES,
    /**
     * As it came: one handle for each contiguous run of a request, as large as possible. On CUDA a commit
     * of 1 GiB then costs one handle in place of 512. Decommitting a part keeps the whole handle.
     */
    WHOLE
}
