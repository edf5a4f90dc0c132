package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.granule.provider.ExecutionProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;

/**
 * The three events that move a static reluctant reference to another service without an error. A generation stays
 * with its allocator in each; where the allocator really goes, the generation ends with it.
 */
class SilentMoveTest extends StageTest {

    private record Seen(int type, long generation, long allocator) {}

    private final List<Seen> events = new CopyOnWriteArrayList<>();
    private final ServiceListener listener = event -> events.add(new Seen(
            event.getType(),
            (Long) event.getServiceReference().getProperty(ExecutionProvider.GENERATION_PROPERTY),
            (Long) event.getServiceReference().getProperty("granule.allocator.service.id")));

    private TestProvider boundWithABetterOneBeside(TestBundle bound, TestBundle better) throws InvalidSyntaxException {
        stage.deploy(bound);
        var provider = stage.provider("f03-moves");
        provider.await("BOUND");
        stage.deploy(better);
        stage.context.addServiceListener(
                listener,
                "(&(objectClass=" + ExecutionProvider.class.getName() + ")(granule.provider=" + provider.name + "))");
        return provider;
    }

    @Test
    @DisplayName("F03 a configuration update does not move the binding to a better match")
    void configurationUpdate() throws InvalidSyntaxException {
        var bound = TestBundle.eager(stage.device);
        var better =
                TestBundle.eager(stage.device).named("test.allocator.better").ranking(9);
        var provider = boundWithABetterOneBeside(bound, better);
        long allocator = provider.allocatorId();
        try (var session = provider.open("kv")) {
            long token = session.allocate(4096, 64);

            for (long drain = 301; drain < 311; drain++) {
                provider.set("drainMillis", drain);
            }
            stage.awaitConfiguration();

            assertThat(provider.allocatorId()).isEqualTo(allocator);
            assertThat(provider.describe().generation).isEqualTo(1);
            session.release(token);
        } finally {
            stage.context.removeServiceListener(listener);
        }
        assertThat(events).isEmpty();
        assertThat(bound.probe().gets()).isEqualTo(1);
        assertThat(bound.probe().ungets()).isZero();
        assertThat(better.probe().gets()).isZero();
        assertThat(better.probe().calls()).isEmpty();
    }

    @Test
    @DisplayName("F03 the last client that lets the provider go does not move the binding to a better match")
    void lastUnget() throws InvalidSyntaxException {
        var bound = TestBundle.eager(stage.device);
        var better =
                TestBundle.eager(stage.device).named("test.allocator.better").ranking(9);
        var provider = boundWithABetterOneBeside(bound, better);
        var user = stage.deploy(TestBundle.user("test.user")).getBundleContext();
        long allocator = provider.allocatorId();
        // The shell uses every provider, so without it this user is the only one and the last.
        var shell = stage.bundle("org.granule.shell");
        Stage.stop(shell);

        for (int round = 0; round < 10; round++) {
            var reference = provider.service();
            var session = user.getService(reference).open("kv");
            session.release(session.allocate(64, 64));
            user.ungetService(reference);
            assertThat(reference.getUsingBundles()).isNull();
            assertThat(provider.allocatorId()).isEqualTo(allocator);
        }
        Stage.start(shell);
        stage.context.removeServiceListener(listener);

        assertThat(events).isEmpty();
        assertThat(bound.probe().gets()).isEqualTo(1);
        assertThat(bound.probe().ungets()).isZero();
        assertThat(bound.probe().calls("allocate")).isEqualTo(10);
        assertThat(better.probe().calls()).isEmpty();
    }

    @Test
    @DisplayName("F03 an update of the bound allocator's bundle ends the generation; the next has one other for life")
    void updateInPlace() throws InvalidSyntaxException {
        var bound = TestBundle.eager(stage.device);
        var better =
                TestBundle.eager(stage.device).named("test.allocator.better").ranking(9);
        var provider = boundWithABetterOneBeside(bound, better);
        long first = provider.allocatorId();
        var session = provider.open("kv");
        session.allocate(64, 64);

        var updated = TestBundle.eager(stage.device).version("2.0.0").ranking(20);
        stage.update(stage.bundle(bound.name()), updated);

        var now = provider.await("BOUND", 2);
        stage.context.removeServiceListener(listener);
        assertThat(now.allocator.bundle).isEqualTo(better.name());
        assertThat(now.candidates).extracting(candidate -> candidate.version).containsExactly("2.0.0");
        long second = provider.allocatorId();
        assertThat(second).isNotEqualTo(first);
        // The old one was gone before the new one came, and each had one allocator from beginning to end.
        assertThat(new ArrayList<>(events))
                .containsExactly(
                        new Seen(ServiceEvent.UNREGISTERING, 1, first), new Seen(ServiceEvent.REGISTERED, 2, second));
        assertThat(bound.probe().leftover()).isEqualTo("nothing");
        assertThat(updated.probe().calls()).isEmpty();
        assertThat(updated.probe().gets()).isZero();
    }

    @Test
    @DisplayName("F03 a changed filter that the bound allocator does not match leaves the generation as it is")
    void filterChanged() throws InvalidSyntaxException {
        var bound = TestBundle.eager(stage.device);
        var better =
                TestBundle.eager(stage.device).named("test.allocator.better").ranking(9);
        var provider = boundWithABetterOneBeside(bound, better);
        long allocator = provider.allocatorId();

        provider.set("allocator", "(&(granule.device=" + stage.device + ")(service.ranking=9))");
        stage.awaitConfiguration();

        assertThat(provider.allocatorId()).isEqualTo(allocator);
        assertThat(provider.describe().candidates).hasSize(1);
        assertThat(provider.describe().filter).contains("(service.ranking=9)");
        assertThat(better.probe().calls()).isEmpty();

        Stage.stop(stage.bundle(bound.name()));
        provider.await("BOUND", 2);
        stage.context.removeServiceListener(listener);
        assertThat(provider.describe().allocator.bundle).isEqualTo(better.name());
        assertThat(events).hasSize(2);
        assertThat(bound.probe().gets()).isEqualTo(1);
    }

    @Test
    @DisplayName("F03 an allocator that leaves after the filter was changed is not bound once more while it leaves")
    void leavesAfterFilterChanged() {
        var recipe = TestBundle.eager(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f03-leaves");
        provider.await("BOUND");
        provider.set("allocator", "(&(granule.device=" + stage.device + ")(granule.mechanism=test-eager))");
        stage.awaitConfiguration();

        Stage.stop(bundle);

        assertThat(provider.await("WAITING").generation).isEqualTo(1);
        assertThat(provider.service()).isNull();
        assertThat(recipe.probe().gets()).isEqualTo(1);
        assertThat(stage.bindings()).isEmpty();
    }
}
