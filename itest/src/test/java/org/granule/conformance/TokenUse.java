package org.granule.conformance;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.granule.provider.MemorySession;

/**
 * A way to use a token.
 *
 * @param name of the operation
 * @param action does it
 */
record TokenUse(String name, Action action) {

    /** Uses a token in a session. */
    @FunctionalInterface
    interface Action {
        void use(MemorySession session, long token);
    }

    /**
     * Returns every operation that takes a token, for each place where it takes one.
     *
     * @param live a token that may be used, of at least a byte
     */
    static List<TokenUse> all(long live) {
        return List.of(
                new TokenUse("release", MemorySession::release),
                new TokenUse("releaseAfter", (session, token) -> session.releaseAfter(token, () -> true)),
                new TokenUse("usedUntil", (session, token) -> session.usedUntil(token, 0, 1, () -> false)),
                new TokenUse("commit", (session, token) -> session.commit(token, 0, 1)),
                new TokenUse("decommit", (session, token) -> session.decommit(token, 0, 1)),
                new TokenUse("committedBytes", MemorySession::committedBytes),
                new TokenUse("share", (session, token) -> session.share(token, 0, 1)),
                new TokenUse("price", MemorySession::price),
                new TokenUse("attach to", (session, token) -> session.attach(token, 0, live)),
                new TokenUse(
                        "attach several to",
                        (session, token) -> session.attach(token, new long[] {0}, new long[] {live})),
                new TokenUse("attach", (session, token) -> session.attach(live, 0, token)),
                new TokenUse(
                        "attach several", (session, token) -> session.attach(live, new long[] {0}, new long[] {token})),
                new TokenUse("detach", (session, token) -> session.detach(live, 0, token)),
                new TokenUse("retire", MemorySession::retire),
                new TokenUse("privatise", (session, token) -> session.privatise(token, 0, 1)),
                new TokenUse("address", MemorySession::address),
                new TokenUse("bytes", MemorySession::bytes),
                new TokenUse("fill", (session, token) -> session.fill(token, 0, 1, (byte) 1)),
                new TokenUse("copy to", (session, token) -> session.copy(token, 0, live, 0, 1)),
                new TokenUse("copy from", (session, token) -> session.copy(live, 0, token, 0, 1)),
                new TokenUse(
                        "copyIn", (session, token) -> session.copyIn(token, 0, MemorySegment.ofArray(new byte[1]))),
                new TokenUse(
                        "copyOut", (session, token) -> session.copyOut(MemorySegment.ofArray(new byte[1]), token, 0)));
    }

    @Override
    public String toString() {
        return name;
    }
}
