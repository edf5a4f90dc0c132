package org.granule.workload.trace;

import java.util.Objects;

/**
 * One request of a trace.
 *
 * @param index its place among the good lines of the trace, from 0
 * @param arrivalNanos when it arrives, from the start of the trace
 * @param inputTokens length of its prompt, at least 1
 * @param outputTokens tokens that it produces, at least 0
 * @param blockIds the identity of each {@value #BLOCK_TOKENS}-token block of the prompt, in order; the last
 *     may be partial. Equal ids are equal content at an equal position. Empty when the trace does not say
 */
public record Request(long index, long arrivalNanos, int inputTokens, int outputTokens, long[] blockIds) {

    /** Tokens in a prefix block. */
    public static final int BLOCK_TOKENS = 512;

    /** The longest prompt or output that a trace may name; keeps every sum far from an overflow. */
    public static final int MAX_TOKENS = 100_000_000;

    /** For traces that say nothing of content. */
    public static final long[] NO_BLOCKS = {};

    public Request {
        Objects.requireNonNull(blockIds, "blockIds");
        requireIn(inputTokens, 1, "inputTokens");
        requireIn(outputTokens, 0, "outputTokens");
        if (blockIds.length > blocksOf(inputTokens)) {
            throw new IllegalArgumentException(blockIds.length + " blocks for a prompt of " + inputTokens
                    + " tokens, which has " + blocksOf(inputTokens));
        }
    }

    /** Tokens of the whole context, prompt and output. */
    public int contextTokens() {
        return inputTokens + outputTokens;
    }

    /** Prompt tokens in one of its blocks: all but the last are full. */
    public int blockTokens(int block) {
        return Math.min(BLOCK_TOKENS, inputTokens - block * BLOCK_TOKENS);
    }

    /** How many blocks a prompt has, the partial one included. */
    public static int blocksOf(int tokens) {
        return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
    }

    private static void requireIn(int tokens, int least, String name) {
        if (tokens < least || tokens > MAX_TOKENS) {
            throw new IllegalArgumentException(name + " is " + tokens + ", not in " + least + " to " + MAX_TOKENS);
        }
    }
}
