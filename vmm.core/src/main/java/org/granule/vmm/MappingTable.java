package org.granule.vmm;

/** What is mapped in each granule of a reservation. Space for a large reservation comes as it is used. */
final class MappingTable {

    private static final int CHUNK_SHIFT = 9;
    private static final int CHUNK = 1 << CHUNK_SHIFT;

    private final Mapping[][] chunks;

    MappingTable(long granules) {
        chunks = new Mapping[Math.toIntExact((granules + CHUNK - 1) >>> CHUNK_SHIFT)][];
    }

    Mapping get(long granule) {
        var chunk = chunks[(int) (granule >>> CHUNK_SHIFT)];
        return chunk == null ? null : chunk[(int) granule & (CHUNK - 1)];
    }

    /** Returns the first mapping that touches a granule at or after {@code from} and before {@code to}, or null. */
    Mapping next(long from, long to) {
        for (long granule = from; granule < to; ) {
            var chunk = chunks[(int) (granule >>> CHUNK_SHIFT)];
            if (chunk == null) {
                granule = ((granule >>> CHUNK_SHIFT) + 1) << CHUNK_SHIFT;
                continue;
            }
            var mapping = chunk[(int) granule & (CHUNK - 1)];
            if (mapping != null) {
                return mapping;
            }
            granule++;
        }
        return null;
    }

    void put(Mapping mapping) {
        set(mapping, mapping);
    }

    void remove(Mapping mapping) {
        set(mapping, null);
    }

    private void set(Mapping place, Mapping value) {
        for (long granule = place.first(); granule < place.end(); granule++) {
            int chunk = (int) (granule >>> CHUNK_SHIFT);
            if (chunks[chunk] == null) {
                chunks[chunk] = new Mapping[CHUNK];
            }
            chunks[chunk][(int) granule & (CHUNK - 1)] = value;
        }
    }
}
