package org.granule.workload.replay;

import org.granule.memory.PrefixLayout;
import org.granule.workload.trace.Request;

/** Where the tokens and prefix blocks of a request lie in its reservation. */
final class ContextLayout {

    private final Request request;
    private final long bytesPerToken;
    private final long granuleBytes;

    ContextLayout(Request request, long bytesPerToken, long granuleBytes) {
        this.request = request;
        this.bytesPerToken = bytesPerToken;
        this.granuleBytes = granuleBytes;
    }

    /** Granules that hold the first so many tokens. */
    long granules(int tokens) {
        return (tokens * bytesPerToken + granuleBytes - 1) / granuleBytes;
    }

    /** The whole context in whole granules, prompt and output. */
    long reservedBytes() {
        return granules(request.contextTokens()) * granuleBytes;
    }

    /** Only granules that lie in a block as a whole can be shared; the edges stay private. */
    private PrefixLayout block(int block) {
        return new PrefixLayout(request.blockTokens(block) * bytesPerToken, blockOffset(block), granuleBytes);
    }

    private long blockOffset(int block) {
        return (long) block * Request.BLOCK_TOKENS * bytesPerToken;
    }

    long sharedBytes(int block) {
        return block(block).sharedBytes();
    }

    /** Where the first whole granule of a block starts. */
    long sharedOffset(int block) {
        return (blockOffset(block) + granuleBytes - 1) / granuleBytes * granuleBytes;
    }

    /** The seed of what a granule holds: a block's where all of it is the block's, or else the request's. */
    long seed(long granule) {
        long block = granule * granuleBytes / (Request.BLOCK_TOKENS * bytesPerToken);
        if (block < request.blockIds().length) {
            long inBlock = granule - sharedOffset((int) block) / granuleBytes;
            if (inBlock >= 0 && inBlock < sharedBytes((int) block) / granuleBytes) {
                return Pattern.ofBlock(request.blockIds()[(int) block], inBlock);
            }
        }
        return Pattern.ofRequest(request.index(), granule);
    }
}
