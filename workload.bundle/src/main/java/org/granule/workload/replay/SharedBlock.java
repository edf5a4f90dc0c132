package org.granule.workload.replay;

/** A prefix block that requests can attach. */
final class SharedBlock {

    /** Stands for a block that fills no granule: it is known, but there is nothing to map. */
    static final long NO_PREFIX = 0;

    private final long id;
    private final int position;
    private final long prefix;
    private final long bytes;
    private final int tokens;

    /** Requests that map it, its creator included. Guarded by the cache. */
    int users = 1;

    SharedBlock(long id, int position, int tokens, long prefix, long bytes) {
        this.id = id;
        this.position = position;
        this.tokens = tokens;
        this.prefix = prefix;
        this.bytes = bytes;
    }

    long id() {
        return id;
    }

    /** The prefix's token. */
    long prefix() {
        return prefix;
    }

    /** What it owns, whole granules. */
    long bytes() {
        return bytes;
    }

    /** Whether it is the same piece of a prompt. An id at another place would lie otherwise in its granules. */
    boolean isAt(int otherPosition, int otherTokens) {
        return position == otherPosition && tokens == otherTokens;
    }
}
