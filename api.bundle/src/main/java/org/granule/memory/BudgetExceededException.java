package org.granule.memory;

import java.io.Serial;

/**
 * A charge would pass a limit. Nothing was charged. The figures are exact at the moment of the refusal.
 */
public class BudgetExceededException extends MemoryException {

    @Serial
    private static final long serialVersionUID = 1L;

    private final String account;
    private final String limitedBy;
    private final long askedBytes;
    private final long usedBytes;
    private final long limitBytes;

    /**
     * Makes an exception.
     *
     * @param account path of the account that asked
     * @param limitedBy path of the account whose limit stands in the way, the same or one above
     * @param askedBytes what was asked for
     * @param usedBytes what {@code limitedBy} holds
     * @param limitBytes its limit
     * @param message the whole message
     */
    public BudgetExceededException(
            String account, String limitedBy, long askedBytes, long usedBytes, long limitBytes, String message) {
        super(ErrorCode.BUDGET_EXCEEDED, message);
        this.account = account;
        this.limitedBy = limitedBy;
        this.askedBytes = askedBytes;
        this.usedBytes = usedBytes;
        this.limitBytes = limitBytes;
    }

    /**
     * Returns who asked.
     *
     * @return an account path
     */
    public String account() {
        return account;
    }

    /**
     * Returns whose limit stands in the way.
     *
     * @return an account path
     */
    public String limitedBy() {
        return limitedBy;
    }

    /**
     * Returns what was asked for.
     *
     * @return bytes
     */
    public long askedBytes() {
        return askedBytes;
    }

    /**
     * Returns what the limiting account holds.
     *
     * @return owned bytes
     */
    public long usedBytes() {
        return usedBytes;
    }

    /**
     * Returns the limit that stands in the way.
     *
     * @return bytes
     */
    public long limitBytes() {
        return limitBytes;
    }

    /**
     * Returns what could have been charged.
     *
     * @return bytes, 0 when the account is at or above its limit
     */
    public long availableBytes() {
        return Math.max(0, limitBytes - usedBytes);
    }
}
