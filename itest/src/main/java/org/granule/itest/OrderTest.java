package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.osgi.framework.Bundle;

/** The bundles of the platform start and stop in every order, with memory in use. */
class OrderTest extends StageTest {

    private static final long GRANULE = 4096;
    private static final String ALLOCATOR = "test.allocator.engine";
    private static final List<String> NAMES =
            List.of("org.granule.governor", "org.granule.provider", "org.granule.host", ALLOCATOR);

    /** All orders of the four. */
    static Stream<List<String>> orders() {
        var orders = new ArrayList<List<String>>();
        permute(new ArrayList<>(NAMES), 0, orders);
        return orders.stream();
    }

    private static void permute(List<String> names, int from, List<List<String>> orders) {
        if (from == names.size()) {
            orders.add(List.copyOf(names));
        }
        for (int i = from; i < names.size(); i++) {
            Collections.swap(names, from, i);
            permute(names, from + 1, orders);
            Collections.swap(names, from, i);
        }
    }

    @AfterEach
    void startAll() {
        for (var name : NAMES) {
            if (!ALLOCATOR.equals(name)) {
                Stage.start(stage.bundle(name));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("orders")
    @DisplayName("F11 bundles stop in any order with memory in use, start in the same order, and serve again")
    void stopAndStart(List<String> order) {
        var recipe = TestBundle.engine(stage.device).named(ALLOCATOR);
        stage.deploy(recipe);
        var provider = stage.provider("f11");
        var host = TestProvider.properties("f11-host-" + stage.device.ordinal(), "host:0");
        host.put("allocator", "(granule.mechanism=host-vmm)");
        var onHost = stage.provider(host);
        use(provider);
        use(onHost);

        order.forEach(name -> Stage.stop(stage.bundle(name)));

        assertThat(provider.service()).isNull();
        assertThat(provider.status()).isNull();
        assertThat(recipe.probe().late()).isEmpty();
        assertThat(recipe.probe().leftover()).isEqualTo("nothing");
        assertThat(recipe.probe().ungets()).isEqualTo(recipe.probe().gets());

        order.forEach(name -> Stage.start(stage.bundle(name)));

        use(provider);
        use(onHost);
        assertThat(NAMES.stream().map(stage::bundle).map(Bundle::getState)).containsOnly(Bundle.ACTIVE);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("orders")
    @DisplayName("F11 each bundle is restarted alone, in any order, and the provider serves after each")
    void restartOneAfterTheOther(List<String> order) {
        var recipe = TestBundle.engine(stage.device).named(ALLOCATOR);
        stage.deploy(recipe);
        var provider = stage.provider("f11-restart");
        for (var name : order) {
            use(provider);
            Stage.stop(stage.bundle(name));
            Stage.start(stage.bundle(name));
        }
        use(provider);
        assertThat(recipe.probe().late()).isEmpty();
    }

    /** Uses memory and leaves a session open with some of it. */
    private void use(TestProvider provider) {
        provider.await("BOUND");
        try (var session = provider.open("kv")) {
            long block = session.allocate(GRANULE, 64);
            session.fill(block, 0, GRANULE, (byte) 5);
            assertThat(session.release(block)).isInstanceOf(Complete.class);
        }
        var left = provider.open("weights");
        left.allocate(GRANULE, 64);
        left.releaseAfter(left.allocate(GRANULE, 64), () -> true);
        long reservation = left.reserve(1L << 24, GRANULE, Ranges.of(0, GRANULE), Extents.PIECES);
        long prefix = left.share(reservation, 0, left.granuleBytes());
        left.attach(left.reserve(1L << 24, GRANULE, Ranges.none(), Extents.PIECES), 0, prefix);
    }
}
