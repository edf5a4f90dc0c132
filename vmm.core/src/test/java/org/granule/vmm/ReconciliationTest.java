package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.granule.vmm.Rig.G;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.groups.Tuple;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.FindingDTO;
import org.granule.memory.Ranges;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.vmm.Rig.Sizes;
import org.granule.vmm.TestLedger.TestAccount;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine's books against a device that somebody else changed, and against one that it changes itself. */
@Timeout(120)
class ReconciliationTest {

    private static final int WORKERS = 4;

    private final Rig rig = new Rig(Sizes.KEEPING);

    private ReconciliationDTO reconcile() {
        return rig.allocator.inspection().orElseThrow().reconcile();
    }

    private DeviceStateDTO state() {
        return rig.allocator.inspection().orElseThrow().state();
    }

    /** Checks what was found: kind, address, handle, bytes and account of each. */
    private void assertFinds(Tuple... findings) {
        var found = reconcile();
        assertThat(found.findings)
                .extracting(
                        one -> one.kind, one -> one.address, one -> one.handle, one -> one.bytes, one -> one.account)
                .containsExactlyInAnyOrder(findings);
        assertThat(found.findingCount).isEqualTo(findings.length);
        assertThat(found.differenceBytes)
                .isEqualTo(found.findings.stream().mapToLong(one -> one.bytes).sum());
    }

    /** Handles of a strict device are numbered from 1. */
    private long lastHandle() {
        long handle = rig.driver.create(G) - 1;
        rig.driver.release(handle + 1, G);
        return handle;
    }

    @Test
    void booksOfAllKindsAgree() {
        long creator = rig.backing.reserve(8 * G, 1, Ranges.of(0, 3 * G), Extents.PIECES, rig.anna);
        long prefix = rig.sharing.share(creator, 0, 2 * G);
        long sharer = rig.backing.reserve(8 * G, 1, Ranges.none(), Extents.PIECES, rig.bert);
        rig.sharing.map(prefix, sharer, 4 * G);
        long block = rig.allocate(5 * G, rig.anna);
        long kept = rig.allocate(7 * G, rig.anna);
        rig.releaseCompletely(kept, 7 * G, rig.anna);
        assertThat(rig.backing.decommit(creator, 2 * G, G)).isInstanceOf(Complete.class);

        var found = reconcile();
        assertThat(found.findings).isEmpty();
        assertThat(found.device).isEqualTo(rig.ledger.device.toString());
        // Two shared, one in the pool, and those of 5 and 7 granules in handles of at most 4.
        assertThat(found.handlesChecked).isEqualTo(7);
        assertThat(found.mappingsChecked).isEqualTo(2 + 2 + 4);
        assertThat(found.uncheckedBytes).isZero();

        var state = state();
        assertThat(state.totalBytes).isEqualTo(Sizes.KEEPING.capacity());
        assertThat(state.freeBytes).isEqualTo(state.totalBytes - state.ownedBytes);
        assertThat(state.ownedBytes).isEqualTo(rig.driver.liveBytes()).isEqualTo(rig.ledger.owned());
        assertThat(state.mappedBytes).isEqualTo(rig.driver.mappedBytes()).isEqualTo(rig.ledger.mapped());
        assertThat(state.pooledBytes)
                .isEqualTo(8 * G)
                .isEqualTo(rig.ledger.idle.figures().owned());
        assertThat(state.quarantinedBytes).isZero();
        assertThat(state.changing).isZero();
        rig.releaseCompletely(block, 5 * G, rig.anna);
        rig.releaseCompletely(sharer, 8 * G, rig.bert);
        rig.releaseCompletely(creator, 8 * G, rig.anna);
        assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
        rig.allocator.trim(Long.MAX_VALUE);
        assertThat(reconcile().handlesChecked).isZero();
        assertThat(state())
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes, dto -> dto.pooledBytes)
                .containsExactly(0L, 0L, 0L);
        rig.checkSpotless();
    }

    @Test
    @DisplayName("D13 an unmap behind the books is found, at its address")
    void unmapped() {
        long reservation = rig.backing.reserve(8 * G, 1, Ranges.of(0, 3 * G), Extents.PIECES, rig.anna);
        long handle = lastHandle();
        rig.driver.unmap(reservation + 2 * G, G);
        assertFinds(tuple(FindingDTO.MAPPING_MISSING, reservation + 2 * G, handle, G, rig.anna.path()));
    }

    @Test
    @DisplayName("D13 another handle in the place of one of the books is found")
    void replaced() {
        long reservation = rig.backing.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES, rig.anna);
        long handle = lastHandle();
        rig.driver.unmap(reservation, G);
        rig.driver.map(reservation, G, rig.driver.create(G));
        assertFinds(tuple(FindingDTO.OTHER_HANDLE, reservation, handle, G, rig.anna.path()));
    }

    @Test
    @DisplayName("D13 a handle released behind the books is found once, however many map it")
    void released() {
        long creator = rig.backing.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES, rig.anna);
        long handle = lastHandle();
        long prefix = rig.sharing.share(creator, 0, G);
        long sharer = rig.backing.reserve(8 * G, 1, Ranges.none(), Extents.PIECES, rig.bert);
        rig.sharing.map(prefix, sharer, 0);
        rig.driver.release(handle, G);
        assertFinds(tuple(FindingDTO.HANDLE_MISSING, 0L, handle, G, rig.anna.path()));
    }

    @Test
    @DisplayName("D13 the handles of a prefix that nobody maps, and those that wait in the pool, are looked for")
    void releasedWithoutMapping() {
        long creator = rig.backing.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES, rig.anna);
        long shared = lastHandle();
        rig.sharing.share(creator, 0, G);
        rig.backing.commit(creator, 4 * G, G);
        long idle = lastHandle();
        assertThat(rig.backing.decommit(creator, 0, 8 * G)).isInstanceOf(Complete.class);
        rig.driver.release(shared, G);
        rig.driver.release(idle, G);
        assertFinds(
                tuple(FindingDTO.HANDLE_MISSING, 0L, shared, G, rig.anna.path()),
                tuple(FindingDTO.HANDLE_MISSING, 0L, idle, G, rig.ledger.idle.path()));
    }

    @Test
    @DisplayName("D13 a kept block is nobody's but still in the books")
    void keptBlock() {
        long block = rig.allocate(4 * G, rig.anna);
        long handle = lastHandle();
        rig.releaseCompletely(block, 4 * G, rig.anna);
        rig.driver.unmap(block, 4 * G);
        rig.driver.release(handle, 4 * G);
        assertFinds(
                tuple(FindingDTO.MAPPING_MISSING, block, handle, 4 * G, rig.ledger.idle.path()),
                tuple(FindingDTO.HANDLE_MISSING, 0L, handle, 4 * G, rig.ledger.idle.path()));
    }

    @Test
    @DisplayName(
            "D13 mappings that nobody knows are found where nothing is committed and where nobody is, each run once")
    void unknown() {
        long reservation = rig.backing.reserve(16 * G, 1, Ranges.of(4 * G, 4 * G), Extents.PIECES, rig.anna);
        long gone = rig.backing.reserve(16 * G, 1, Ranges.none(), Extents.PIECES, rig.anna);
        rig.backing.reserve(G, 1, Ranges.none(), Extents.PIECES, rig.anna);
        rig.releaseCompletely(gone, 16 * G, rig.anna);
        for (long at : new long[] {reservation + 3 * G, reservation + 8 * G, reservation + 9 * G, gone + 5 * G}) {
            rig.driver.map(at, G, rig.driver.create(G));
        }
        assertFinds(
                tuple(FindingDTO.UNKNOWN_MAPPING, reservation + 3 * G, -1L, G, rig.anna.path()),
                tuple(FindingDTO.UNKNOWN_MAPPING, reservation + 8 * G, -1L, 2 * G, rig.anna.path()),
                tuple(FindingDTO.UNKNOWN_MAPPING, gone + 5 * G, -1L, G, null));
        assertThat(rig.allocator.freeSpans()).as("what was held is given back").isEqualTo(2);
    }

    @Test
    @DisplayName("D13 free addresses that are looked at again are not handed out meanwhile")
    void freeAddressesAreHeld() {
        var beforeLook = new ArrayDeque<Runnable>();
        var held = new Rig(Sizes.BARE, driver -> (VmmDriver) Proxy.newProxyInstance(
                VmmDriver.class.getClassLoader(), new Class<?>[] {VmmDriver.class}, (self, method, args) -> {
                    if ("truth".equals(method.getName()) && !beforeLook.isEmpty()) {
                        beforeLook.remove().run();
                    }
                    return method.invoke(driver, args);
                }));
        long gone = held.backing.reserve(G, 1, Ranges.none(), Extents.PIECES, held.anna);
        held.backing.reserve(G, 1, Ranges.none(), Extents.PIECES, held.anna);
        held.releaseCompletely(gone, G, held.anna);
        long handle = held.driver.create(G);
        held.driver.map(gone, G, handle);
        beforeLook.add(() -> {});
        beforeLook.add(() -> {
            held.driver.unmap(gone, G);
            assertThat(held.allocate(G, held.anna)).isNotEqualTo(gone);
        });
        assertThat(held.allocator.inspection().orElseThrow().reconcile().findings)
                .isEmpty();
        assertThat(beforeLook).as("it was looked at again").isEmpty();
        assertThat(held.allocate(G, held.anna)).as("given back").isEqualTo(gone);
    }

    @Test
    @DisplayName("D13 what is in quarantine is counted and not looked for")
    void quarantined() {
        long reservation = rig.backing.reserve(16 * G, 1, Ranges.of(0, 2 * G), Extents.PIECES, rig.anna);
        rig.driver.fail(Call.UNMAP, 1, Kind.INVALID);
        assertThat(rig.release(reservation, 16 * G, rig.anna)).isInstanceOf(Quarantined.class);
        // Whether an unmap that failed had an effect is not known.
        rig.driver.unmap(reservation, G);
        var found = reconcile();
        assertThat(found.findings).isEmpty();
        assertThat(found.quarantinedBytes).isEqualTo(2 * G);
        assertThat(state().quarantinedBytes).isEqualTo(2 * G);
        assertThat(state().mappedBytes).isEqualTo(2 * G).isEqualTo(rig.ledger.mapped());
    }

    @Test
    void addressesFarAboveTheDeviceAreLookedAtUpToABound() {
        long most = 1L << 16;
        rig.backing.reserve(4 * most * G, 1, Ranges.of(8 * G, G), Extents.PIECES, rig.anna);
        assertThat(reconcile().uncheckedBytes).isEqualTo((3 * most - 1) * G);
    }

    @Test
    @DisplayName("D13 findings are counted all and listed up to a bound")
    void many() {
        int granules = ReconciliationDTO.MOST_FINDINGS + 10;
        var large = new Rig(Sizes.BARE.withCapacity(2L * granules * G));
        long reservation =
                large.backing.reserve(granules * G, 1, Ranges.of(0, granules * G), Extents.PIECES, large.anna);
        large.driver.unmap(reservation, granules * G);
        var found = large.allocator.inspection().orElseThrow().reconcile();
        assertThat(found.findingCount).isEqualTo(granules);
        assertThat(found.findings).hasSize(ReconciliationDTO.MOST_FINDINGS);
        assertThat(found.differenceBytes).isEqualTo(granules * G);
    }

    @Test
    @DisplayName("D06 a lost device is not asked: reconciliation is refused, the books are shown")
    void lost() {
        long reservation = rig.backing.reserve(8 * G, 1, Ranges.of(0, G), Extents.PIECES, rig.anna);
        rig.driver.fail(Call.CREATE, 1, Kind.DEVICE_LOST);
        assertThatThrownBy(() -> rig.backing.commit(reservation, G, G)).isInstanceOf(DriverFaultException.class);
        assertThatThrownBy(this::reconcile).isInstanceOfSatisfying(DriverFaultException.class, e -> assertThat(e.kind())
                .isEqualTo(Kind.DEVICE_LOST));
        assertThat(state())
                .extracting(dto -> dto.totalBytes, dto -> dto.freeBytes, dto -> dto.ownedBytes)
                .containsExactly(-1L, -1L, G);
        assertThat(rig.driver.violations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("D13 while threads allocate, commit, share and release, nothing is ever found")
    void whileAllocationsGoOn(boolean keeping) throws Exception {
        var busy = new Rig(keeping ? Sizes.KEEPING.withIdle(16 * G).withKept(64 * G) : Sizes.BARE);
        var inspection = busy.allocator.inspection().orElseThrow();
        var working = new AtomicInteger(WORKERS);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            int worker = i;
            tasks.add(() -> {
                try {
                    work(busy, worker % 2 == 0 ? busy.anna : busy.bert, new Random(worker));
                } finally {
                    working.decrementAndGet();
                }
                return null;
            });
        }
        tasks.add(() -> {
            long checked = 0;
            do {
                var found = inspection.reconcile();
                assertThat(found.findings).isEmpty();
                checked += found.mappingsChecked;
            } while (working.get() > 0);
            assertThat(checked).isPositive();
            return null;
        });
        try (var threads = Executors.newFixedThreadPool(tasks.size())) {
            for (var result : threads.invokeAll(tasks)) {
                result.get();
            }
        }
        assertThat(inspection.reconcile().findings).isEmpty();
        assertThat(inspection.state().changing).isZero();
        busy.check();
        busy.checkSpotless();
    }

    private static void work(Rig rig, TestAccount account, Random random) {
        long lasting = rig.backing.reserve(32 * G, 1, Ranges.of(0, 4 * G), Extents.PIECES, account);
        for (int i = 0; i < 300; i++) {
            long block = rig.allocate((1 + random.nextInt(5)) * G, account);
            rig.backing.commit(lasting, (8 + random.nextInt(16)) * G, (1 + random.nextInt(8)) * G);
            long prefix = rig.sharing.share(lasting, 0, 2 * G);
            long sharer = rig.backing.reserve(8 * G, 1, Ranges.none(), Extents.PIECES, account);
            rig.sharing.map(prefix, sharer, 2 * G);
            if (random.nextBoolean()) {
                rig.sharing.privatise(sharer, 2 * G, G);
            }
            assertThat(rig.sharing.retire(prefix)).isInstanceOf(Complete.class);
            assertThat(rig.backing.decommit(lasting, (8 + random.nextInt(16)) * G, 8 * G))
                    .isInstanceOf(Complete.class);
            assertThat(rig.release(sharer, 8 * G, account)).isInstanceOf(Complete.class);
            assertThat(rig.release(block, 1, account)).isInstanceOf(Complete.class);
        }
        rig.releaseCompletely(lasting, 32 * G, account);
    }
}
