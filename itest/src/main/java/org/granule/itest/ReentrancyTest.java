package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.granule.memory.ClosedException;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** An allocator that calls back into the platform from within each of its methods. */
class ReentrancyTest extends StageTest {

    private static final long GRANULE = 4096;
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final Set<String> reentered = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private final AtomicBoolean busy = new AtomicBoolean();

    /** Calls the platform from the allocator's thread, then from another one that the allocator waits for. */
    private Consumer<String> reenter(TestProvider provider) {
        return method -> {
            if (!busy.compareAndSet(false, true)) {
                return;
            }
            try {
                call(provider);
                var other = Thread.ofPlatform().start(() -> {
                    try {
                        call(provider);
                    } catch (RuntimeException | Error e) {
                        wrong.set(e);
                    }
                });
                if (!other.join(PATIENCE)) {
                    var stuck = new AssertionError("a call from within " + method + " does not return");
                    stuck.setStackTrace(other.getStackTrace());
                    wrong.set(stuck);
                }
                reentered.add(method);
            } catch (InterruptedException | RuntimeException | Error e) {
                wrong.set(e);
            } finally {
                busy.set(false);
            }
        };
    }

    private void call(TestProvider provider) {
        var governor = stage.governor();
        var registry = stage.registry();
        governor.ledger();
        governor.claim(governor.account(stage.device, "reentrant", "lease"), 100)
                .close();
        governor.limit(stage.device + "/reentrant", 1 << 20);
        governor.explain(stage.device.toString());
        registry.allocators();
        registry.bindings();
        registry.allocations();
        registry.trim(stage.device, 1);
        provider.describe();
        var service = provider.service();
        if (service != null) {
            try (var session = provider.open("reentrant")) {
                assertThat(session.release(session.allocate(GRANULE, 64))).isInstanceOf(Complete.class);
            } catch (ClosedException | StaleTokenException e) {
                // It ends just now.
            }
        }
    }

    private void useEverything(MemorySession session) {
        var buffer = Arena.ofAuto().allocate(64);
        long block = session.allocate(GRANULE, 64);
        session.fill(block, 0, 128, (byte) 1);
        session.copy(block, 0, block, 64, 64);
        session.copyIn(block, 0, buffer);
        session.copyOut(buffer, block, 0);
        session.synchronise();
        long reservation = session.reserve(16 * GRANULE, GRANULE, Ranges.of(0, GRANULE), Extents.PIECES);
        session.commit(reservation, 0, 3 * GRANULE);
        session.decommit(reservation, 2 * GRANULE, GRANULE);
        session.committedBytes(reservation);
        session.estimate(Ranges.of(0, GRANULE));
        session.granuleBytes();
        long prefix = session.share(reservation, 0, GRANULE);
        session.price(prefix);
        long attached = session.reserve(4 * GRANULE, GRANULE, Ranges.none(), Extents.PIECES);
        session.attach(attached, 0, prefix);
        session.attach(attached, GRANULE, prefix);
        session.detach(attached, 0, prefix);
        session.privatise(attached, GRANULE, GRANULE);
        session.retire(prefix);
        session.releaseAfter(block, () -> true);
        session.release(reservation);
        session.release(attached);
        stage.bindings();
        stage.registry().trim(stage.device, Long.MAX_VALUE);
    }

    @Test
    @DisplayName("F08 an allocator calls the registry, the governor and the provider from each method: no deadlock")
    void everyMethod() {
        var recipe = TestBundle.engine(stage.device);
        var provider = stage.provider("f08");
        provider.await("WAITING");
        recipe.probe().before(reenter(provider));
        var bundle = stage.deploy(recipe);
        provider.await("BOUND");

        try (var session = provider.open("kv")) {
            useEverything(session);
        }
        assertThat(wrong.get()).isNull();
        assertThat(reentered)
                .contains(
                        "getService",
                        "device",
                        "commitsOnDemand",
                        "virtualBacking",
                        "sharedMapping",
                        "transfer",
                        "inspection",
                        "allocate",
                        "release",
                        "trim",
                        "granuleBytes",
                        "reserve",
                        "commit",
                        "decommit",
                        "committedBytes",
                        "estimate",
                        "access",
                        "driverCalls",
                        "share",
                        "price",
                        "map",
                        "unmap",
                        "retire",
                        "privatise",
                        "fill",
                        "copy",
                        "copyIn",
                        "copyOut",
                        "synchronise");

        // And while its generation ends.
        var open = provider.open("kv");
        open.allocate(GRANULE, 64);
        open.reserve(4 * GRANULE, GRANULE, Ranges.of(0, GRANULE), Extents.PIECES);
        reentered.clear();
        Stage.stop(bundle);

        assertThat(wrong.get()).isNull();
        assertThat(reentered).contains("release");
        assertThat(provider.await("WAITING").generation).isEqualTo(1);
        assertThat(recipe.probe().leftover()).isEqualTo("nothing");
        stage.governor().limit(stage.device + "/reentrant", Long.MAX_VALUE);
    }

    @Test
    @DisplayName("F08 a fence that calls the platform holds nobody back")
    void fence() {
        stage.deploy(TestBundle.engine(stage.device));
        var provider = stage.provider("f08-fence");
        provider.await("BOUND");
        var step = reenter(provider);
        var passed = new AtomicBoolean();
        try (var session = provider.open("kv")) {
            var outcome = session.releaseAfter(session.allocate(GRANULE, 64), () -> {
                        step.accept("fence");
                        return passed.get();
                    })
                    .toCompletableFuture();
            Await.await("a call from the fence", () -> reentered.contains("fence") || wrong.get() != null);
            assertThat(wrong.get()).isNull();
            passed.set(true);
            assertThat(outcome.join()).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("F08 what follows a release runs platform calls and holds nobody back")
    void continuation() {
        stage.deploy(TestBundle.engine(stage.device));
        var provider = stage.provider("f08-stage");
        provider.await("BOUND");
        try (var session = provider.open("kv")) {
            var passed = new AtomicBoolean();
            var followed = session.releaseAfter(session.allocate(GRANULE, 64), passed::get)
                    .thenApply(outcome -> {
                        call(provider);
                        return session.release(session.allocate(GRANULE, 64));
                    })
                    .toCompletableFuture();
            passed.set(true);
            assertThat(followed.join()).isInstanceOf(Complete.class);
        }
    }
}
