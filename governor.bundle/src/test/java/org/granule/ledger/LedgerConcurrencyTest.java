package org.granule.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.governor.AccountDTO;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Budgets with 16 threads. */
@Timeout(60)
class LedgerConcurrencyTest {

    private static final DeviceKey DEVICE = new DeviceKey("fake", 0);
    private static final int THREADS = 16;
    private static final long GRANULE = 2 << 20;

    private final Ledger ledger = new Ledger();

    private interface Work {
        void run(int thread) throws Exception;
    }

    private static void together(int count, Work work) throws Exception {
        var barrier = new CyclicBarrier(count);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int thread = i;
            tasks.add(() -> {
                barrier.await();
                work.run(thread);
                return null;
            });
        }
        try (var threads = Executors.newFixedThreadPool(count)) {
            for (var result : threads.invokeAll(tasks)) {
                result.get();
            }
        }
    }

    private AccountDTO row(String path) {
        return ledger.ledger().stream()
                .filter(dto -> dto.path.equals(path))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, GRANULE})
    @DisplayName("E01 16 threads at one granule below the limit, one in ten fails: never above it, ends at 0")
    void nearTheLimit(long granule) throws Exception {
        long limit = 8 * granule;
        ledger.limit("fake:0/a", limit);
        var account = ledger.account(DEVICE, "a", "kv");
        account.charge(7 * granule, 0);
        var live = new AtomicLong(7 * granule);
        together(THREADS, thread -> {
            var random = new Random(thread);
            for (int i = 0; i < 20_000; i++) {
                try {
                    account.charge(granule, granule);
                } catch (BudgetExceededException e) {
                    continue;
                }
                assertThat(live.addAndGet(granule)).isLessThanOrEqualTo(limit);
                if (random.nextInt(10) > 0) {
                    Thread.onSpinWait();
                }
                live.addAndGet(-granule);
                account.refund(granule, granule);
            }
        });
        account.refund(7 * granule, 0);
        assertThat(row("fake:0").ownedBytes).isZero();
        assertThat(row("fake:0").mappedBytes).isZero();
        assertThat(row("fake:0/a").peakOwnedBytes).isLessThanOrEqualTo(limit);
        assertThat(ledger.alarms()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 1000, GRANULE})
    @DisplayName("E01 no claim that fits is refused, whatever the stripes hold")
    void noSpuriousRefusal(long granule) throws Exception {
        ledger.limit("fake:0", THREADS * granule);
        together(THREADS, thread -> {
            var account = ledger.account(DEVICE, "t" + thread % 3, "r" + thread % 2);
            for (int i = 0; i < 10_000; i++) {
                // At most 16 of these are live at any time, and 16 fit.
                account.charge(granule, 0);
                account.refund(granule, 0);
            }
        });
        assertThat(row("fake:0").ownedBytes).isZero();
        var last = ledger.account(DEVICE, "last", "kv");
        last.charge(THREADS * granule, 0);
        last.refund(THREADS * granule, 0);
        assertThat(row("fake:0").refusals).isZero();
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E01 another account's credit is no reason for a refusal")
    void creditOfOthersIsSwept() throws Exception {
        long limit = 1L << 40;
        ledger.limit("fake:0", limit);
        together(THREADS, thread -> {
            var account = ledger.account(DEVICE, "t" + thread, "kv");
            account.charge(GRANULE, 0);
            account.refund(GRANULE, 0);
        });
        var all = ledger.account(DEVICE, "all", "kv");
        all.charge(limit, 0);
        all.refund(limit, 0);
        assertThat(row("fake:0").ownedBytes).isZero();
    }

    @Test
    @DisplayName("E04 a limit lowered under 16 threads holds from then on")
    void limitLoweredMeanwhile() throws Exception {
        var lowered = new AtomicLong(Long.MAX_VALUE);
        var account = ledger.account(DEVICE, "a", "kv");
        var live = new AtomicLong();
        together(THREADS, thread -> {
            for (int i = 0; i < 5000; i++) {
                if (thread == 0 && i == 1000) {
                    ledger.limit("fake:0", 4 * GRANULE);
                    lowered.set(4 * GRANULE);
                }
                boolean after = lowered.get() < Long.MAX_VALUE;
                try {
                    account.charge(GRANULE, GRANULE);
                } catch (BudgetExceededException e) {
                    continue;
                }
                long now = live.addAndGet(GRANULE);
                if (after) {
                    // What was charged before the limit was lowered may still be live in 15 other threads.
                    assertThat(now).isLessThanOrEqualTo(THREADS * GRANULE);
                }
                live.addAndGet(-GRANULE);
                account.refund(GRANULE, GRANULE);
            }
        });
        assertThat(row("fake:0").ownedBytes).isZero();
        together(THREADS, thread -> {
            for (int i = 0; i < 5000; i++) {
                try {
                    account.charge(GRANULE, 0);
                } catch (BudgetExceededException e) {
                    continue;
                }
                assertThat(live.addAndGet(GRANULE)).isLessThanOrEqualTo(4 * GRANULE);
                live.addAndGet(-GRANULE);
                account.refund(GRANULE, 0);
            }
        });
        assertThat(row("fake:0").ownedBytes).isZero();
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E05 a lease closed from 16 threads at once is returned once")
    void leaseClosedByMany() throws Exception {
        var account = ledger.account(DEVICE, "a", "kv");
        account.charge(1_000_000, 0);
        for (int round = 0; round < 50; round++) {
            var lease = ledger.claim(account, 100);
            together(THREADS, thread -> {
                if (thread == 3) {
                    try {
                        lease.resize(500);
                    } catch (RuntimeException e) {
                        assertThat(e).hasMessageContaining("closed");
                    }
                }
                lease.close();
            });
            assertThat(row("fake:0").ownedBytes).isEqualTo(1_000_000);
        }
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName(
            "E08 the snapshot is consistent while 16 threads run: every sum is that of its parts, no axis goes wrong")
    void snapshots() throws Exception {
        ledger.limit("fake:0", 40 * GRANULE);
        var running = new AtomicBoolean(true);
        var idle = ledger.idle(DEVICE);
        together(THREADS + 1, thread -> {
            if (thread == THREADS) {
                for (int i = 0; i < 500; i++) {
                    checkSnapshot();
                }
                running.set(false);
                return;
            }
            var account = ledger.account(DEVICE, "t" + thread % 4, "r" + thread % 3);
            var random = new Random(thread);
            while (running.get()) {
                long bytes = random.nextInt(5) * GRANULE;
                try {
                    account.charge(bytes, 0);
                } catch (BudgetExceededException e) {
                    continue;
                }
                account.charge(0, bytes);
                account.moveTo(idle, bytes, bytes);
                idle.moveTo(account, bytes, bytes);
                account.refund(0, bytes);
                account.refund(bytes, 0);
            }
        });
        assertThat(row("fake:0").ownedBytes).isZero();
        assertThat(row("fake:0").mappedBytes).isZero();
        assertThat(ledger.alarms()).as("false alarms").isZero();
    }

    private void checkSnapshot() {
        var rows = ledger.ledger();
        for (var row : rows) {
            assertThat(row.ownedBytes).isBetween(0L, 40 * GRANULE);
            assertThat(row.mappedBytes).isNotNegative();
            assertThat(row.peakOwnedBytes).isGreaterThanOrEqualTo(row.ownedBytes);
            var parts = rows.stream()
                    .filter(part -> part.depth == row.depth + 1 && part.path.startsWith(row.path + "/"))
                    .toList();
            if (!parts.isEmpty()) {
                assertThat(row.ownedBytes)
                        .isEqualTo(parts.stream()
                                .mapToLong(part -> part.ownedBytes)
                                .sum());
                assertThat(row.mappedBytes)
                        .isEqualTo(parts.stream()
                                .mapToLong(part -> part.mappedBytes)
                                .sum());
            }
        }
    }

    @Test
    @DisplayName("E03 more refunded than charged, spread over threads: an alarm, never negative")
    void refundsAboveChargeSpreadOverThreads() throws Exception {
        var account = ledger.account(DEVICE, "a", "kv");
        account.charge(100, 100);
        together(THREADS, thread -> account.refund(100, 100));
        assertThat(ledger.alarms()).isPositive();
        assertThat(row("fake:0").ownedBytes).isZero();
        assertThat(row("fake:0").mappedBytes).isZero();
        account.charge(100, 100);
        assertThat(row("fake:0").ownedBytes).isEqualTo(100);
        assertThat(row("fake:0").mappedBytes).isEqualTo(100);
    }
}
