package org.granule.memory;

/**
 * Tells whether sharing a prefix is worth it. Only whole granules can be shared, so a prefix that fills
 * none saves nothing.
 *
 * @param prefixBytes size of the prefix, at least 0
 * @param offset where it starts in each sequence, at least 0
 * @param granuleBytes the mechanism's granule, a power of two
 */
public record PrefixLayout(long prefixBytes, long offset, long granuleBytes) {

    /**
     * Checks the figures.
     *
     * @throws InvalidRequestException when one is out of range
     */
    public PrefixLayout {
        if (prefixBytes < 0 || offset < 0 || offset > Long.MAX_VALUE - prefixBytes) {
            throw new InvalidRequestException(
                    "prefix of " + prefixBytes + " bytes at offset " + offset + ": both must be at least 0");
        }
        if (granuleBytes <= 0 || Long.bitCount(granuleBytes) != 1) {
            throw new InvalidRequestException("granule of " + granuleBytes + " bytes is not a power of two");
        }
    }

    /**
     * Returns how much of the prefix one more sharer can map in place of owning it.
     *
     * @return bytes, a multiple of the granule
     */
    public long sharedBytes() {
        long first = offset / granuleBytes + (offset % granuleBytes == 0 ? 0 : 1);
        long end = (offset + prefixBytes) / granuleBytes;
        return Math.max(0, end - first) * granuleBytes;
    }

    /**
     * Returns how much of the prefix every sharer must own, at its edges.
     *
     * @return bytes
     */
    public long privateBytes() {
        return prefixBytes - sharedBytes();
    }

    /**
     * Tells whether sharing saves anything.
     *
     * @return whether at least one granule is shared
     */
    public boolean isWorthSharing() {
        return sharedBytes() > 0;
    }

    /**
     * Says it for people.
     *
     * @return one sentence with the figures
     */
    public String explain() {
        return isWorthSharing()
                ? sharedBytes() + " of " + prefixBytes + " bytes lie in whole granules of " + granuleBytes
                        + " bytes and are owned once; " + privateBytes() + " bytes at the edges stay private"
                : "no whole granule of " + granuleBytes + " bytes lies in the " + prefixBytes + " bytes at offset "
                        + offset + "; each sharer needs its own copy";
    }
}
