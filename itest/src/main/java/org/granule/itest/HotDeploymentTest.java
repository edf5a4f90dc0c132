package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.granule.governor.AllocationDTO;
import org.granule.itest.probe.Probe;
import org.granule.memory.ClosedException;
import org.granule.memory.Extents;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.wiring.BundleWiring;

/** The bundle of an allocator goes while its memory is in use. */
class HotDeploymentTest extends StageTest {

    private static final long GRANULE = 4096;

    /** How the bundle of the allocator goes, and how it comes back. */
    enum Way {
        STOPPED {
            @Override
            void go(Stage stage, Bundle bundle, TestBundle next) {
                Stage.stop(bundle);
            }

            @Override
            void comeBack(Stage stage, Bundle bundle, TestBundle next) {
                Stage.start(bundle);
            }
        },
        UPDATED {
            @Override
            void go(Stage stage, Bundle bundle, TestBundle next) {
                stage.update(bundle, next);
            }
        },
        REFRESHED {
            @Override
            void go(Stage stage, Bundle bundle, TestBundle next) {
                stage.refresh(bundle);
            }
        },
        UPDATED_AND_REFRESHED {
            @Override
            void go(Stage stage, Bundle bundle, TestBundle next) {
                stage.update(bundle, next);
                stage.refresh(bundle);
            }
        },
        UNINSTALLED {
            @Override
            void go(Stage stage, Bundle bundle, TestBundle next) {
                Stage.uninstall(bundle);
            }

            @Override
            void comeBack(Stage stage, Bundle bundle, TestBundle next) {
                stage.deploy(next);
            }
        };

        abstract void go(Stage stage, Bundle bundle, TestBundle next);

        /** Needed where it does not come back by itself. */
        void comeBack(Stage stage, Bundle bundle, TestBundle next) {}
    }

    /** Memory of every kind, in two sessions of one provider. */
    private static final class Use {
        final MemorySession session;
        final MemorySession sharer;
        final long block;
        final long reservation;
        final long prefix;
        final long attached;
        CompletableFuture<ReleaseOutcome> pending;
        final AtomicBoolean fence = new AtomicBoolean();

        Use(TestProvider provider) {
            session = provider.open("kv");
            sharer = provider.open("prefixes");
            block = session.allocate(10_000, 64);
            session.fill(block, 0, 10_000, (byte) 7);
            reservation = session.reserve(
                    64 * GRANULE, GRANULE, Ranges.of(0, 3 * GRANULE).and(10 * GRANULE, 1), Extents.PIECES);
            session.fill(reservation, 0, 3 * GRANULE, (byte) 8);
            prefix = session.share(reservation, 0, 2 * GRANULE);
            attached = sharer.reserve(8 * GRANULE, GRANULE, Ranges.none(), Extents.PIECES);
            sharer.attach(attached, 0, prefix);
            long queued = session.allocate(2 * GRANULE, 64);
            pending = session.releaseAfter(queued, fence::get).toCompletableFuture();
        }

        void requireStale() {
            assertThatThrownBy(() -> session.release(block)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> session.fill(block, 0, 1, (byte) 0)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> session.commit(reservation, 0, 1)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> session.retire(prefix)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> sharer.detach(attached, 0, prefix)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> sharer.address(attached)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Way.class)
    @DisplayName("F06 live, queued and shared memory is released while the old code works; a new generation binds")
    void everythingIsReleased(Way way) throws Exception {
        var recipe = TestBundle.engine(stage.device);
        var next = TestBundle.engine(stage.device).version("2.0.0");
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f06").set("drainMillis", 10_000L);
        stage.awaitConfiguration();
        provider.await("BOUND", 1);
        var use = new Use(provider);
        assertThat(provider.describe().liveAllocations).isEqualTo(5);
        assertThat(provider.describe().pendingReleases).isEqualTo(1);
        // The device passes the fence while the provider waits for it.
        var device = Thread.startVirtualThread(() -> {
            provider.await("DRAINING");
            use.fence.set(true);
        });

        way.go(stage, bundle, next);

        device.join();
        assertThat(use.pending.get()).isInstanceOf(Complete.class);
        assertThat(recipe.probe().late()).isEmpty();
        assertThat(recipe.probe().leftover()).isEqualTo("nothing");
        use.requireStale();
        way.comeBack(stage, bundle, next);
        provider.awaitNext(1);
        stage.requireSettled();
        try (var session = provider.open("kv")) {
            long block = session.allocate(10_000, 64);
            session.fill(block, 0, 10_000, (byte) 9);
            assertThat(session.release(block)).isInstanceOf(Complete.class);
        }
        use.requireStale();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Way.class)
    @DisplayName("F06 memory whose fence is not passed in time is quarantined, the rest is released")
    void neverPassedIsQuarantined(Way way) throws Exception {
        var recipe = TestBundle.engine(stage.device);
        var next = TestBundle.engine(stage.device).version("2.0.0");
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f06-fence").set("drainMillis", 50L);
        stage.awaitConfiguration();
        provider.await("BOUND", 1);
        var use = new Use(provider);
        stage.expectQuarantine(2 * GRANULE);

        way.go(stage, bundle, next);

        assertThat(use.pending.get()).isInstanceOfSatisfying(Quarantined.class, left -> {
            assertThat(left.ownedBytes()).isEqualTo(2 * GRANULE);
            assertThat(left.unmappedBytes()).isZero();
        });
        assertThat(recipe.probe().late()).isEmpty();
        assertThat(recipe.probe().leftover()).isEqualTo(2 * GRANULE + " bytes");
        use.requireStale();
        way.comeBack(stage, bundle, next);
        var bound = provider.awaitNext(1);
        assertThat(bound.health).isEqualTo("DEGRADED");
        assertThat(String.join(" ", bound.healthReasons)).contains("quarantine", "8192");
        stage.requireSettled();
        assertThat(stage.allocations()).singleElement().satisfies(left -> {
            assertThat(left.state).isEqualTo(AllocationDTO.QUARANTINED);
            assertThat(left.generation).isEqualTo(1);
            assertThat(left.ownedBytes).isEqualTo(2 * GRANULE);
            assertThat(left.reason).contains("fence");
            assertThatThrownBy(() -> stage.registry().settle(left.token)).isInstanceOf(NotSupportedException.class);
        });
        // The fence is passed too late: nobody may touch the memory any more.
        use.fence.set(true);
        try (var session = provider.open("kv")) {
            assertThat(session.release(session.allocate(64, 64))).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("F06 an activator that leaves unregistering to the framework: memory is released before it is stopped")
    void unregisteredByTheFramework() {
        var recipe = TestBundle.engine(stage.device).leavingUnregisteringToTheFramework();
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f06-framework");
        provider.await("BOUND");
        var use = new Use(provider);
        use.fence.set(true);

        Stage.stop(bundle);

        assertThat(provider.await("WAITING").generation).isEqualTo(1);
        assertThat(recipe.probe().late()).isEmpty();
        use.requireStale();
        // What the engine keeps for the next allocation was given back as well.
        stage.requireSettled();
    }

    @Test
    @DisplayName("F06 users see the provider's service go before its memory goes")
    void serviceGoesFirst() throws Exception {
        var bundle = stage.deploy(TestBundle.eager(stage.device));
        var provider = stage.provider("f06-order");
        provider.await("BOUND");
        var session = provider.open("kv");
        long block = session.allocate(64, 64);
        var seen = new AtomicReference<Object>();
        ServiceListener user = event -> {
            if (event.getType() == ServiceEvent.UNREGISTERING) {
                seen.set(session.release(block));
            }
        };
        stage.context.addServiceListener(
                user,
                "(&(objectClass=" + ExecutionProvider.class.getName() + ")(granule.provider=" + provider.name + "))");

        Stage.stop(bundle);

        stage.context.removeServiceListener(user);
        assertThat(seen.get()).isInstanceOf(Complete.class);
    }

    @Test
    @DisplayName("F06 threads that work while the bundle is updated ten times see typed errors; nothing is left over")
    void underLoad() throws Exception {
        var recipe = TestBundle.engine(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f06-load");
        provider.await("BOUND");
        var stop = new AtomicBoolean();
        var wrong = new AtomicReference<Throwable>();
        var rounds = new AtomicLong();
        var threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                while (!stop.get()) {
                    try {
                        work(provider);
                        rounds.incrementAndGet();
                    } catch (ClosedException | StaleTokenException e) {
                        // The generation has ended: try the next one.
                        Thread.yield();
                    } catch (RuntimeException | Error e) {
                        wrong.set(e);
                    }
                }
            });
        }
        try {
            for (int update = 1; update <= 10; update++) {
                long before = rounds.get();
                Await.await("work in generation " + update, () -> rounds.get() > before + 3 || wrong.get() != null);
                var next = TestBundle.engine(stage.device).version("1.0." + update);
                stage.update(bundle, next);
                assertThat(recipe.probe().late()).isEmpty();
                assertThat(recipe.probe().leftover()).isEqualTo("nothing");
                recipe = next;
                provider.await("BOUND", update + 1);
            }
        } finally {
            stop.set(true);
            for (var thread : threads) {
                thread.join();
            }
        }
        assertThat(wrong.get()).isNull();
    }

    private static void work(TestProvider provider) {
        try (var session = provider.open("kv")) {
            long block = session.allocate(3000, 64);
            long reservation = session.reserve(8 * GRANULE, GRANULE, Ranges.of(0, GRANULE), Extents.PIECES);
            session.fill(block, 0, 3000, (byte) 1);
            session.commit(reservation, 2 * GRANULE, GRANULE);
            session.copy(reservation, 0, block, 0, 3000);
            session.releaseAfter(block, () -> true);
            session.decommit(reservation, 0, GRANULE);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(
            value = Way.class,
            names = {"UPDATED_AND_REFRESHED", "UNINSTALLED"})
    @DisplayName("F06 the class loader of the old bundle is collected, also while users keep their sessions")
    void loaderIsCollected(Way way) {
        var bundle = stage.deploy(TestBundle.engine(stage.device));
        var provider = stage.provider("f06-loader");
        provider.await("BOUND");
        var use = new Use(provider);
        use.fence.set(true);
        var loader = loaderOf(bundle);

        way.go(stage, bundle, TestBundle.engine(stage.device).version("2.0.0"));
        if (way == Way.UNINSTALLED) {
            stage.refresh(bundle);
        }

        stage.awaitCollected("the old class loader", loader);
        use.requireStale();
    }

    @Test
    @DisplayName("F06 the class loader of a bundle that left memory in quarantine is collected")
    void loaderIsCollectedDespiteQuarantine() {
        var bundle = stage.deploy(TestBundle.engine(stage.device));
        var provider = stage.provider("f06-loader-left").set("drainMillis", 0L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var use = new Use(provider);
        stage.expectQuarantine(2 * GRANULE);
        var loader = loaderOf(bundle);

        Stage.uninstall(bundle);
        stage.refresh(bundle);

        // The outcome has an error, and the stack trace of an error keeps the classes that are on it.
        assertThat(use.pending.join()).isInstanceOf(Quarantined.class);
        use.pending = null;
        stage.awaitCollected("the old class loader", loader);
        use.requireStale();
    }

    @Test
    @DisplayName("F06 the class loader of an allocator that was refused, or broke its contract, is collected")
    void loaderOfAWrongOneIsCollected() {
        var recipe = TestBundle.eager(stage.device);
        recipe.probe().answer("commitsOnDemand", Probe.NULL);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f06-loader-wrong");
        provider.await("FAILED");
        Stage.stop(bundle);
        provider.await("WAITING");
        recipe.probe().reset();
        Stage.start(bundle);
        provider.await("BOUND");
        recipe.probe().before(method -> {
            if ("allocate".equals(method)) {
                throw new IllegalStateException("not today");
            }
        });
        var session = provider.open("kv");
        assertThatThrownBy(() -> session.allocate(64, 64)).hasMessageContaining("not today");
        var loader = loaderOf(bundle);

        Stage.uninstall(bundle);
        stage.refresh(bundle);

        stage.awaitCollected("the old class loader", loader);
    }

    private static WeakReference<ClassLoader> loaderOf(Bundle bundle) {
        return new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader());
    }

    @Test
    @DisplayName("F06 the platform's own allocators are stopped and started with live memory")
    void hostBundle() {
        var host = stage.bundle("org.granule.host");
        var vmm = stage.provider(hostProvider("f06-host-vmm", "(granule.mechanism=host-vmm)"));
        var eager = stage.provider(hostProvider("f06-host-eager", "(granule.mechanism=host-eager)"));
        vmm.await("BOUND", 1);
        eager.await("BOUND", 1);
        var one = vmm.open("kv");
        var two = eager.open("kv");
        long reservation = one.reserve(1L << 30, 4096, Ranges.of(0, 3L << 20), Extents.PIECES);
        one.fill(reservation, 0, 3L << 20, (byte) 1);
        long prefix = one.share(reservation, 0, one.granuleBytes());
        long sharer = one.reserve(1L << 30, 4096, Ranges.none(), Extents.PIECES);
        one.attach(sharer, 0, prefix);
        long block = two.allocate(1 << 20, 64);
        two.fill(block, 0, 1 << 20, (byte) 2);

        try {
            Stage.stop(host);
            vmm.await("WAITING");
            eager.await("WAITING");
            for (var tenant : new String[] {"tenant-f06-host-vmm", "tenant-f06-host-eager", "idle"}) {
                var account = stage.ledger("host:0/" + tenant);
                assertThat(account.ownedBytes).as("owned by %s", tenant).isZero();
                assertThat(account.mappedBytes).as("mapped by %s", tenant).isZero();
                assertThat(account.reservedBytes).as("reserved by %s", tenant).isZero();
            }
            assertThatThrownBy(() -> one.release(reservation)).isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> two.release(block)).isInstanceOf(StaleTokenException.class);
        } finally {
            Stage.start(host);
        }

        vmm.await("BOUND", 2);
        eager.await("BOUND", 2);
        try (var session = vmm.open("kv")) {
            long again = session.allocate(1 << 20, 64);
            session.fill(again, 0, 1 << 20, (byte) 3);
            assertThat(session.release(again)).isInstanceOf(Complete.class);
        }
    }

    private static Map<String, Object> hostProvider(String name, String filter) {
        var properties = TestProvider.properties(name, "host:0");
        properties.put("allocator", filter);
        return properties;
    }
}
