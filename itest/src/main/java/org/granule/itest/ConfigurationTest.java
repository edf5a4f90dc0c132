package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.granule.itest.probe.Probe;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.provider.MemorySession;
import org.granule.provider.ProviderDTO;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A provider's configuration changes while it serves. */
class ConfigurationTest extends StageTest {

    private TestBundle recipe;

    private TestProvider serving() {
        recipe = TestBundle.eager(stage.device);
        stage.deploy(recipe);
        var provider = stage.provider("f10");
        provider.await("BOUND", 1);
        return provider;
    }

    /** The same generation serves with the same allocator, and memory from before is as it was. */
    private void requireUntouched(TestProvider provider, ProviderDTO before, MemorySession session, long token) {
        var after = provider.describe();
        assertThat(after.state).isEqualTo("BOUND");
        assertThat(after.reason).isEqualTo(before.reason);
        assertThat(after.generation).isEqualTo(1);
        assertThat(after.name).isEqualTo(before.name);
        assertThat(after.device).isEqualTo(before.device);
        assertThat(after.tenant).isEqualTo(before.tenant);
        assertThat(after.allocator.serviceId).isEqualTo(before.allocator.serviceId);
        assertThat(recipe.probe().gets()).isEqualTo(1);
        assertThat(recipe.probe().ungets()).isZero();
        assertThat(session.bytes(token)).isEqualTo(100);
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "device | host:65535",
                "device | not a device",
                "tenant | somebody-else",
                "tenant | no/tenant",
                "name | another-name",
                "name | not a name",
                "allocator | (granule.device=",
                "allocator | ((",
                "drainMillis | -1",
                "drainMillis | 60001",
                "fenceMillis | 0",
            })
    @DisplayName("F10 a change that is malformed, or of what is for life, is refused and the old one stays")
    void refused(String property, String value) {
        var provider = serving();
        var before = provider.describe();
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);

            provider.set(property, value);
            stage.awaitConfiguration();

            requireUntouched(provider, before, session, token);
            assertThat(provider.describe().filter).isEqualTo(before.filter);
            assertThat(session.release(token)).isInstanceOf(Complete.class);
        }
    }

    @Test
    @DisplayName("F10 after a refused change the provider goes on to follow valid ones")
    void refusedThenValid() {
        var provider = serving();
        provider.set("allocator", "((");
        stage.awaitConfiguration();
        provider.set("allocator", "(&(granule.device=" + stage.device + ")(granule.mechanism=test-eager))");
        Await.await("the new filter", provider::describe, dto -> dto.filter.contains("test-eager"));
        assertThat(provider.describe().generation).isEqualTo(1);
    }

    @Test
    @DisplayName("F10 a new drain time changes only how long the end of the generation waits")
    void drain() throws Exception {
        var provider = serving();
        var before = provider.describe();
        var session = provider.open("kv");
        long token = session.allocate(100, 1);
        provider.set("drainMillis", 30_000L);
        stage.awaitConfiguration();
        requireUntouched(provider, before, session, token);

        // The generation ends with the new patience: this fence is passed only while it waits.
        var fence = new AtomicBoolean();
        var outcome = session.releaseAfter(token, fence::get).toCompletableFuture();
        var device = Thread.startVirtualThread(() -> {
            provider.await("DRAINING");
            // Longer than the former patience, and far shorter than the new one.
            Await.await("more than the former patience", later(500));
            fence.set(true);
        });
        Stage.stop(stage.bundle(recipe.name()));
        device.join();

        assertThat(outcome.join()).isInstanceOf(Complete.class);
    }

    private static Callable<Boolean> later(long millis) {
        long then = System.nanoTime() + millis * 1_000_000;
        return () -> System.nanoTime() - then > 0;
    }

    @Test
    @DisplayName("F10 a new fence deadline changes only when health degrades")
    void fenceDeadline() {
        var provider = serving();
        var before = provider.describe();
        var fence = new AtomicBoolean();
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);
            var pending =
                    session.releaseAfter(session.allocate(10, 1), fence::get).toCompletableFuture();
            assertThat(provider.describe().health).isEqualTo("OK");

            provider.set("fenceMillis", 1L);

            Await.await("degraded health", provider::describe, dto -> "DEGRADED".equals(dto.health));
            requireUntouched(provider, before, session, token);
            fence.set(true);
            assertThat(pending.join()).isInstanceOf(Complete.class);
            assertThat(provider.describe().health).isEqualTo("OK");
        }
    }

    @Test
    @DisplayName("F10 a new filter is for the next generation and for the list of candidates")
    void filter() {
        var provider = serving();
        var before = provider.describe();
        var other = TestBundle.eager(stage.device).named("test.allocator.other").ranking(3);
        stage.deploy(other);
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);

            provider.set("allocator", "(&(granule.device=" + stage.device + ")(service.ranking>=3))");

            Await.await("the new filter", provider::describe, dto -> dto.filter.contains("service.ranking>=3"));
            requireUntouched(provider, before, session, token);
            assertThat(provider.describe().candidates)
                    .extracting(candidate -> candidate.bundle)
                    .containsExactly(other.name());
        }
        Stage.stop(stage.bundle(recipe.name()));
        assertThat(provider.await("BOUND", 2).allocator.bundle).isEqualTo(other.name());
    }

    @Test
    @DisplayName("F10 a failed provider tries again when its configuration changes")
    void failedTriesAgain() {
        recipe = TestBundle.eager(stage.device);
        recipe.probe().answer("commitsOnDemand", Probe.NULL);
        stage.deploy(recipe);
        var provider = stage.provider("f10-again");
        provider.await("FAILED");
        recipe.probe().reset();

        provider.set("drainMillis", 301L);

        provider.await("BOUND", 1);
    }

    @Test
    @DisplayName(
            "F10 a configuration that is malformed from the start makes no provider and says why; corrected, it does")
    void malformedFromTheStart() {
        stage.deploy(TestBundle.eager(stage.device));
        var properties = TestProvider.properties("f10-malformed-" + stage.device.ordinal(), stage.device);
        properties.put("allocator", "((");
        var provider = stage.provider(properties);
        var refused = provider.awaitRefusal();
        assertThat(refused.reason).contains("allocator filter '((' is malformed");
        assertThat(refused.health).isEqualTo("DEGRADED");
        assertThat(provider.status()).isNull();
        assertThat(provider.service()).isNull();
        assertThat(stage.bindings()).isEmpty();

        provider.set("device", "nowhere");
        Await.await("another reason", provider::refusal, dto -> dto != null && dto.reason.contains("nowhere"));
        provider.set("device", stage.device.toString());
        provider.set("allocator", "");

        assertThat(provider.await("BOUND").filter).contains("(granule.device=" + stage.device + ")");
        assertThat(provider.refusal()).isNull();
    }

    @Test
    @DisplayName("F10 a second configuration with the name of a provider makes none, and leaves the first alone")
    void nameIsTaken() {
        var provider = serving();
        var before = provider.describe();
        try (var session = provider.open("kv")) {
            long token = session.allocate(100, 1);
            var second = stage.provider(
                    Map.of("name", provider.name, "device", stage.device.toString(), "tenant", "thief"), "f10-second");
            assertThat(second.awaitRefusal().reason).contains("name " + provider.name + " is taken");

            // There is one status and one service of that name, or this fails.
            requireUntouched(provider, before, session, token);
            stage.discard(second);
            stage.awaitConfiguration();
            requireUntouched(provider, before, session, token);
        }
    }

    @Test
    @DisplayName("F10 a deleted configuration ends its provider and gives everything back")
    void deleted() {
        var provider = serving();
        var session = provider.open("kv");
        session.allocate(100, 1);

        provider.delete();

        assertThat(provider.service()).isNull();
        assertThat(recipe.probe().ungets()).isEqualTo(1);
        assertThat(recipe.probe().calls("release")).isEqualTo(1);
        stage.requireSettled();
    }

    @Test
    @DisplayName("F10 a budget that is malformed from the start sets nothing; corrected, it does")
    void malformedBudget() throws Exception {
        var path = stage.device + "/f10-budget";
        var budget = stage.configuration("org.granule.budget", "f10-malformed-" + stage.device.ordinal());
        try {
            budget.update(Stage.dictionary(Map.of("account", path)));
            stage.awaitConfiguration();
            budget.update(Stage.dictionary(Map.of("account", path, "limit", "a lot")));
            stage.awaitConfiguration();
            budget.update(Stage.dictionary(Map.of("account", path, "limit", "64KiB")));
            Await.await("the limit", () -> {
                var account = stage.ledger(path);
                return account != null && account.limitBytes == 64 << 10;
            });
        } finally {
            budget.delete();
        }
        Await.await("the end of the limit", () -> stage.ledger(path).limitBytes == Long.MAX_VALUE);
    }

    @Test
    @DisplayName("F10 a budget from configuration changes at once; a malformed one is refused and the old one stays")
    void budget() throws Exception {
        var provider = serving();
        var path = stage.device + "/" + provider.describe().tenant;
        var budget = stage.configuration("org.granule.budget", "f10-" + stage.device.ordinal());
        try (var session = provider.open("kv")) {
            long token = session.allocate(1000, 1);
            budget.update(Stage.dictionary(Map.of("account", path, "limit", "64KiB")));
            Await.await("the limit", () -> stage.ledger(path).limitBytes == 64 << 10);
            budget.update(Stage.dictionary(Map.of("account", path, "limit", "a lot")));
            stage.awaitConfiguration();
            assertThat(stage.ledger(path).limitBytes).isEqualTo(64 << 10);
            budget.update(Stage.dictionary(Map.of("account", path, "limit", "0KiB")));
            Await.await("the lower limit", () -> stage.ledger(path).limitBytes == 0);
            assertThat(stage.ledger(path).ownedBytes).isEqualTo(1000);
            assertThat(stage.ledger(path).excessBytes).isEqualTo(1000);
            session.release(token);
        } finally {
            budget.delete();
        }
        Await.await("the end of the limit", () -> stage.ledger(path).limitBytes == Long.MAX_VALUE);
    }
}
