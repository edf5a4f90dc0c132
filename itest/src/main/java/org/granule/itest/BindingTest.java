package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Hashtable;
import java.util.Map;
import org.granule.governor.AllocatorDTO;
import org.granule.itest.probe.Probe;
import org.granule.memory.BindingRefusedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceMismatchException;
import org.granule.memory.ReleaseOutcome.Complete;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;

/** Which allocator a provider binds, and which it does not. */
class BindingTest extends StageTest {

    private final DeviceKey other = new DeviceKey("elsewhere", 1);

    @Test
    @DisplayName("F01 an allocator of another device fails the provider, which names both; only device() was called")
    void deviceMismatch() {
        var liar = TestBundle.eager(other).claiming(stage.device);
        stage.deploy(liar);
        var provider = stage.provider("f01");

        var failed = provider.await("FAILED");

        assertThat(failed.reason).contains("G300", stage.device.toString(), other.toString(), liar.name());
        assertThat(failed.health).isEqualTo("DEGRADED");
        assertThat(failed.healthReasons).contains(failed.reason);
        assertThat(failed.generation).isZero();
        assertThat(failed.allocator).isNull();
        assertThat(liar.probe().calls()).isEqualTo(Map.of("device", 1));
        assertThat(liar.probe().ungets()).as("how often it was let go").isEqualTo(1);
        assertThat(provider.service()).isNull();
        assertThat(stage.bindings()).isEmpty();
    }

    @Test
    @DisplayName("F01 after a mismatch the provider binds the allocator that is left when the wrong one goes")
    void mismatchHeals() {
        var liar = TestBundle.eager(other).claiming(stage.device).ranking(1);
        var wrong = stage.deploy(liar);
        var honest = TestBundle.eager(stage.device).named("test.allocator.honest");
        stage.deploy(honest);
        var provider = stage.provider("f01-heals");
        provider.await("FAILED");
        assertThat(honest.probe().calls()).isEmpty();

        Stage.stop(wrong);

        provider.await("BOUND", 1);
        assertThat(liar.probe().calls()).isEqualTo(Map.of("device", 1));
    }

    @Test
    @DisplayName("F01 the registry refuses a mismatch with a typed error, and the generation stays free")
    void mismatchAtTheRegistry() {
        var recipe = TestBundle.eager(other);
        var reference = Stage.allocatorOf(stage.deploy(recipe));
        var allocator = stage.context.getService(reference);

        assertThatThrownBy(() -> stage.registry().bind("f01-registry", 1, reference, allocator, stage.device))
                .isInstanceOf(DeviceMismatchException.class)
                .hasMessageContaining(stage.device.toString())
                .hasMessageContaining(other.toString());

        assertThat(recipe.probe().calls()).isEqualTo(Map.of("device", 1));
        stage.registry().bind("f01-registry", 1, reference, allocator, other).close(java.time.Duration.ZERO);
        stage.context.ungetService(reference);
    }

    @Test
    @DisplayName("F01 a facet that disagrees with its allocator is refused")
    void facetDisagrees() {
        var recipe = TestBundle.engine(stage.device);
        recipe.probe().answer("commitsOnDemand", false);
        stage.deploy(recipe);
        var provider = stage.provider("f01-facet");

        assertThat(provider.await("FAILED").reason).contains("G400", "virtual backing", "commitsOnDemand");

        assertThat(recipe.probe().calls("allocate") + recipe.probe().calls("reserve"))
                .isZero();
        assertThat(provider.service()).isNull();
        assertThat(stage.bindings()).isEmpty();
    }

    @Test
    @DisplayName("F01 an allocator that answers null, or throws, when asked for its device fails the provider")
    void noDevice() {
        var recipe = TestBundle.eager(stage.device);
        recipe.probe().answer("device", Probe.NULL);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f01-null");
        assertThat(provider.await("FAILED").reason).contains("G400", "null", "device");

        Stage.stop(bundle);
        provider.await("WAITING");
        recipe.probe().reset();
        recipe.probe().before(method -> {
            if ("device".equals(method)) {
                throw new IllegalStateException("no device today");
            }
        });
        Stage.start(bundle);
        assertThat(provider.await("FAILED").reason).contains("G400", "no device today");

        assertThat(recipe.probe().calls()).isEqualTo(Map.of("device", 2));
    }

    @Test
    @DisplayName("F02 a second allocator for the same generation is refused without a call; the first stays")
    void lateInjection() {
        var first = TestBundle.eager(stage.device);
        stage.deploy(first);
        var provider = stage.provider("f02");
        provider.await("BOUND");
        long bound = provider.allocatorId();
        var second =
                TestBundle.eager(stage.device).named("test.allocator.second").ranking(Integer.MAX_VALUE);
        var reference = Stage.allocatorOf(stage.deploy(second));
        var newcomer = stage.context.getService(reference);

        assertThatThrownBy(() -> stage.registry().bind(provider.name, 1, reference, newcomer, stage.device))
                .isInstanceOf(BindingRefusedException.class)
                .hasMessageContaining(provider.name)
                .hasMessageContaining("G310");

        assertThat(second.probe().calls()).isEmpty();
        assertThat(provider.allocatorId()).isEqualTo(bound);
        try (var session = provider.open("kv")) {
            assertThat(session.release(session.allocate(64, 64))).isInstanceOf(Complete.class);
        }
        assertThat(first.probe().calls("allocate")).isEqualTo(1);
        assertThat(second.probe().calls()).isEmpty();
        stage.context.ungetService(reference);
    }

    @Test
    @DisplayName("F02 a better-ranked service that appears is a candidate and is not bound")
    void betterRanked() {
        stage.deploy(TestBundle.eager(stage.device));
        var provider = stage.provider("f02-ranked");
        var before = provider.await("BOUND");
        assertThat(before.candidates).isEmpty();
        long bound = provider.allocatorId();

        var better =
                TestBundle.eager(stage.device).named("test.allocator.better").ranking(1000);
        var reference = Stage.allocatorOf(stage.deploy(better));

        var after = provider.describe();
        assertThat(after.state).isEqualTo("BOUND");
        assertThat(after.generation).isEqualTo(1);
        assertThat(after.allocator.serviceId).isEqualTo(bound);
        assertThat(after.candidates)
                .extracting(candidate -> candidate.serviceId)
                .containsExactly(id(reference));
        assertThat(after.candidates).extracting(candidate -> candidate.state).containsExactly("AVAILABLE");
        assertThat(better.probe().calls()).isEmpty();
        assertThat(better.probe().gets()).isZero();
    }

    @Test
    @DisplayName("F02 raising the ranking of a registered service binds it neither")
    void rankingRaised() {
        var bound = TestBundle.eager(stage.device);
        stage.deploy(bound);
        var provider = stage.provider("f02-raised");
        provider.await("BOUND");
        long service = provider.allocatorId();
        var plain = new PlainAllocator(stage.device);
        var registration = stage.context.registerService(DeviceAllocator.class, plain, properties(0));
        assertThat(provider.describe().candidates).hasSize(1);

        registration.setProperties(properties(Integer.MAX_VALUE));

        var after = provider.describe();
        assertThat(after.allocator.serviceId).isEqualTo(service);
        assertThat(after.generation).isEqualTo(1);
        assertThat(after.candidates).extracting(candidate -> candidate.ranking).containsExactly(Integer.MAX_VALUE);
        assertThat(plain.calls).isEmpty();
        assertThat(bound.probe().gets()).isEqualTo(1);
        registration.unregister();
        assertThat(provider.describe().candidates).isEmpty();
    }

    @Test
    @DisplayName("F02 an object of another bundle, and a remote service, are not bound and not called")
    void notVouchedFor() {
        var recipe = TestBundle.eager(stage.device);
        var own = Stage.allocatorOf(stage.deploy(recipe));
        var borrowed = stage.context.getService(own);
        var properties = properties(5);
        var forged = stage.context.registerService(DeviceAllocator.class, borrowed, properties);
        var provider = stage.provider("f02-forged");
        assertThat(provider.await("FAILED").reason).contains("G310", recipe.name(), "registered by another");
        assertThat(recipe.probe().calls()).isEmpty();
        forged.unregister();
        provider.await("BOUND", 1);
        assertThat(provider.allocatorId()).isEqualTo(id(own));
        stage.context.ungetService(own);

        var remote = new PlainAllocator(stage.device);
        properties.put("service.imported", true);
        var imported = stage.context.registerService(DeviceAllocator.class, remote, properties);
        assertThat(provider.describe().candidates).isEmpty();
        assertThat(allocator(id(imported.getReference())).state).isEqualTo("REFUSED");
        assertThat(allocator(id(imported.getReference())).reason).contains("remote");
        assertThatThrownBy(() -> stage.registry().bind("f02-remote", 1, imported.getReference(), remote, stage.device))
                .isInstanceOf(BindingRefusedException.class)
                .hasMessageContaining("remote");
        assertThat(remote.calls).isEmpty();
        imported.unregister();
    }

    @Test
    @DisplayName("F03 of two allocators the better-ranked is bound, and the provider says so")
    void byRanking() {
        var low = TestBundle.eager(stage.device).ranking(1);
        var high = TestBundle.eager(stage.device).named("test.allocator.high").ranking(7);
        stage.deploy(low);
        var best = Stage.allocatorOf(stage.deploy(high));
        var provider = stage.provider("f03");

        var bound = provider.await("BOUND");

        assertThat(bound.allocator.serviceId).isEqualTo(id(best));
        assertThat(bound.allocator.bundle).isEqualTo(high.name());
        assertThat(bound.reason).contains("service " + id(best), "best ranking", "7", "1");
        assertThat(bound.candidates).hasSize(1);
        assertThat(low.probe().calls()).isEmpty();
        assertThat(low.probe().gets()).isZero();
        assertThat(allocator(id(best)).state).isEqualTo("BOUND");
        assertThat(allocator(id(best)).reason).contains(provider.name, "generation 1");
    }

    @Test
    @DisplayName("F03 of two allocators with one ranking the older is bound, and the provider says so")
    void byAge() {
        var old = Stage.allocatorOf(stage.deploy(TestBundle.eager(stage.device)));
        var young = TestBundle.eager(stage.device).named("test.allocator.young");
        var newer = Stage.allocatorOf(stage.deploy(young));
        var provider = stage.provider("f03-age");

        var bound = provider.await("BOUND");

        assertThat(bound.allocator.serviceId).isEqualTo(id(old));
        assertThat(bound.reason).contains("oldest of 2 matches", "service " + id(old) + " before " + id(newer));
        assertThat(young.probe().calls()).isEmpty();
    }

    @Test
    @DisplayName("F03 two providers of one allocator have a binding each")
    void twoProviders() {
        var recipe = TestBundle.eager(stage.device);
        stage.deploy(recipe);
        var one = stage.provider("f03-one");
        var two = stage.provider("f03-two");
        one.await("BOUND");
        two.await("BOUND");

        assertThat(stage.bindings())
                .extracting(binding -> binding.holder)
                .containsExactlyInAnyOrder(one.name, two.name);
        assertThat(stage.bindings()).extracting(binding -> binding.serial).doesNotHaveDuplicates();
        assertThat(one.allocatorId()).isEqualTo(two.allocatorId());
        try (var first = one.open("kv");
                var second = two.open("kv")) {
            long token = first.allocate(64, 64);
            second.release(second.allocate(64, 64));
            assertThat(first.release(token)).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("F04 without an allocator the provider waits, says what for, and binds when one appears")
    void waits() {
        var provider = stage.provider("f04");
        var waiting = provider.await("WAITING");
        assertThat(waiting.reason).contains("waits", "(granule.device=" + stage.device + ")");
        assertThat(waiting.filter).contains("(granule.device=" + stage.device + ")");
        assertThat(waiting.generation).isZero();
        assertThat(waiting.health).isEqualTo("OK");
        assertThat(provider.service()).isNull();

        stage.deploy(TestBundle.eager(new DeviceKey("unwanted", 0)));
        assertThat(provider.describe().state).isEqualTo("WAITING");

        stage.deploy(TestBundle.eager(stage.device).named("test.allocator.wanted"));
        var bound = provider.await("BOUND", 1);
        assertThat(bound.reason).contains("the only match");
        try (var session = provider.open("kv")) {
            assertThat(session.allocate(64, 64)).isNotZero();
        }
    }

    private AllocatorDTO allocator(long id) {
        return stage.registry().allocators().stream()
                .filter(allocator -> allocator.serviceId == id)
                .findFirst()
                .orElseThrow();
    }

    private Hashtable<String, Object> properties(int ranking) {
        var properties = new Hashtable<String, Object>();
        properties.put(DeviceAllocator.DEVICE_PROPERTY, stage.device.toString());
        properties.put(Constants.SERVICE_RANKING, ranking);
        return properties;
    }

    private static Long id(ServiceReference<?> reference) {
        return (Long) reference.getProperty(Constants.SERVICE_ID);
    }
}
