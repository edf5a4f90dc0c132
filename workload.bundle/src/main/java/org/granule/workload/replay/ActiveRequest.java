package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.List;
import org.granule.memory.ClosedException;
import org.granule.memory.MemoryException;
import org.granule.memory.StaleTokenException;
import org.granule.workload.trace.Request;

/**
 * A request from its reservation to its release, advanced step by step by one worker. Whatever a step was
 * refused stays undone and is tried again at the next one.
 */
final class ActiveRequest {

    /** What a step came to. */
    enum Step {
        /** Something was done. */
        MOVED,
        /** Its next tokens are not due yet. */
        LATER,
        /** There is no room for its next tokens. */
        STALLED,
        /** It is over, and holds nothing any more. */
        ENDED
    }

    private final Request request;
    private final boolean again;
    private final Tools tools;
    private final ContextLayout layout;
    /** In the order of the prompt: the ones that were present, then the ones it made. */
    private final List<SharedBlock> blocks = new ArrayList<>();

    private Context context;
    private int foundBlocks;
    private int cachedTokens;
    private int tokens;
    private long readyAt;

    /**
     * Makes a request active.
     *
     * @param request from the trace
     * @param again whether it was active before and had to make room; its blocks are counted once
     * @param tools of its worker
     */
    ActiveRequest(Request request, boolean again, Tools tools) {
        this.request = request;
        this.again = again;
        this.tools = tools;
        this.layout = new ContextLayout(
                request, tools.bytesPerToken(), tools.memory().backing().granuleBytes());
        books().active.add(1);
        books().naiveBytes.add(layout.reservedBytes());
    }

    Request request() {
        return request;
    }

    /** When its next step is due. */
    long readyAt() {
        return readyAt;
    }

    Step step(long now) {
        if (now < readyAt) {
            return Step.LATER;
        }
        try {
            return advance(now);
        } catch (MemoryException e) {
            fail(e);
            return Step.ENDED;
        }
    }

    private Step advance(long now) {
        if (context == null) {
            begin();
        }
        if (tokens < request.inputTokens()) {
            if (!prefill()) {
                return Step.STALLED;
            }
            readyAt = now + tools.pace().prefillNanos(request.inputTokens() - cachedTokens);
            return Step.MOVED;
        }
        if (tokens < request.contextTokens()) {
            int upTo = Math.min(request.contextTokens(), tokens + Pace.DECODE_TOKENS);
            if (!context.commit(upTo)) {
                return Step.STALLED;
            }
            readyAt = now + tools.pace().decodeNanos(upTo - tokens);
            arrive(upTo);
            return Step.MOVED;
        }
        context.verifyOwn();
        leave();
        (context.isFaulty() ? books().failed : books().completed).increment();
        return Step.ENDED;
    }

    private void begin() {
        context = new Context(request, tools, layout);
        blocks.addAll(tools.cache().acquire(request));
        foundBlocks = blocks.size();
        cachedTokens = Math.min(request.inputTokens(), foundBlocks * Request.BLOCK_TOKENS);
        if (!again) {
            books().blocks.add(request.blockIds().length);
            books().blockHits.add(foundBlocks);
        }
        context.attach(blocks);
    }

    private boolean prefill() {
        while (tokens < request.inputTokens()) {
            int from = Math.max(tokens, cachedTokens);
            int upTo = Math.min(request.inputTokens(), from + Pace.PREFILL_TOKENS);
            if (!context.commit(upTo)) {
                return false;
            }
            arrive(upTo);
        }
        publish();
        return true;
    }

    private void arrive(int upTo) {
        books().tokens.add(upTo - tokens);
        tokens = upTo;
    }

    /** Lets later requests find the blocks that this one has made. */
    private void publish() {
        long[] ids = request.blockIds();
        for (int i = foundBlocks; i < ids.length; i++) {
            // Somebody else may have made the same block meanwhile; then this copy stays private.
            if (tools.cache().claim(ids[i])) {
                try {
                    var block = context.share(i);
                    tools.cache().publish(block);
                    blocks.add(block);
                } catch (MemoryException e) {
                    tools.cache().abandon(ids[i]);
                    throw e;
                }
            }
        }
    }

    /** Ends it early, verified as far as it came. */
    void abandon() {
        try {
            if (context != null) {
                context.verifyOwn();
            }
        } catch (MemoryException e) {
            problem(e);
        }
        leave();
    }

    /** Ends it because it cannot fit even alone. */
    void refuse() {
        abandon();
        books().refused.increment();
        books().refusals
                .add("request " + request.index() + " of " + layout.reservedBytes() + " bytes does not fit even alone: "
                        + (context == null ? "" : context.refusal()));
    }

    private void fail(MemoryException cause) {
        books().failed.increment();
        problem(cause);
        if (cause instanceof ClosedException || cause instanceof StaleTokenException) {
            tools.onLost().accept(cause);
        }
        leave();
    }

    private void leave() {
        if (context != null) {
            context.release();
        }
        books().naiveBytes.add(-layout.reservedBytes());
        books().active.add(-1);
        tools.retirement().retire(tools.cache().release(blocks));
    }

    private void problem(MemoryException cause) {
        books().problems.add("request " + request.index() + " failed: " + cause.getMessage());
    }

    private Books books() {
        return tools.books();
    }
}
