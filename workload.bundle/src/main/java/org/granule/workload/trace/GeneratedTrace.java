package org.granule.workload.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * A made-up trace of conversations, the same for the same seed on every machine. Conversations start at
 * random times from one of a few system prompts, which they share; each turn's prompt is all that was said
 * before and something new, so a turn finds the blocks of the turn before.
 */
public final class GeneratedTrace implements TraceReader {

    /** Requests that a replay without a file has. */
    public static final int DEFAULT_REQUESTS = 2_000;

    /** The seed of a replay without a file. */
    public static final long DEFAULT_SEED = 20_260_101;

    private static final double CONVERSATIONS_PER_SECOND = 0.9;
    private static final int[] SYSTEM_PROMPT_TOKENS = {512, 1024, 512, 512};
    private static final double MEAN_USER_TOKENS = 90;
    private static final double MEAN_OUTPUT_TOKENS = 70;
    private static final double MEAN_PAUSE_SECONDS = 20;
    private static final double ANOTHER_TURN = 0.75;
    private static final int MAX_CONTEXT_TOKENS = 4_096;

    private final SplittableRandom random;
    private final int requests;
    private final PriorityQueue<Conversation> turns = new PriorityQueue<>();
    private final long[][] systemBlocks = new long[SYSTEM_PROMPT_TOKENS.length][];
    private long nextStart;
    private long conversations;
    private long nextId;
    private long index;

    public GeneratedTrace(long seed, int requests) {
        this.random = new SplittableRandom(seed);
        this.requests = requests;
        for (int i = 0; i < systemBlocks.length; i++) {
            systemBlocks[i] = new long[SYSTEM_PROMPT_TOKENS[i] / Request.BLOCK_TOKENS];
            for (int block = 0; block < systemBlocks[i].length; block++) {
                systemBlocks[i][block] = nextId++;
            }
        }
    }

    @Override
    public boolean hasNext() {
        return index < requests;
    }

    @Override
    public Request next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the generated trace has ended");
        }
        while (turns.isEmpty() || nextStart <= turns.peek().due) {
            turns.add(new Conversation(conversations++, nextStart, random.nextInt(systemBlocks.length)));
            nextStart += seconds(1 / CONVERSATIONS_PER_SECOND);
        }
        var conversation = turns.poll();
        var request = conversation.turn(index++);
        if (conversation.context < MAX_CONTEXT_TOKENS && random.nextDouble() < ANOTHER_TURN) {
            conversation.due += seconds(MEAN_PAUSE_SECONDS);
            turns.add(conversation);
        }
        return request;
    }

    /** Draws from an exponential distribution; StrictMath, so that every machine draws the same. */
    private double exponential(double mean) {
        return -mean * StrictMath.log(1 - random.nextDouble());
    }

    private long seconds(double mean) {
        return (long) (exponential(mean) * 1_000_000_000L);
    }

    private int tokens(double mean) {
        return 4 + (int) Math.min(2_000, exponential(mean));
    }

    @Override
    public String name() {
        return "generated trace";
    }

    @Override
    public String format() {
        return "generated";
    }

    @Override
    public long badLines() {
        return 0;
    }

    @Override
    public void close() {
        // Nothing is held.
    }

    /** One conversation: what was said so far, and when the next turn comes. */
    private final class Conversation implements Comparable<Conversation> {
        private final long number;
        private final List<Long> fullBlocks = new ArrayList<>();
        private long due;
        private int context;

        Conversation(long number, long due, int system) {
            this.number = number;
            this.due = due;
            this.context = SYSTEM_PROMPT_TOKENS[system];
            for (long id : systemBlocks[system]) {
                fullBlocks.add(id);
            }
        }

        Request turn(long requestIndex) {
            int input = context + tokens(MEAN_USER_TOKENS);
            int output = tokens(MEAN_OUTPUT_TOKENS);
            while (fullBlocks.size() < input / Request.BLOCK_TOKENS) {
                fullBlocks.add(nextId++);
            }
            var ids = new long[Request.blocksOf(input)];
            for (int block = 0; block < ids.length; block++) {
                // What a partial block holds is never what it holds when it is full, so its id is its own.
                ids[block] = block < fullBlocks.size() ? fullBlocks.get(block) : nextId++;
            }
            context = input + output;
            return new Request(requestIndex, due, input, output, ids);
        }

        @Override
        public int compareTo(Conversation other) {
            int byTime = Long.compare(due, other.due);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }
}
