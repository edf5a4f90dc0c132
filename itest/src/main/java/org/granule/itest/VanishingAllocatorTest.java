package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.granule.itest.probe.Probe;
import org.granule.memory.BindingRefusedException;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.StaleTokenException;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.osgi.framework.Bundle;

/** An allocator's service goes at the worst moment. */
class VanishingAllocatorTest extends StageTest {

    private static final long GRANULE = 4096;
    private static final List<String> LATE_GIVEBACK =
            List.of("release after the allocator had ended", "trim after the allocator had ended");

    /** Operations that are under way when the allocator goes. */
    enum Operation {
        ALLOCATE(TestBundle::eager, "allocate", session -> session.allocate(5000, 64)),
        ALLOCATE_CHARGING(TestBundle::engine, "allocate", session -> session.allocate(5000, 64)),
        RESERVE(
                TestBundle::engine,
                "reserve",
                session -> session.reserve(8 * GRANULE, GRANULE, Ranges.of(0, 2 * GRANULE), Extents.PIECES));

        private final Function<DeviceKey, TestBundle> recipe;
        private final String method;
        private final Function<MemorySession, Long> call;

        Operation(Function<DeviceKey, TestBundle> recipe, String method, Function<MemorySession, Long> call) {
            this.recipe = recipe;
            this.method = method;
            this.call = call;
        }
    }

    @Test
    @DisplayName("F09 a service that is gone between lookup and bind: typed error, then the provider waits and rebinds")
    void noServiceObject() {
        var recipe = TestBundle.eager(stage.device);
        recipe.probe().answer("getService", Probe.NULL);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09");
        assertThat(provider.await("FAILED").reason).contains("G310", "went away");
        assertThat(recipe.probe().calls()).isEmpty();
        assertThat(provider.service()).isNull();

        Stage.stop(bundle);
        provider.await("WAITING");
        recipe.probe().reset();
        Stage.start(bundle);

        provider.await("BOUND", 1);
    }

    @ParameterizedTest(name = "in {0}")
    @ValueSource(strings = {"device", "commitsOnDemand", "virtualBacking", "sharedMapping", "transfer", "inspection"})
    @DisplayName("F09 a service that goes while it is bound: no generation is left")
    void whileBinding(String method) {
        var recipe = TestBundle.engine(stage.device);
        var bundle = stage.install(recipe);
        var gone = new AtomicBoolean();
        recipe.probe().before(called -> {
            if (method.equals(called) && gone.compareAndSet(false, true)) {
                Stage.stop(bundle);
            }
        });
        Stage.start(bundle);
        var provider = stage.provider("f09-binding");

        Await.await("the stop of the bundle", () -> gone.get() && bundle.getState() == Bundle.RESOLVED);
        provider.await("WAITING");
        assertThat(provider.service()).isNull();
        assertThat(stage.bindings()).isEmpty();
        // It stopped itself within a call: the calls that complete the binding come after that.
        assertThat(recipe.probe().late())
                .allMatch(call -> call.matches(
                        "(commitsOnDemand|virtualBacking|sharedMapping|transfer|inspection|driverCalls|trim) .*"));

        recipe.probe().late().clear();
        recipe.probe().reset();
        Stage.start(bundle);
        provider.await("BOUND");
        try (var session = provider.open("kv")) {
            assertThat(session.release(session.allocate(64, 64))).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("F09 the registry refuses a reference whose service is gone, without a call")
    void goneReference() {
        var plain = new PlainAllocator(stage.device);
        var registration = stage.context.registerService(DeviceAllocator.class, plain, null);
        var reference = registration.getReference();
        registration.unregister();

        assertThatThrownBy(() -> stage.registry().bind("f09-gone", 1, reference, plain, stage.device))
                .isInstanceOf(BindingRefusedException.class)
                .hasMessageContaining("gone");

        assertThat(plain.calls).isEmpty();
        assertThat(stage.registry().describe(reference).state).isEqualTo("REFUSED");
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Operation.class)
    @DisplayName("F09 the service goes in the middle of an operation that ends while the provider waits for it")
    void endsInTime(Operation operation) throws Exception {
        var recipe = operation.recipe.apply(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09-in-time").set("drainMillis", 20_000L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var session = provider.open("kv");
        var gate = new Gate(operation.method);
        recipe.probe().before(gate);
        var user = start(() -> operation.call.apply(session));
        gate.awaitArrival();
        var stop = start(() -> {
            Stage.stop(bundle);
            return null;
        });
        Await.await("the binding to close", stage::bindings, all -> all.stream()
                .anyMatch(binding -> "CLOSING".equals(binding.state)));

        gate.open();

        stop.get();
        assertThatThrownBy(user::get).cause().isInstanceOfAny(ClosedException.class, StaleTokenException.class);
        assertThat(recipe.probe().leftover()).isEqualTo("nothing");
        stage.requireSettled();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Operation.class)
    @DisplayName("F09 the service goes in the middle of an operation that outlasts the provider's patience")
    void endsTooLate(Operation operation) throws Exception {
        var recipe = operation.recipe.apply(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09-too-late").set("drainMillis", 50L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var session = provider.open("kv");
        var gate = new Gate(operation.method);
        recipe.probe().before(gate);
        var user = start(() -> operation.call.apply(session));
        gate.awaitArrival();

        Stage.stop(bundle);
        assertThat(provider.await("WAITING").generation).isEqualTo(1);
        assertThat(stage.bindings()).isEmpty();
        gate.open();

        assertThatThrownBy(user::get).cause().isInstanceOfAny(ClosedException.class, StaleTokenException.class);
        // What the call brought is given back at once; nothing else may come after the bundle has stopped.
        assertThat(recipe.probe().late()).isSubsetOf(LATE_GIVEBACK);
        recipe.probe().late().clear();
        requireNothingLost();
        Stage.start(bundle);
        provider.await("BOUND", 2);
    }

    @Test
    @DisplayName("F09 an allocator that stops its own bundle in the middle of an allocation")
    void stopsItself() {
        var recipe = TestBundle.engine(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09-itself").set("drainMillis", 50L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var session = provider.open("kv");
        session.allocate(GRANULE, 64);
        recipe.probe().before(method -> {
            if ("allocate".equals(method)) {
                Stage.stop(bundle);
            }
        });

        assertThatThrownBy(() -> session.allocate(GRANULE, 64))
                .isInstanceOfAny(ClosedException.class, StaleTokenException.class);

        assertThat(provider.await("WAITING").generation).isEqualTo(1);
        assertThat(recipe.probe().late()).isSubsetOf(LATE_GIVEBACK);
        recipe.probe().late().clear();
        requireNothingLost();
    }

    @Test
    @DisplayName("F09 a release that outlasts the provider's patience settles the ledger when it ends")
    void lateRelease() throws Exception {
        var recipe = TestBundle.eager(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09-release").set("drainMillis", 50L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var session = provider.open("kv");
        long token = session.allocate(5000, 64);
        var gate = new Gate("release");
        recipe.probe().before(gate);
        var user = start(() -> session.release(token));
        gate.awaitArrival();

        Stage.stop(bundle);
        provider.await("WAITING");
        assertThat(stage.ledger().ownedBytes).isEqualTo(5000);
        gate.open();

        assertThat(user.get()).isInstanceOf(Complete.class);
        stage.requireSettled();
    }

    @Test
    @DisplayName("F09 memory that somebody works on for longer than the provider waits is listed in quarantine")
    void lateCommit() throws Exception {
        var recipe = TestBundle.engine(stage.device);
        var bundle = stage.deploy(recipe);
        var provider = stage.provider("f09-commit").set("drainMillis", 50L);
        stage.awaitConfiguration();
        provider.await("BOUND");
        var session = provider.open("kv");
        long token = session.reserve(8 * GRANULE, GRANULE, Ranges.of(0, 2 * GRANULE), Extents.PIECES);
        var gate = new Gate("access");
        recipe.probe().before(gate);
        var user = start(() -> {
            session.fill(token, 0, 64, (byte) 1);
            return null;
        });
        gate.awaitArrival();
        stage.expectQuarantine(2 * GRANULE);

        Stage.stop(bundle);

        provider.await("WAITING");
        stage.requireSettled();
        gate.open();
        waitFor(user);
        stage.requireSettled();
        recipe.probe().late().clear();
    }

    /** What is still charged is listed, and the other way round. */
    private void requireNothingLost() {
        stage.expectQuarantine(stage.ledger().quarantinedBytes);
        stage.requireSettled();
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().start(task);
        return task;
    }

    /** Waits for work that may fail. */
    private static void waitFor(FutureTask<?> task) {
        Await.await("the end of an operation", task::isDone);
    }

    /** Holds the first call of a method back. */
    private static final class Gate implements Consumer<String> {

        private final String method;
        private final AtomicBoolean first = new AtomicBoolean();
        private final CountDownLatch arrival = new CountDownLatch(1);
        private final CountDownLatch opening = new CountDownLatch(1);

        Gate(String method) {
            this.method = method;
        }

        @Override
        public void accept(String called) {
            if (method.equals(called) && first.compareAndSet(false, true)) {
                arrival.countDown();
                await(opening);
            }
        }

        void awaitArrival() {
            await(arrival);
        }

        void open() {
            opening.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                if (!latch.await(Duration.ofSeconds(30).toNanos(), TimeUnit.NANOSECONDS)) {
                    throw new IllegalStateException("nobody came");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
