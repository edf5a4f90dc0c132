package org.granule.workload.replay;

/** Compares granules with what their owners wrote, and books what it finds. */
final class Verification {

    private Verification() {}

    /**
     * Verifies one granule.
     *
     * @param owner who wrote it, for people
     * @return whether every byte is right
     */
    static boolean verify(
            Books books, Backing backing, GranuleData data, long token, long offset, long seed, String owner) {
        var wrong = data.verify(token, offset, seed);
        books.verifiedGranules.increment();
        if (wrong == null) {
            return true;
        }
        books.wrongBytes.add(wrong.bytes());
        books.problems.add(String.format(
                "wrong byte at address 0x%x, owner %s: 0x%02x was written, 0x%02x is there; %d wrong in the granule",
                backing.address(token) + wrong.firstOffset(), owner, wrong.expected(), wrong.actual(), wrong.bytes()));
        return false;
    }
}
