package org.granule.shell;

import org.granule.memory.ByteSize;

/**
 * An allocation made by hand.
 *
 * @param token its token
 * @param account the account that is charged
 * @param bytes the length that was asked for
 * @param committedBytes the memory behind it
 * @param address where it is, 0 when it has no address
 */
public record HandAllocation(long token, String account, long bytes, long committedBytes, long address)
        implements Answer {

    @Override
    public String text() {
        return "token " + token + ": " + ByteSize.format(bytes)
                + (committedBytes == bytes ? "" : ", " + ByteSize.format(committedBytes) + " of it committed")
                + (address == 0 ? "" : " at 0x" + Long.toHexString(address)) + ", charged to " + account
                + "\nrelease it with: granule:release " + token;
    }

    @Override
    public String id() {
        return Long.toString(token);
    }

    /** Returns the token, so that {@code release $x} works on what {@code allocate} returned. */
    @Override
    public String toString() {
        return id();
    }
}
