package org.granule.shell;

import org.granule.memory.ByteSize;

/**
 * The limit of an account.
 *
 * @param path the account
 * @param limitBytes its limit, {@link Long#MAX_VALUE} for none
 * @param ownedBytes what it holds
 * @param made whether setting the limit made the account
 */
public record Limit(String path, long limitBytes, long ownedBytes, boolean made) implements Answer {

    @Override
    public String text() {
        // An account that appears out of a typing error must not look like one whose limit was set.
        return path + (made ? " (new account)" : "") + ": limit " + ByteSize.format(limitBytes) + ", owned "
                + ByteSize.format(ownedBytes) + rest();
    }

    private String rest() {
        if (limitBytes == Long.MAX_VALUE) {
            return "";
        }
        return ownedBytes > limitBytes
                ? ", " + ByteSize.format(ownedBytes - limitBytes)
                        + " above the limit: nothing is taken away, new claims are refused"
                : ", " + ByteSize.format(limitBytes - ownedBytes) + " left";
    }

    @Override
    public String id() {
        return path;
    }
}
