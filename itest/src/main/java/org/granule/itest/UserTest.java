package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.granule.governor.AllocationDTO;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.ForeignTokenException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.osgi.framework.ServiceRegistration;

/** What bundles that use a provider have, see and leave behind. */
class UserTest extends StageTest {

    private TestBundle recipe;

    private TestProvider serving(String name) {
        recipe = TestBundle.eager(stage.device);
        stage.deploy(recipe);
        var provider = stage.provider(name);
        provider.await("BOUND");
        return provider;
    }

    @Test
    @DisplayName("F03 the services of a provider say by their properties who they are and what they have bound")
    void properties() {
        var provider = serving("f03-properties");

        var service = provider.service();
        assertThat(service.getProperty(ExecutionProvider.NAME_PROPERTY)).isEqualTo(provider.name);
        assertThat(service.getProperty(ExecutionProvider.GENERATION_PROPERTY)).isEqualTo(1L);
        assertThat(service.getProperty(ExecutionProvider.TENANT_PROPERTY)).isEqualTo("tenant-" + provider.name);
        assertThat(service.getProperty(DeviceAllocator.DEVICE_PROPERTY)).isEqualTo(stage.device.toString());
        assertThat(service.getProperty(DeviceAllocator.MECHANISM_PROPERTY)).isEqualTo("test-eager");
        assertThat(service.getProperty("granule.allocator.service.id"))
                .isEqualTo(provider.describe().allocator.serviceId);
        assertThat(provider.status().getProperty(ExecutionProvider.NAME_PROPERTY))
                .isEqualTo(provider.name);
        var status = provider.status();

        Stage.stop(stage.bundle(recipe.name()));
        assertThat(provider.service()).isNull();
        assertThat(provider.status()).isEqualTo(status);
        Stage.start(stage.bundle(recipe.name()));
        provider.await("BOUND");
        assertThat(provider.service().getProperty(ExecutionProvider.GENERATION_PROPERTY))
                .isEqualTo(2L);
        assertThat(provider.service()).isNotEqualTo(service);
        assertThat(provider.status()).isEqualTo(status);
    }

    @Test
    @DisplayName("E09 the sessions of a bundle are closed when it stops; those of others live on")
    void userStops() throws Exception {
        var provider = serving("e09-stops");
        var user = stage.deploy(TestBundle.user("test.user.one"));
        var other = stage.deploy(TestBundle.user("test.user.two"));
        var session = provider.open(user.getBundleContext(), "kv");
        long token = session.allocate(100, 1);
        var second = provider.open(user.getBundleContext(), "weights");
        second.allocate(200, 1);
        var fence = new AtomicBoolean();
        var pending = second.releaseAfter(second.allocate(50, 1), fence::get).toCompletableFuture();
        var others = provider.open(other.getBundleContext(), "kv");
        long theirs = others.allocate(400, 1);

        Stage.stop(user);

        assertThat(provider.describe().sessions).isEqualTo(1);
        assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
        assertThat(others.bytes(theirs)).isEqualTo(400);
        // What waits for a fence still waits: the device does not know that the bundle has stopped.
        assertThat(pending).isNotDone();
        assertThat(stage.ledger().ownedBytes).isEqualTo(450);
        fence.set(true);
        assertThat(pending.get()).isInstanceOf(Complete.class);
        assertThat(stage.ledger().ownedBytes).isEqualTo(400);
        assertThat(others.release(theirs)).isInstanceOf(Complete.class);
    }

    @Test
    @DisplayName("E09 a bundle sees only its own sessions, and lets go of only these")
    void ownSessionsOnly() {
        var provider = serving("e09-own");
        var one = stage.deploy(TestBundle.user("test.user.one")).getBundleContext();
        var two = stage.deploy(TestBundle.user("test.user.two")).getBundleContext();
        var reference = provider.service();
        var ofOne = one.getService(reference);
        var ofTwo = two.getService(reference);
        assertThat(ofOne).isNotSameAs(ofTwo).isSameAs(one.getService(reference));
        var session = ofOne.open("kv");
        var stranger = ofTwo.open("kv");
        long token = session.allocate(100, 1);

        assertThatThrownBy(() -> stranger.release(token)).isInstanceOf(ForeignTokenException.class);
        assertThatThrownBy(() -> stranger.address(token)).isInstanceOf(ForeignTokenException.class);

        two.ungetService(reference);
        assertThatThrownBy(() -> stranger.allocate(1, 1)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> ofTwo.open("kv")).isInstanceOf(ClosedException.class);
        assertThat(session.bytes(token)).isEqualTo(100);
        // One had it twice.
        one.ungetService(reference);
        assertThat(session.release(token)).isInstanceOf(Complete.class);
        one.ungetService(reference);
        assertThatThrownBy(() -> session.allocate(1, 1)).isInstanceOf(ClosedException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "../tenant-b/kv", "a/b", "idle/x", "kv ", "ümlaut", "kv\n"})
    @DisplayName("E09 the account is issued: no role leads out of the provider's tenant")
    void roleIsChecked(String role) {
        var provider = serving("e09-role");

        assertThatThrownBy(() -> provider.open(role)).isInstanceOf(InvalidRequestException.class);

        try (var session = provider.open("kv")) {
            assertThat(session.account()).isEqualTo(stage.device + "/tenant-" + provider.name + "/kv");
        }
        assertThat(provider.describe().sessions).isZero();
    }

    @Test
    @DisplayName("D07 a session that is dropped is quarantined with the place that opened it; an operator releases it")
    void dropped() {
        var provider = serving("d07");
        allocateAndDrop(provider);

        var left = Await.await(
                "the dropped session in quarantine",
                () -> {
                    System.gc();
                    return stage.allocations();
                },
                all -> all.stream().allMatch(one -> AllocationDTO.QUARANTINED.equals(one.state)));

        assertThat(left).hasSize(2).allSatisfy(one -> {
            assertThat(one.reason).contains("dropped", "UserTest.allocateAndDrop");
            assertThat(one.account).endsWith("/dropped");
        });
        assertThat(recipe.probe().calls("release")).isZero();
        assertThat(stage.ledger().ownedBytes).isEqualTo(300);
        assertThat(stage.ledger().quarantinedBytes).isEqualTo(300);
        assertThat(provider.describe().health).isEqualTo("DEGRADED");

        for (var one : left) {
            assertThat(stage.registry().settle(one.token)).isInstanceOf(Complete.class);
            assertThatThrownBy(() -> stage.registry().settle(one.token)).isInstanceOf(StaleTokenException.class);
        }
        assertThat(recipe.probe().calls("release")).isEqualTo(2);
        assertThat(provider.describe().health).isEqualTo("OK");
        stage.requireSettled();
    }

    private void allocateAndDrop(TestProvider provider) {
        var session = stage.context.getService(provider.service()).open("dropped");
        session.allocate(100, 1);
        session.allocate(200, 1);
    }

    @Test
    @DisplayName("D07 a session that is in use by a call only is not taken for dropped")
    void inUseIsNotDropped() {
        var provider = serving("d07-in-use");
        recipe.probe().before(method -> {
            if ("allocate".equals(method)) {
                for (int i = 0; i < 20; i++) {
                    System.gc();
                }
            }
        });

        long token = stage.context.getService(provider.service()).open("busy").allocate(100, 1);

        assertThat(token).isNotZero();
        assertThat(stage.ledger().ownedBytes).isEqualTo(100);
        Await.await("the end of the session in quarantine", () -> {
            System.gc();
            return AllocationDTO.QUARANTINED.equals(stage.allocations().getFirst().state);
        });
        assertThat(stage.registry().settle(token)).isInstanceOf(Complete.class);
    }

    @Test
    @DisplayName("D08 a release that waits for its fence is charged and aged, and degrades health past its deadline")
    void pending() throws Exception {
        recipe = TestBundle.eager(stage.device);
        stage.deploy(recipe);
        var properties = TestProvider.properties("d08-" + stage.device.ordinal(), stage.device);
        properties.put("fenceMillis", 50L);
        var provider = stage.provider(properties);
        provider.await("BOUND");
        var fence = new AtomicBoolean();
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);
            var outcome = session.releaseAfter(token, fence::get).toCompletableFuture();

            assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            assertThat(stage.ledger().ownedBytes).isEqualTo(100);
            assertThat(stage.allocations()).singleElement().satisfies(one -> {
                assertThat(one.state).isEqualTo(AllocationDTO.PENDING);
                assertThat(one.reason).contains("fence");
            });
            assertThat(provider.describe().pendingReleases).isEqualTo(1);
            long age = provider.describe().oldestPendingNanos;
            assertThat(age).isPositive();
            var late = Await.await("degraded health", provider::describe, dto -> "DEGRADED".equals(dto.health));
            assertThat(late.oldestPendingNanos).isGreaterThan(Math.max(age, 50_000_000));
            assertThat(String.join(" ", late.healthReasons)).contains("fence", "1");
            assertThat(recipe.probe().calls("release")).isZero();
            assertThat(stage.ledger().ownedBytes).isEqualTo(100);

            fence.set(true);
            assertThat(outcome.get()).isEqualTo(new Complete(100));
        }
        assertThat(recipe.probe().calls("release")).isEqualTo(1);
        assertThat(provider.describe().health).isEqualTo("OK");
        assertThat(provider.describe().pendingReleases).isZero();
        stage.requireSettled();
    }

    @Test
    @DisplayName("D08 a fence that throws counts as not passed")
    void throwingFence() throws Exception {
        var provider = serving("d08-throws");
        var healed = new AtomicBoolean();
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);
            assertThatThrownBy(() -> session.releaseAfter(token, () -> {
                        throw new IllegalStateException("no device");
                    }))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(session.bytes(token)).isEqualTo(100);
            var asked = new AtomicBoolean();
            var outcome = session.releaseAfter(token, () -> {
                        if (asked.compareAndSet(false, true) || healed.get()) {
                            return healed.get();
                        }
                        throw new IllegalStateException("no device");
                    })
                    .toCompletableFuture();
            assertThat(stage.ledger().ownedBytes).isEqualTo(100);
            assertThat(outcome).isNotDone();
            healed.set(true);
            assertThat(outcome.get()).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("A11 a short-lived allocator over a confined arena works and is not kept reachable")
    void shortLived() {
        var provider = stage.provider("a11");
        provider.await("WAITING");

        var allocator = serveOnce(provider);

        provider.await("WAITING");
        stage.awaitCollected("the allocator", allocator);
    }

    /** Registers, uses and unregisters it in one thread, which alone may close the arenas. */
    private WeakReference<PlainAllocator> serveOnce(TestProvider provider) {
        var allocator = new PlainAllocator(stage.device, Arena::ofConfined);
        ServiceRegistration<DeviceAllocator> registration = stage.context.registerService(
                DeviceAllocator.class,
                allocator,
                Stage.dictionary(Map.of(DeviceAllocator.DEVICE_PROPERTY, stage.device.toString())));
        assertThat(provider.describe().state).isEqualTo("BOUND");
        var session = provider.open("kv");
        long kept = session.allocate(1000, 64);
        session.fill(kept, 0, 1000, (byte) 3);
        long released = session.allocate(1000, 64);
        assertThat(session.release(released)).isInstanceOf(Complete.class);

        registration.unregister();

        assertThat(allocator.calls)
                .containsOnlyOnce("device")
                .filteredOn("release"::equals)
                .hasSize(2);
        assertThatThrownBy(() -> session.release(kept)).isInstanceOf(StaleTokenException.class);
        stage.requireSettled();
        return new WeakReference<>(allocator);
    }
}
