package org.granule.bench;

import java.util.Arrays;
import org.granule.memory.Account;

/**
 * The books of a paged key-value cache: sequences of tokens, kept in pages of one pool, each page charged while a
 * sequence has it. For one thread, as each worker of a server has its own; the account may be shared.
 */
final class PagedCache {

    private static final int FIRST_PAGES = 8;

    private final Account account;
    private final long pageBytes;
    private final int pageTokens;

    private final int[] freePages;
    private int freeCount;

    /** For each sequence its pages in order, and how many tokens it has; -1 for one that is not there. */
    private final int[][] pages;

    private final int[] tokens;
    private final int[] freeSequences;
    private int freeSequenceCount;

    /**
     * Makes an empty cache.
     *
     * @param account charged for pages
     * @param pageCount pages in the pool
     * @param pageTokens tokens in a page
     * @param pageBytes what a page costs
     * @param maxSequences how many there may be at once
     */
    PagedCache(Account account, int pageCount, int pageTokens, long pageBytes, int maxSequences) {
        this.account = account;
        this.pageTokens = pageTokens;
        this.pageBytes = pageBytes;
        freePages = descending(pageCount);
        freeCount = pageCount;
        pages = new int[maxSequences][FIRST_PAGES];
        tokens = new int[maxSequences];
        Arrays.fill(tokens, -1);
        freeSequences = descending(maxSequences);
        freeSequenceCount = maxSequences;
    }

    private static int[] descending(int count) {
        int[] numbers = new int[count];
        Arrays.setAll(numbers, i -> count - 1 - i);
        return numbers;
    }

    /** Starts a sequence. */
    int create() {
        if (freeSequenceCount == 0) {
            throw new IllegalStateException("all " + tokens.length + " sequences are in use");
        }
        int sequence = freeSequences[--freeSequenceCount];
        tokens[sequence] = 0;
        return sequence;
    }

    /** Appends one token; returns its place in the pool. */
    int append(int sequence) {
        int position = length(sequence);
        int slot = position % pageTokens;
        if (slot == 0) {
            takePages(sequence, position / pageTokens, 1);
        }
        tokens[sequence] = position + 1;
        return pages[sequence][position / pageTokens] * pageTokens + slot;
    }

    /** Appends many tokens at once. */
    void append(int sequence, int count) {
        int position = length(sequence);
        int present = pagesFor(position);
        int missing = pagesFor(position + count) - present;
        if (missing > 0) {
            takePages(sequence, present, missing);
        }
        tokens[sequence] = position + count;
    }

    /** The place of a token in the pool. */
    int place(int sequence, int position) {
        if (position < 0 || position >= length(sequence)) {
            throw new IllegalArgumentException("token " + position + " of " + length(sequence));
        }
        return pages[sequence][position / pageTokens] * pageTokens + position % pageTokens;
    }

    /** Ends a sequence and gives its pages back. */
    void remove(int sequence) {
        int count = pagesFor(length(sequence));
        System.arraycopy(pages[sequence], 0, freePages, freeCount, count);
        freeCount += count;
        tokens[sequence] = -1;
        freeSequences[freeSequenceCount++] = sequence;
        account.refund(count * pageBytes, count * pageBytes);
    }

    private void takePages(int sequence, int present, int missing) {
        if (missing > freeCount) {
            throw new IllegalStateException(missing + " pages are needed, " + freeCount + " are free");
        }
        account.charge(missing * pageBytes, missing * pageBytes);
        if (present + missing > pages[sequence].length) {
            pages[sequence] = Arrays.copyOf(pages[sequence], Math.max(2 * present, present + missing));
        }
        freeCount -= missing;
        System.arraycopy(freePages, freeCount, pages[sequence], present, missing);
    }

    private int length(int sequence) {
        int length = tokens[sequence];
        if (length < 0) {
            throw new IllegalArgumentException("there is no sequence " + sequence);
        }
        return length;
    }

    private int pagesFor(int count) {
        return (count + pageTokens - 1) / pageTokens;
    }
}
