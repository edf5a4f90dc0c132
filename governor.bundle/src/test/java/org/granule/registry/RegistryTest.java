package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocatorDTO;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.BindingRefusedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceMismatchException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.user.Application;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.osgi.framework.ServiceReference;

/** Bindings from beginning to end. */
@Timeout(60)
class RegistryTest {

    private static final long G = PagedAllocator.GRANULE;

    /** Counts every call but that for the device. */
    private static PagedAllocator counting(AtomicLong devices, DeviceKey device) {
        return new PagedAllocator() {
            @Override
            public DeviceKey device() {
                devices.incrementAndGet();
                return device;
            }
        };
    }

    @Test
    @DisplayName("F01 another device: an error that names both, only device() was called")
    void deviceMismatch() {
        try (var bench = new Bench()) {
            var asked = new ArrayList<String>();
            var allocator = new EagerAllocator() {
                @Override
                public DeviceKey device() {
                    asked.add("device");
                    return new DeviceKey("cuda", 3);
                }

                @Override
                public boolean commitsOnDemand() {
                    asked.add("commitsOnDemand");
                    return false;
                }
            };
            assertThatThrownBy(() -> bench.bind(allocator))
                    .isInstanceOf(DeviceMismatchException.class)
                    .hasMessageContainingAll("fake:0", "cuda:3", "allocator 101");
            assertThat(asked).containsExactly("device");
            assertThat(allocator.calls).hasValue(0);
            assertThat(bench.registry.bindings()).isEmpty();
            bench.bind(new EagerAllocator(), 1);
        }
    }

    @Test
    @DisplayName("F01 a device that is null or throws is a fault")
    void noDevice() {
        try (var bench = new Bench()) {
            assertThatThrownBy(() -> bench.bind(new EagerAllocator(null))).isInstanceOf(AllocatorFaultException.class);
            var throwing = new EagerAllocator() {
                @Override
                public DeviceKey device() {
                    throw new IllegalStateException("boom");
                }
            };
            assertThatThrownBy(() -> bench.bind(throwing))
                    .isInstanceOf(AllocatorFaultException.class)
                    .hasMessageContaining("boom");
            assertThat(bench.registry.bindings()).isEmpty();
        }
    }

    @Test
    @DisplayName("F02 a second allocator for one generation: typed error, zero calls on it, the first intact")
    void lateInjection() {
        try (var bench = new Bench()) {
            var first = new EagerAllocator();
            var binding = bench.bind(first, 1);
            var devices = new AtomicLong();
            var late = counting(devices, Bench.DEVICE);
            assertThatThrownBy(() -> bench.bind(late, 1))
                    .isInstanceOf(BindingRefusedException.class)
                    .hasMessageContaining("p generation 1");
            assertThat(devices).hasValue(0);
            assertThat(late.calls).hasValue(0);
            var session = binding.open("a", "kv");
            assertThat(session.release(session.allocate(64, 64))).isEqualTo(new Complete(64));
            bench.bind(late, 2);
            assertThat(bench.registry.bindings())
                    .extracting(dto -> dto.serial)
                    .doesNotHaveDuplicates()
                    .hasSize(2);
        }
    }

    @Test
    @DisplayName("F09 a service that is gone, or remote, is not bound, and nobody is called")
    void notVouchedFor() {
        try (var bench = new Bench()) {
            var devices = new AtomicLong();
            var allocator = counting(devices, Bench.DEVICE);
            var gone = Fakes.reference(Fakes.properties(1), null);
            var properties = Fakes.properties(2);
            properties.put("service.imported", true);
            var remote = Fakes.reference(properties, Fakes.bundle(1, "remote"));
            for (var reference : List.of(gone, remote)) {
                assertThatThrownBy(() -> bench.registry.bind("p", 1, reference, allocator, Bench.DEVICE))
                        .isInstanceOf(BindingRefusedException.class);
                assertThat(bench.registry.describe(reference).state).isEqualTo("REFUSED");
            }
            assertThat(devices).hasValue(0);
            assertThat(allocator.calls).hasValue(0);
        }
    }

    @Test
    void allocatorsAreDescribedWithoutACall() {
        try (var bench = new Bench()) {
            for (int ranking : new int[] {0, 5, 5, -1}) {
                var properties = Fakes.properties(200 + bench.services.size());
                properties.put("service.ranking", ranking);
                properties.put("granule.mechanism", "fake");
                properties.put("granule.facets", new String[] {"backing", "sharing"});
                bench.services.add(Fakes.reference(properties, Fakes.bundle(3, "b")));
            }
            assertThat(bench.registry.allocators())
                    .extracting(dto -> dto.serviceId)
                    .containsExactly(201L, 202L, 200L, 203L);
            AllocatorDTO best = bench.registry.allocators().getFirst();
            assertThat(best.bundle).isEqualTo("b");
            assertThat(best.bundleId).isEqualTo(3);
            assertThat(best.version).isEqualTo("1.2.3");
            assertThat(best.device).isEqualTo("fake:0");
            assertThat(best.mechanism).isEqualTo("fake");
            assertThat(best.facets).isEqualTo("backing,sharing");
            assertThat(best.state).isEqualTo("AVAILABLE");
            @SuppressWarnings("unchecked")
            var reference = (ServiceReference<DeviceAllocator>) bench.services.get(1);
            var binding = bench.registry.bind("p", 7, reference, new EagerAllocator(), Bench.DEVICE);
            assertThat(bench.registry.allocators().getFirst().state).isEqualTo("BOUND");
            assertThat(bench.registry.allocators().getFirst().reason).contains("p generation 7");
            binding.close(Duration.ZERO);
            assertThat(bench.registry.allocators().getFirst().state).isEqualTo("AVAILABLE");
        }
    }

    @Test
    void viewsSayWhatIs() {
        try (var bench = new Bench()) {
            bench.registry.recordSites(true);
            var binding = bench.bind(new PagedAllocator());
            var session = Application.open(binding);
            long block = Application.allocate(session, 100);
            long reservation = session.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES);
            long prefix = session.share(reservation, 0, G);
            bench.registry.recordSites(false);
            long empty = session.allocate(0, 1);
            var view = binding.describe();
            assertThat(view.holder).isEqualTo("p");
            assertThat(view.generation).isEqualTo(1);
            assertThat(view.serial).isPositive();
            assertThat(view.device).isEqualTo("fake:0");
            assertThat(view.state).isEqualTo("OPEN");
            assertThat(view.liveAllocations).isEqualTo(4);
            assertThat(view.sessions).isEqualTo(1);
            assertThat(view.pendingReleases).isZero();
            assertThat(view.oldestPendingNanos).isZero();
            assertThat(view.faults).isZero();
            assertThat(view.lastFault).isNull();
            assertThat(view.driverCalls).isPositive();
            assertThat(view.allocator.bundle).isEqualTo("fake.allocator");
            assertThat(bench.registry.allocations())
                    .extracting(dto -> dto.token, dto -> dto.kind, dto -> dto.bytes)
                    .containsExactlyInAnyOrder(
                            tuple(block, "ALLOCATION", 100L),
                            tuple(reservation, "RESERVATION", 8 * G),
                            tuple(prefix, "PREFIX", G),
                            tuple(empty, "ALLOCATION", 0L));
            var dto = find(bench, block);
            assertThat(dto.provider).isEqualTo("p");
            assertThat(dto.account).isEqualTo("fake:0/a/kv").isEqualTo(session.account());
            assertThat(dto.address).isEqualTo(session.address(block));
            assertThat(dto.site).contains("Application.allocate");
            assertThat(dto.state).isEqualTo("LIVE");
            assertThat(dto.ageNanos).isNotNegative();
            assertThat(find(bench, empty).site).isNull();
            assertThat(bench.row("fake:0/a/kv").reservedBytes).isEqualTo(8 * G);
            session.close();
            assertThat(bench.registry.allocations()).isEmpty();
            assertThat(bench.row("fake:0").reservedBytes).isZero();
            binding.close(Duration.ZERO);
            assertThat(binding.describe().state).isEqualTo("CLOSED");
            assertThat(binding.describe().driverCalls).isEqualTo(-1);
            bench.checkLedger(0, 0, 0);
        }
    }

    private static AllocationDTO find(Bench bench, long token) {
        return bench.registry.allocations().stream()
                .filter(dto -> dto.token == token)
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("D07 a session dropped without close: reported with its site, quarantined, an operator releases it")
    void droppedSession() {
        for (boolean paged : new boolean[] {false, true}) {
            try (var bench = new Bench()) {
                EagerAllocator allocator = paged ? new PagedAllocator() : new EagerAllocator();
                long bytes = 2 * G;
                var binding = bench.bind(allocator);
                bench.registry.recordSites(true);
                long token = Application.forget(binding, bytes);
                Bench.await(() -> {
                    System.gc();
                    return !bench.reports.isEmpty();
                });
                assertThat(bench.reports).singleElement().satisfies(line -> assertThat(line)
                        .contains("dropped", "Application.open", "1 allocations"));
                var dto = find(bench, token);
                assertThat(dto.state).isEqualTo("QUARANTINED");
                assertThat(dto.reason).contains("Application.open");
                assertThat(dto.site).contains("Application.allocate");
                assertThat(dto.ownedBytes).isEqualTo(bytes);
                assertThat(allocator.liveBlocks())
                        .as("never freed behind the user's back")
                        .isEqualTo(1);
                bench.checkLedger(bytes, bytes, bytes);
                var cause = new DriverFaultException(Kind.INVALID, "no");
                allocator.outcome = given -> new Failed(cause);
                assertThat(bench.registry.settle(token)).isInstanceOf(Failed.class);
                bench.checkLedger(bytes, bytes, bytes);
                allocator.outcome = given -> given;
                assertThat(bench.registry.settle(token)).isEqualTo(new Complete(bytes));
                bench.checkLedger(0, 0, 0);
                assertThat(allocator.liveBlocks()).isZero();
                assertThatThrownBy(() -> bench.registry.settle(token)).isInstanceOf(StaleTokenException.class);
                assertThat(binding.describe().sessions).isZero();
            }
        }
    }

    @Test
    void aSessionInUseIsNotDropped() {
        try (var bench = new Bench()) {
            var binding = bench.bind(new EagerAllocator());
            var session = Application.open(binding);
            long token = session.allocate(64, 64);
            for (int i = 0; i < 5; i++) {
                System.gc();
            }
            assertThat(session.bytes(token)).isEqualTo(64);
            assertThat(bench.reports).isEmpty();
            session.close();
            assertThat(bench.reports).isEmpty();
        }
    }

    @Test
    @DisplayName("D08 a release that waits for a fence: still charged, its age visible, no release before the fence")
    void fence() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(64, 64);
            var passed = new AtomicBoolean();
            var stuck = new AtomicBoolean();
            long other = session.allocate(64, 64);
            var result = session.releaseAfter(token, passed::get).toCompletableFuture();
            var late = session.releaseAfter(other, stuck::get).toCompletableFuture();
            assertThatThrownBy(() -> session.bytes(token)).as("stale at once").isInstanceOf(StaleTokenException.class);
            assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
            assertThat(find(bench, token).state).isEqualTo("PENDING");
            assertThat(binding.describe().pendingReleases).isEqualTo(2);
            Bench.await(() -> binding.describe().oldestPendingNanos > 5_000_000);
            assertThat(allocator.liveBlocks()).isEqualTo(2);
            bench.checkLedger(128, 128, 0);
            passed.set(true);
            assertThat(result.join()).isEqualTo(new Complete(64));
            Bench.await(() -> binding.describe().pendingReleases == 1);
            assertThat(late).as("one that waits holds back no other").isNotDone();
            bench.checkLedger(64, 64, 0);
            stuck.set(true);
            assertThat(late.join()).isEqualTo(new Complete(64));
            bench.checkLedger(0, 0, 0);
            Bench.await(() -> binding.describe().pendingReleases == 0);
            assertThat(binding.describe().oldestPendingNanos).isZero();
        }
    }

    @Test
    @DisplayName("D08 a fence that is passed releases at once, one that throws counts as not passed")
    void fencesThatPassOrThrow() {
        try (var bench = new Bench()) {
            var session = bench.bind(new EagerAllocator()).open("a", "kv");
            long token = session.allocate(64, 64);
            assertThat(session.releaseAfter(token, () -> true).toCompletableFuture())
                    .isCompletedWithValue(new Complete(64));
            bench.checkLedger(0, 0, 0);
            long other = session.allocate(64, 64);
            assertThatThrownBy(() -> session.releaseAfter(other, () -> {
                        throw new IllegalStateException("boom");
                    }))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(session.bytes(other)).as("nothing was released").isEqualTo(64);
            var asked = new AtomicLong();
            var result = session.releaseAfter(other, () -> {
                long time = asked.incrementAndGet();
                if (time > 1 && time < 5) {
                    throw new IllegalStateException("boom");
                }
                return time >= 5;
            });
            assertThat(result.toCompletableFuture().join()).isEqualTo(new Complete(64));
            assertThat(asked.get()).isGreaterThanOrEqualTo(5);
        }
    }

    @Test
    @DisplayName("D08 a pending release that fails leaves the memory live for the end of its binding")
    void pendingReleaseFails() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long token = session.allocate(64, 64);
            allocator.outcome = given -> new Failed(new DriverFaultException(Kind.INVALID, "no"));
            var asked = new AtomicLong();
            var result = session.releaseAfter(token, () -> asked.incrementAndGet() > 2);
            assertThat(result.toCompletableFuture().join()).isInstanceOf(Failed.class);
            bench.checkLedger(64, 64, 0);
            allocator.outcome = given -> given;
            assertThat(binding.close(Duration.ofSeconds(5))).isZero();
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    @DisplayName("D08 a binding that ends waits for fences up to the bound; what is left is quarantined, untouched")
    void closeWithPending() {
        try (var bench = new Bench()) {
            var allocator = new EagerAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            long passing = session.allocate(64, 64);
            long stuck = session.allocate(128, 64);
            session.allocate(32, 32);
            long started = System.nanoTime();
            var result = session.releaseAfter(passing, () -> System.nanoTime() - started > 20_000_000);
            var never = session.releaseAfter(stuck, () -> false);
            assertThat(binding.close(Duration.ofMillis(300))).isEqualTo(128);
            assertThat(result.toCompletableFuture().join()).isEqualTo(new Complete(64));
            assertThat(never.toCompletableFuture().join()).isInstanceOf(Quarantined.class);
            bench.checkLedger(128, 128, 128);
            assertThat(allocator.liveBlocks()).isEqualTo(1);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> {
                assertThat(dto.token).isEqualTo(stuck);
                assertThat(dto.state).isEqualTo("QUARANTINED");
                assertThat(dto.reason).contains("fence");
            });
        }
    }

    @Test
    @DisplayName("F06 a binding that ends releases what lives; what fails is quarantined and listed")
    void closeWithLiveMemory() {
        try (var bench = new Bench()) {
            var allocator = new PagedAllocator();
            var binding = bench.bind(allocator);
            var session = binding.open("a", "kv");
            var other = binding.open("b", "kv");
            long creator = session.reserve(8 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES);
            long prefix = session.share(creator, 0, G);
            long sharer = other.reserve(8 * G, 1, Ranges.of(4 * G, G), Extents.PIECES);
            other.attach(sharer, 0, prefix);
            bench.checkLedger(3 * G, 4 * G, 0);
            var cause = new DriverFaultException(Kind.INVALID, "stuck");
            var failing = new AtomicBoolean(true);
            allocator.outcome = given -> failing.getAndSet(false) ? new Failed(cause) : given;
            long left = binding.close(Duration.ofSeconds(1));
            assertThat(left).isEqualTo(bench.row("fake:0").quarantinedBytes).isEqualTo(2 * G);
            assertThat(bench.registry.allocations()).singleElement().satisfies(dto -> {
                assertThat(dto.token).isEqualTo(creator);
                assertThat(dto.reason).contains("stuck");
            });
            bench.checkLedger(2 * G, 2 * G, 2 * G);
        }
    }

    @Test
    @DisplayName("A08 binding numbers and tokens are not used twice over many bindings")
    void manyBindings() {
        try (var bench = new Bench()) {
            var tokens = new HashSet<Long>();
            for (int i = 0; i < 2000; i++) {
                var binding = bench.bind(new EagerAllocator());
                var session = binding.open("a", "kv");
                assertThat(tokens.add(session.allocate(64, 64))).isTrue();
                assertThat(tokens.add(session.allocate(0, 1))).isTrue();
                binding.close(Duration.ZERO);
            }
            bench.checkLedger(0, 0, 0);
        }
    }

    @Test
    void bindingNumbersRunOutAndComeBack() {
        try (var bench = new Bench()) {
            var tokens = new HashSet<Long>();
            for (int i = 0; i < Token.MAX_BINDING + 100; i++) {
                var binding = bench.bind(new EagerAllocator());
                var session = binding.open("a", "kv");
                assertThat(tokens.add(session.allocate(0, 1))).isTrue();
                binding.close(Duration.ZERO);
            }
            assertThat(bench.registry.bindings()).isEmpty();
        }
    }

    @Test
    void closingTheRegistryEndsAllBindings() {
        var bench = new Bench();
        var allocator = new EagerAllocator();
        var session = bench.bind(allocator).open("a", "kv");
        session.allocate(64, 64);
        bench.close();
        assertThat(allocator.liveBlocks()).isZero();
        bench.checkLedger(0, 0, 0);
    }

    @Test
    @DisplayName("E09 malformed names of tenants and roles are refused")
    void malformedNames() {
        try (var bench = new Bench()) {
            var binding = bench.bind(new EagerAllocator());
            for (String name : new String[] {"", "idle", "a/b", " ", null}) {
                assertThatThrownBy(() -> binding.open(name, "kv")).isInstanceOf(InvalidRequestException.class);
            }
            assertThatThrownBy(() -> binding.open("a", "x/y")).isInstanceOf(InvalidRequestException.class);
            assertThat(binding.describe().sessions).isZero();
        }
    }
}
