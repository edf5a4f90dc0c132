package org.granule.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.granule.governor.AccountDTO;
import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.StaleTokenException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Budgets, one operation after another. */
class LedgerTest {

    private static final DeviceKey DEVICE = new DeviceKey("fake", 0);
    private static final long MIB = 1 << 20;

    private final Ledger ledger = new Ledger();
    private final LedgerAccount kv = ledger.account(DEVICE, "a", "kv");

    private AccountDTO row(String path) {
        return ledger.ledger().stream()
                .filter(dto -> dto.path.equals(path))
                .findFirst()
                .orElseThrow();
    }

    private long owned(String path) {
        return row(path).ownedBytes;
    }

    @Test
    @DisplayName("E02 exactly the limit is legal, one byte more is refused at every level")
    void exactlyTheLimit() {
        for (String path : new String[] {"fake:0", "fake:0/a", "fake:0/a/kv"}) {
            ledger.limit(path, 1000);
            kv.charge(1000, 0);
            assertThatThrownBy(() -> kv.charge(1, 0)).isInstanceOfSatisfying(BudgetExceededException.class, e -> {
                assertThat(e.account()).isEqualTo("fake:0/a/kv");
                assertThat(e.limitedBy()).isEqualTo(path);
                assertThat(e.askedBytes()).isEqualTo(1);
                assertThat(e.usedBytes()).isEqualTo(1000);
                assertThat(e.limitBytes()).isEqualTo(1000);
                assertThat(e.availableBytes()).isZero();
            });
            assertThat(owned(path)).isEqualTo(1000);
            kv.refund(1000, 0);
            ledger.limit(path, Long.MAX_VALUE);
        }
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E02 a refusal says device, asked, used, limit, available, role, account and what to do")
    void refusalSaysAll() {
        ledger.limit("fake:0/a", 64 * MIB);
        kv.charge(60 * MIB, 60 * MIB);
        var error = catchThrowableOfType(BudgetExceededException.class, () -> kv.charge(6 * MIB, 0));
        assertThat(error)
                .hasMessageContainingAll(
                        "G100",
                        "fake:0/a/kv",
                        "device fake:0",
                        "role kv",
                        "6291456 bytes (6 MiB)",
                        "62914560 bytes (60 MiB)",
                        "67108864 bytes (64 MiB)",
                        "available 4194304 bytes (4 MiB)",
                        "Release 2097152 bytes",
                        "granule:limit fake:0/a 69206016");
        kv.refund(60 * MIB, 60 * MIB);
        assertThat(row("fake:0/a/kv").refusals).isEqualTo(1);
        assertThat(row("fake:0").refusals).isEqualTo(1);
    }

    @Test
    @DisplayName("E03 sums that overflow are refused and change nothing")
    void sumsThatOverflow() {
        kv.charge(Long.MAX_VALUE - 5, 0);
        assertThatThrownBy(() -> kv.charge(6, 0)).isInstanceOf(InvalidRequestException.class);
        var other = ledger.account(DEVICE, "b", "kv");
        assertThatThrownBy(() -> other.charge(Long.MAX_VALUE, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.record(other, Long.MAX_VALUE)).isInstanceOf(InvalidRequestException.class);
        other.charge(5, 0);
        assertThat(owned("fake:0")).isEqualTo(Long.MAX_VALUE);
        other.refund(5, 0);
        kv.refund(Long.MAX_VALUE - 5, 0);
        assertThat(owned("fake:0")).isZero();
        assertThat(ledger.alarms()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE})
    @DisplayName("E03 negative amounts are refused")
    void negativeAmounts(long bytes) {
        var other = ledger.account(DEVICE, "b", "kv");
        assertThatThrownBy(() -> kv.charge(bytes, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.charge(0, bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.refund(bytes, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.refund(0, bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.moveTo(other, bytes, 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.quarantine(bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> kv.settle(bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.claim(kv, bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.record(kv, bytes)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.limit("fake:0", bytes)).isInstanceOf(InvalidRequestException.class);
        try (var lease = ledger.claim(kv, 7)) {
            assertThatThrownBy(() -> lease.resize(bytes)).isInstanceOf(InvalidRequestException.class);
            assertThat(lease.bytes()).isEqualTo(7);
        }
        assertThat(owned("fake:0")).isZero();
    }

    @Test
    @DisplayName("E03 more than is charged is never refunded, on any axis: counters stop at 0 and the alarm rises")
    void refundsAboveCharge() {
        kv.charge(100, 40);
        kv.refund(150, 0);
        assertThat(ledger.alarms()).isEqualTo(1);
        assertThat(row("fake:0/a/kv"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes)
                .containsExactly(0L, 40L);
        kv.refund(0, 50);
        assertThat(ledger.alarms()).isEqualTo(2);
        kv.charge(10, 10);
        assertThat(row("fake:0/a/kv"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes)
                .containsExactly(10L, 10L);
        kv.refund(20, 20);
        assertThat(ledger.alarms()).isEqualTo(3);
        assertThat(row("fake:0"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes)
                .containsExactly(0L, 0L);
        kv.quarantine(0);
        kv.settle(5);
        assertThat(ledger.alarms()).isGreaterThan(3);
        assertThat(row("fake:0").quarantinedBytes).isZero();
    }

    @Test
    @DisplayName("E03 moving what was never charged raises the alarm, and every sum stays that of its parts")
    void moveOfWhatIsNotThere() {
        var other = ledger.account(DEVICE, "b", "kv");
        kv.charge(10, 10);
        kv.moveTo(other, 100, 100);
        assertThat(ledger.alarms()).isEqualTo(1);
        assertThat(owned("fake:0/a")).isZero();
        assertThat(owned("fake:0/b")).isEqualTo(100);
        assertThat(owned("fake:0")).isEqualTo(100);
        other.refund(100, 100);
        assertThat(row("fake:0"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.mappedBytes)
                .containsExactly(0L, 0L);
        assertThat(ledger.alarms()).isEqualTo(1);
    }

    @Test
    @DisplayName("E04 a limit lowered below use revokes nothing, blocks new claims, reports the excess, raising heals")
    void limitBelowUse() {
        kv.charge(100 * MIB, 0);
        assertThat(ledger.limit("fake:0/a", 60 * MIB)).isEqualTo(40 * MIB);
        assertThat(row("fake:0/a").excessBytes).isEqualTo(40 * MIB);
        assertThatThrownBy(() -> kv.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        kv.refund(30 * MIB, 0);
        assertThat(owned("fake:0/a")).isEqualTo(70 * MIB);
        assertThatThrownBy(() -> kv.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        kv.refund(30 * MIB, 0);
        kv.charge(20 * MIB, 0);
        assertThatThrownBy(() -> kv.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        assertThat(ledger.limit("fake:0/a", 61 * MIB)).isZero();
        kv.charge(MIB, 0);
        assertThat(row("fake:0/a").excessBytes).isZero();
        kv.refund(61 * MIB, 0);
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E04 what is refunded after a limit was lowered is no credit for new claims")
    void noCreditAboveALoweredLimit() {
        kv.charge(100 * MIB, 0);
        kv.refund(MIB, 0);
        kv.charge(MIB, 0);
        ledger.limit("fake:0/a", 50 * MIB);
        for (int i = 0; i < 40; i++) {
            kv.refund(MIB, 0);
            assertThatThrownBy(() -> kv.charge(MIB, 0)).isInstanceOf(BudgetExceededException.class);
        }
        assertThat(owned("fake:0")).isEqualTo(60 * MIB);
    }

    @Test
    @DisplayName("E05 a lease is returned once: double close, close after grow")
    void leaseReturnedOnce() {
        var lease = ledger.claim(kv, 100);
        assertThat(row("fake:0/a/kv").leases).isEqualTo(1);
        assertThat(row("fake:0").leasedBytes).isEqualTo(row("fake:0").ownedBytes);
        lease.resize(150);
        assertThat(owned("fake:0")).isEqualTo(150);
        lease.close();
        lease.close();
        assertThat(owned("fake:0")).isZero();
        assertThat(row("fake:0/a/kv").leases).isZero();
        assertThat(row("fake:0").leasedBytes).isZero();
        assertThat(lease.bytes()).isZero();
        assertThatThrownBy(() -> lease.resize(1)).isInstanceOf(StaleTokenException.class);
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E06 grow charges the difference, refused growth keeps the size, shrink gives the difference back")
    void resize() {
        ledger.limit("fake:0", 200);
        try (var lease = ledger.claim(kv, 100)) {
            lease.resize(200);
            assertThat(owned("fake:0")).isEqualTo(200);
            assertThatThrownBy(() -> lease.resize(201)).isInstanceOfSatisfying(BudgetExceededException.class, e -> {
                assertThat(e.askedBytes()).isEqualTo(1);
                assertThat(e.usedBytes()).isEqualTo(200);
            });
            assertThat(lease.bytes()).isEqualTo(200);
            lease.resize(50);
            assertThat(owned("fake:0")).isEqualTo(50);
            lease.resize(0);
            lease.resize(0);
            assertThat(owned("fake:0")).isZero();
        }
        assertThat(owned("fake:0")).isZero();
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E07 bytes taken already can be recorded above the limit, and show as oversubscribed")
    void record() {
        ledger.limit("fake:0", 100);
        var other = ledger.account(DEVICE, "b", "kv");
        other.charge(30, 0);
        var lease = ledger.record(kv, 150);
        assertThat(row("fake:0"))
                .extracting(dto -> dto.ownedBytes, dto -> dto.excessBytes)
                .containsExactly(180L, 80L);
        assertThatThrownBy(() -> other.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        other.refund(30, 0);
        assertThatThrownBy(() -> other.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        assertThat(row("fake:0").mappedBytes).isZero();
        lease.close();
        other.charge(100, 0);
        assertThat(row("fake:0").excessBytes).isZero();
        other.refund(100, 0);
        assertThat(ledger.alarms()).isZero();
    }

    @Test
    @DisplayName("E07 no credit is left to others once recorded bytes have used the room")
    void recordTakesTheRoom() {
        ledger.limit("fake:0", 100 * MIB);
        var other = ledger.account(DEVICE, "b", "kv");
        other.charge(10, 0);
        var lease = ledger.record(kv, 100 * MIB - 10);
        assertThatThrownBy(() -> other.charge(1, 0)).isInstanceOf(BudgetExceededException.class);
        assertThat(row("fake:0").excessBytes).isZero();
        lease.close();
        other.refund(10, 0);
        assertThat(owned("fake:0")).isZero();
    }

    @Test
    @DisplayName("E08 axes are never added together")
    void axes() {
        kv.charge(100, 0);
        kv.charge(0, 500);
        kv.reserved(10_000);
        kv.quarantine(60);
        var row = row("fake:0");
        assertThat(row.ownedBytes).isEqualTo(100);
        assertThat(row.mappedBytes).isEqualTo(500);
        assertThat(row.reservedBytes).isEqualTo(10_000);
        assertThat(row.quarantinedBytes).isEqualTo(60);
        kv.settle(60);
        row = row("fake:0/a/kv");
        assertThat(row.ownedBytes).isEqualTo(40);
        assertThat(row.mappedBytes).isEqualTo(500);
        assertThat(row.quarantinedBytes).isZero();
        assertThat(row.peakOwnedBytes).isEqualTo(100);
        ledger.limit("fake:0", 40);
        kv.charge(0, 1 << 20);
        kv.reserved(-10_000);
        assertThat(row("fake:0").reservedBytes).isZero();
    }

    @Test
    @DisplayName("E09 an account is issued, the same at every call, and another ledger's is refused")
    void accountsAreIssued() {
        assertThat(ledger.account(DEVICE, "a", "kv")).isSameAs(kv);
        assertThat(kv.idle()).isSameAs(ledger.idle(DEVICE)).isSameAs(kv.idle().idle());
        assertThat(kv.sameLedger(kv.idle())).isTrue();
        var foreign = new Ledger().account(DEVICE, "a", "kv");
        var elsewhere = ledger.account(new DeviceKey("fake", 1), "a", "kv");
        for (Account other : new Account[] {foreign, elsewhere}) {
            assertThat(kv.sameLedger(other)).isFalse();
            assertThatThrownBy(() -> kv.moveTo(other, 1, 1)).isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> ledger.claim(foreign, 1)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.record(foreign, 1)).isInstanceOf(InvalidRequestException.class);
        assertThat(ledger.ledger()).noneMatch(dto -> dto.ownedBytes != 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "idle",
                "a/b",
                "a b",
                "ä",
                "x\n",
                "0123456789012345678901234567890123456789012345678901234567890abcd5"
            })
    @DisplayName("E09 malformed names are refused")
    void malformedNames(String name) {
        assertThatThrownBy(() -> ledger.account(DEVICE, name, "kv")).isInstanceOf(InvalidRequestException.class);
        if (!"idle".equals(name)) {
            assertThatThrownBy(() -> ledger.account(DEVICE, "a", name)).isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> ledger.account(DEVICE, null, "kv")).isInstanceOf(InvalidRequestException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "fake", "fake:0/", "fake:0//kv", "fake:0/a/kv/x", "fake:0/idle", "fake:x/a"})
    void malformedPaths(String path) {
        assertThatThrownBy(() -> ledger.limit(path, 1)).isInstanceOf(InvalidRequestException.class);
        assertThat(ledger.ledger()).allMatch(dto -> dto.limitBytes == Long.MAX_VALUE);
    }

    @Test
    void aLimitMakesItsNode() {
        ledger.limit("fake:1/new/role", 10);
        assertThat(row("fake:1/new/role").limitBytes).isEqualTo(10);
        assertThatThrownBy(() ->
                        ledger.account(new DeviceKey("fake", 1), "new", "role").charge(11, 0))
                .isInstanceOf(BudgetExceededException.class);
    }

    @Test
    @DisplayName("E10 the holder that grew most is named when a claim is refused, and explain says who holds what")
    void grewMost() {
        var weights = ledger.account(DEVICE, "b", "weights");
        weights.charge(50 * MIB, 0);
        kv.charge(10 * MIB, 0);
        ledger.limit("fake:0", 64 * MIB);
        var error = catchThrowableOfType(BudgetExceededException.class, () -> kv.charge(5 * MIB, 0));
        assertThat(error).hasMessageContaining("fake:0/b/weights grew most lately");
        assertThat(ledger.explain("fake:0/a/kv"))
                .anyMatch(line -> line.contains("Refused once"))
                .anyMatch(line -> line.contains("fake:0/b/weights") && line.contains("50 MiB"))
                .anyMatch(line -> line.contains("granule:limit fake:0 "));
        weights.refund(50 * MIB, 0);
        assertThat(ledger.explain("fake:0/a/kv")).anyMatch(line -> line.contains("would succeed now"));
        assertThat(ledger.explain("fake:0/b/weights")).anyMatch(line -> line.contains("No claim of it"));
        assertThatThrownBy(() -> ledger.explain("fake:0/c")).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ledger.explain("fake:9")).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void moveAsksOnlyTheLimitsBelowTheCommonNode() {
        var other = ledger.account(DEVICE, "b", "kv");
        kv.charge(100, 100);
        ledger.limit("fake:0", 50);
        kv.moveTo(other, 60, 60);
        assertThat(owned("fake:0/b")).isEqualTo(60);
        ledger.limit("fake:0/a", 99);
        assertThatThrownBy(() -> other.moveTo(kv, 60, 60))
                .isInstanceOfSatisfying(BudgetExceededException.class, e -> assertThat(e.limitedBy())
                        .isEqualTo("fake:0/a"));
        assertThat(row("fake:0/b").mappedBytes).isEqualTo(60);
        other.moveTo(kv, 59, 59);
        kv.refund(99, 99);
        other.refund(1, 1);
        assertThat(owned("fake:0")).isZero();
        assertThat(ledger.alarms()).isZero();
    }
}
