package org.granule.workload.replay;

import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.ReleaseOutcome;
import org.granule.workload.trace.Request;

/** The memory of one request: its reservation, what is behind it, and the books of both. */
final class Context {

    private final Request request;
    private final Tools tools;
    private final ContextLayout layout;
    private final long granuleBytes;
    private final long token;
    /** Granules that belong to a block: attached, or its own before they were shared. */
    private final BitSet shared = new BitSet();
    /** Granules below it are committed or attached. */
    private int frontier;

    private long privateBytes;
    private long attachedBytes;
    private long sharedOutBytes;
    private long usefulBytes;
    private boolean faulty;
    private String refusal = "";

    Context(Request request, Tools tools, ContextLayout layout) {
        this.request = request;
        this.tools = tools;
        this.layout = layout;
        this.granuleBytes = tools.memory().backing().granuleBytes();
        if (layout.reservedBytes() / granuleBytes > Integer.MAX_VALUE) {
            throw new InvalidRequestException("a context of " + layout.reservedBytes() + " bytes has more than "
                    + Integer.MAX_VALUE + " granules");
        }
        this.token = tools.memory().reserve(layout.reservedBytes());
    }

    /** Whether a byte was wrong, or something could not be given back. */
    boolean isFaulty() {
        return faulty;
    }

    /** Why there was no room last. */
    String refusal() {
        return refusal;
    }

    /** Maps the blocks at the start of the prompt and verifies them. */
    void attach(List<SharedBlock> blocks) {
        int[] mappable = IntStream.range(0, blocks.size())
                .filter(i -> blocks.get(i).prefix() != SharedBlock.NO_PREFIX)
                .toArray();
        if (mappable.length == 0) {
            return;
        }
        tools.memory()
                .attach(
                        token,
                        IntStream.of(mappable).mapToLong(layout::sharedOffset).toArray(),
                        IntStream.of(mappable)
                                .mapToLong(i -> blocks.get(i).prefix())
                                .toArray());
        for (int block : mappable) {
            markShared(block);
            attachedBytes += layout.sharedBytes(block);
        }
        books().mappedBytes.add(attachedBytes);
        books().savedBytes.add(attachedBytes);
        books().attachedBytes.add(attachedBytes);
        verify(shared.length(), true);
    }

    private void markShared(int block) {
        int first = (int) (layout.sharedOffset(block) / granuleBytes);
        shared.set(first, first + (int) (layout.sharedBytes(block) / granuleBytes));
    }

    /**
     * Puts memory behind the first so many tokens, where there is none yet.
     *
     * @return whether there was room; if not, what fitted stays
     */
    boolean commit(int tokens) {
        int end = (int) layout.granules(tokens);
        while (frontier < end) {
            int start = shared.nextClearBit(frontier);
            int next = shared.nextSetBit(start);
            int stop = next < 0 ? end : Math.min(next, end);
            if (start < stop && !commit(start, stop)) {
                return false;
            }
            frontier = Math.min(end, Math.max(start, stop));
        }
        long useful = tokens * tools.bytesPerToken() - attachedBytes;
        books().usefulBytes.add(useful - usefulBytes);
        usefulBytes = useful;
        return true;
    }

    private boolean commit(int start, int stop) {
        long bytes = (stop - start) * granuleBytes;
        long missing = missing(start * granuleBytes, bytes);
        while (missing > 0) {
            if (!tools.retirement().makeRoom(missing)) {
                return false;
            }
            missing = missing(start * granuleBytes, bytes);
        }
        privateBytes += bytes;
        books().ownedBytes.add(bytes);
        books().inUseBytes.add(bytes);
        books().mappedBytes.add(bytes);
        if (tools.memory().backing().holdsBytes()) {
            for (int granule = start; granule < stop; granule++) {
                tools.data().write(token, granule * granuleBytes, layout.seed(granule));
                books().writtenGranules.increment();
            }
        }
        return true;
    }

    /** Commits a range, or says how many bytes have to be freed before it may succeed. */
    private long missing(long offset, long bytes) {
        try {
            tools.memory().commit(token, offset, bytes);
            return 0;
        } catch (BudgetExceededException e) {
            refusal = e.getMessage();
            return Math.max(1, e.askedBytes() - e.availableBytes());
        } catch (DriverFaultException e) {
            // A full device is no different from a spent budget: others may have to end first.
            if (e.kind() != DriverFaultException.Kind.OUT_OF_MEMORY) {
                throw e;
            }
            refusal = e.getMessage();
            return bytes;
        }
    }

    /** Makes a prefix of the whole granules of a block. */
    SharedBlock share(int block) {
        long bytes = layout.sharedBytes(block);
        long prefix = SharedBlock.NO_PREFIX;
        if (bytes > 0) {
            prefix = tools.memory().share(token, layout.sharedOffset(block), bytes);
            markShared(block);
            sharedOutBytes += bytes;
        }
        return new SharedBlock(request.blockIds()[block], block, request.blockTokens(block), prefix, bytes);
    }

    /** Verifies what is the request's own; shared blocks are verified when they end. */
    void verifyOwn() {
        verify(frontier, false);
    }

    private void verify(int to, boolean ofBlocks) {
        if (!tools.memory().backing().holdsBytes()) {
            return;
        }
        for (int granule = 0; granule < to; granule++) {
            if (shared.get(granule) == ofBlocks) {
                var owner = ofBlocks ? blockAt(granule) : "request " + request.index();
                faulty |= !tools.verify(token, granule * granuleBytes, layout.seed(granule), owner);
            }
        }
    }

    private String blockAt(int granule) {
        long block = granule * granuleBytes / (Request.BLOCK_TOKENS * tools.bytesPerToken());
        return "block " + request.blockIds()[(int) block] + " (attached by request " + request.index() + ")";
    }

    /** Gives back everything; what it has shared stays, for others. */
    void release() {
        books().ownedBytes.add(sharedOutBytes - privateBytes);
        books().inUseBytes.add(sharedOutBytes - privateBytes);
        books().usefulBytes.add(sharedOutBytes - usefulBytes);
        books().mappedBytes.add(-privateBytes - attachedBytes);
        books().savedBytes.add(-attachedBytes);
        try {
            switch (tools.memory().release(token)) {
                case ReleaseOutcome.Complete done -> {}
                case ReleaseOutcome.Failed failed -> notReleased(failed.cause());
                case ReleaseOutcome.Quarantined left -> notReleased(left.cause());
            }
        } catch (MemoryException e) {
            notReleased(e);
        }
    }

    private void notReleased(MemoryException cause) {
        faulty = true;
        books().problems.add("request " + request.index() + " was not released: " + cause.getMessage());
    }

    private Books books() {
        return tools.books();
    }
}
