package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.memory.ClosedException;
import org.granule.memory.Extents;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.Ranges;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Tokens and prefixes where they do not belong. */
class ForeignTokenTest extends StageTest {

    private static final long GRANULE = 4096;

    /** Every operation that takes a token, and one that takes a prefix. */
    private static Map<String, ThrowingCallable> operations(MemorySession session, long token, long prefix) {
        var buffer = Arena.ofAuto().allocate(64);
        var all = new LinkedHashMap<String, ThrowingCallable>();
        all.put("release", () -> session.release(token));
        all.put("releaseAfter", () -> session.releaseAfter(token, () -> true));
        all.put("usedUntil", () -> session.usedUntil(token, 0, GRANULE, () -> false));
        all.put("commit", () -> session.commit(token, 0, GRANULE));
        all.put("decommit", () -> session.decommit(token, 0, GRANULE));
        all.put("committedBytes", () -> session.committedBytes(token));
        all.put("share", () -> session.share(token, 0, GRANULE));
        all.put("price", () -> session.price(prefix));
        all.put("attach", () -> session.attach(token, 0, prefix));
        all.put("attach several", () -> session.attach(token, new long[] {0}, new long[] {prefix}));
        all.put("detach", () -> session.detach(token, 0, prefix));
        all.put("retire", () -> session.retire(prefix));
        all.put("privatise", () -> session.privatise(token, 0, GRANULE));
        all.put("address", () -> session.address(token));
        all.put("bytes", () -> session.bytes(token));
        all.put("fill", () -> session.fill(token, 0, 64, (byte) 1));
        all.put("copy", () -> session.copy(token, 0, token, 64, 64));
        all.put("copyIn", () -> session.copyIn(token, 0, buffer));
        all.put("copyOut", () -> session.copyOut(buffer, token, 0));
        return all;
    }

    private static long reservation(MemorySession session) {
        return session.reserve(4 * GRANULE, GRANULE, Ranges.of(0, 2 * GRANULE), Extents.PIECES);
    }

    @Test
    @DisplayName("F05 tokens and prefixes of another provider are refused; neither allocator is called")
    void anotherProvider() {
        var recipe = TestBundle.engine(stage.device);
        stage.deploy(recipe);
        var one = stage.provider("f05-one");
        var two = stage.provider("f05-two");
        one.await("BOUND");
        two.await("BOUND");
        try (var session = one.open("kv");
                var stranger = two.open("kv")) {
            long token = reservation(session);
            long prefix = session.share(token, 0, GRANULE);
            long own = stranger.reserve(4 * GRANULE, GRANULE, Ranges.none(), Extents.PIECES);
            var calls = recipe.probe().calls();

            operations(stranger, token, prefix).forEach((name, operation) -> assertThatThrownBy(operation)
                    .as(name)
                    .isInstanceOfAny(ForeignTokenException.class, StaleTokenException.class));
            assertThatThrownBy(() -> stranger.attach(own, 0, prefix)).isInstanceOf(ForeignTokenException.class);

            assertThat(recipe.probe().calls()).isEqualTo(calls);
            assertThat(session.committedBytes(token)).isEqualTo(2 * GRANULE);
        }
    }

    @Test
    @DisplayName("F05 tokens of another session of one provider are refused, prefixes are for all of its sessions")
    void anotherSession() {
        var recipe = TestBundle.engine(stage.device);
        stage.deploy(recipe);
        var provider = stage.provider("f05-sessions");
        provider.await("BOUND");
        try (var session = provider.open("kv");
                var stranger = provider.open("weights")) {
            long token = reservation(session);
            long prefix = session.share(token, 0, GRANULE);
            long own = stranger.reserve(4 * GRANULE, GRANULE, Ranges.none(), Extents.PIECES);
            var calls = recipe.probe().calls();

            operations(stranger, token, prefix).forEach((name, operation) -> {
                if (!"price".equals(name)) {
                    assertThatThrownBy(operation).as(name).isInstanceOf(ForeignTokenException.class);
                }
            });
            assertThat(recipe.probe().calls()).isEqualTo(calls);

            stranger.attach(own, 0, prefix);
            assertThat(stranger.committedBytes(own)).isEqualTo(GRANULE);
        }
    }

    @Test
    @DisplayName("F05 after the end of its generation every operation of a session is refused; nothing is called")
    void endedGeneration() {
        var recipe = TestBundle.engine(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f05-ended");
        provider.await("BOUND");
        var session = provider.open("kv");
        long token = reservation(session);
        long prefix = session.share(token, 0, GRANULE);
        Stage.stop(bundle);
        Stage.start(bundle);
        provider.await("BOUND", 2);
        var calls = recipe.probe().calls();

        operations(session, token, prefix).forEach((name, operation) -> assertThatThrownBy(operation)
                .as(name)
                .isInstanceOfAny(StaleTokenException.class, ClosedException.class));
        assertThatThrownBy(() -> session.allocate(64, 64)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> session.synchronise()).isInstanceOf(ClosedException.class);
        assertThatThrownBy(session::granuleBytes).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> session.estimate(Ranges.of(0, 1))).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> reservation(session)).isInstanceOf(ClosedException.class);

        try (var next = provider.open("kv")) {
            long own = next.reserve(4 * GRANULE, GRANULE, Ranges.none(), Extents.PIECES);
            assertThatThrownBy(() -> next.attach(own, 0, prefix))
                    .isInstanceOfAny(ForeignTokenException.class, StaleTokenException.class);
            assertThatThrownBy(() -> next.release(token))
                    .isInstanceOfAny(ForeignTokenException.class, StaleTokenException.class);
            assertThat(own).isNotEqualTo(token);
        }
        var made = new LinkedHashMap<>(recipe.probe().calls());
        // The last reservation and its release are the only calls since.
        assertThat(made.get("reserve")).isEqualTo(calls.get("reserve") + 1);
        assertThat(made.get("release")).isEqualTo(calls.get("release") + 1);
        assertThat(made.get("map")).isEqualTo(calls.get("map"));
        assertThat(made.get("retire")).isEqualTo(calls.get("retire"));
        session.close();
    }
}
