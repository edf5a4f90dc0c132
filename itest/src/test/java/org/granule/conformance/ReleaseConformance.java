package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.granule.governor.AccountDTO;
import org.granule.governor.AllocationDTO;
import org.granule.memory.Access;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.Extents;
import org.granule.memory.FindingDTO;
import org.granule.memory.InUseException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.memory.UndoFailedException;
import org.granule.provider.MemorySession;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Group D: giving back, when it works and when it does not. */
abstract class ReleaseConformance extends Conformance {

    private static final List<Kind> REFUSALS = List.of(Kind.OUT_OF_MEMORY, Kind.INVALID);

    /** Three runs of two granules, with gaps between them. */
    private static final int RUNS = 3;

    private static Ranges runs(long unit) {
        return Ranges.of(0, 2 * unit).and(4 * unit, 2 * unit).and(8 * unit, 2 * unit);
    }

    private Stand drivenStand(Keeping keeping) {
        var stand = stand(keeping);
        requireDriver(stand);
        return stand;
    }

    // D01 to D03, on any stand, so that the negative control can run them too

    private static void unmapOfOneRunFails(Stand stand, int run) {
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
        long address = session.address(token);
        stand.expect(session, 6 * unit, 6 * unit);
        stand.check();
        stand.subject.gate().fail(Call.UNMAP, run, Kind.INVALID);
        var outcome = session.release(token);
        assertThat(outcome).isInstanceOf(Quarantined.class);
        var left = (Quarantined) outcome;
        assertThat(left.unmappedBytes()).isEqualTo(4 * unit);
        assertThat(left.ownedBytes()).isEqualTo(2 * unit);
        assertThat(left.cause()).isInstanceOf(DriverFaultException.class).hasMessageContaining("UNMAP number");
        stand.expect(session, 2 * unit, 2 * unit);
        stand.expectQuarantined(session, 2 * unit);
        stand.check();
        assertThat(stand.quarantine()).singleElement().satisfies(dto -> {
            assertThat(dto.token).isEqualTo(token);
            assertThat(dto.ownedBytes).isEqualTo(2 * unit);
            assertThat(dto.reason).contains("UNMAP number");
        });
        assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
        assertNeverIssued(stand, session, address, 10 * unit);
        stand.subject.settle();
        stand.expect(session, 0, 0);
        stand.expectQuarantined(session, 0);
        stand.check();
        // Also what settled: its addresses were lost for good.
        assertNeverIssued(stand, session, address, 10 * unit);
    }

    private static void assertNeverIssued(Stand stand, MemorySession session, long address, long bytes) {
        var lost = new GateDriver.Range(address, bytes);
        var tokens = new ArrayList<Long>();
        long unit = stand.subject.unit();
        for (int i = 0; i < 30; i++) {
            tokens.add(session.reserve((1 + i % 12) * unit, 1, Ranges.none(), Extents.PIECES));
            tokens.add(session.allocate((1 + i % 10) * unit, 1));
        }
        for (long token : tokens) {
            assertThat(lost.overlaps(session.address(token), session.bytes(token)))
                    .as("0x%x overlaps what is in quarantine", session.address(token))
                    .isFalse();
            Stand.releaseCompletely(session, token);
        }
        stand.check();
    }

    @Test
    @DisplayName("D01 unmap fails for any one run: the others go, that one is quarantined and never issued again")
    void unmapFails() {
        for (Keeping keeping : Keeping.values()) {
            for (int run = 1; run <= RUNS; run++) {
                var stand = drivenStand(keeping);
                unmapOfOneRunFails(stand, run);
                stand.end();
            }
        }
    }

    @Test
    @DisplayName("D02 giving back a handle fails: its mapped bytes are refunded, it stays owned and is never reused")
    void releaseOfHandleFails() {
        for (int nth = 1; nth <= 2 * RUNS; nth++) {
            var stand = drivenStand(Keeping.NOTHING);
            long unit = stand.subject.unit();
            var session = stand.open("anna");
            long token = session.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
            stand.subject.gate().fail(Call.RELEASE, nth, Kind.INVALID);
            var outcome = session.release(token);
            assertThat(outcome).isInstanceOf(Quarantined.class);
            assertThat(((Quarantined) outcome).unmappedBytes()).isEqualTo(6 * unit);
            assertThat(((Quarantined) outcome).ownedBytes()).isEqualTo(unit);
            stand.expect(session, unit, 0);
            stand.expectQuarantined(session, unit);
            stand.check();
            for (int i = 0; i < 20; i++) {
                long again = session.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
                Stand.releaseCompletely(session, again);
                stand.check();
            }
            stand.subject.settle();
            stand.expect(session, 0, 0);
            stand.expectQuarantined(session, 0);
            stand.check();
            stand.end();
        }
    }

    private static void decommitFailsInTheMiddle(Stand stand, int run, Kind kind) {
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
        Stand.fill(session, token, 0, 2 * unit, 1);
        Stand.fill(session, token, 4 * unit, 2 * unit, 2);
        Stand.fill(session, token, 8 * unit, 2 * unit, 3);
        stand.expect(session, 6 * unit, 6 * unit);
        stand.subject.gate().fail(Call.UNMAP, run, kind);
        var outcome = session.decommit(token, 0, 10 * unit);
        switch (outcome) {
            case Failed failed -> {
                // Claimed to be as before, so it must be, with its rights and contents.
                assertThat(failed.cause()).hasMessageContaining("UNMAP number");
                for (int i = 0; i < RUNS; i++) {
                    Stand.assertHolds(session, token, 4L * i * unit, 2 * unit, i + 1);
                    assertThat(stand.subject.isWritable(session.address(token) + 4L * i * unit))
                            .isTrue();
                }
                stand.check();
            }
            case Quarantined left -> {
                assertThat(left.cause()).hasMessageContaining("UNMAP number");
                assertThat(left.unmappedBytes()).isEqualTo(4 * unit);
                assertThat(left.ownedBytes()).isEqualTo(2 * unit);
                stand.expect(session, 2 * unit, 2 * unit);
                stand.expectQuarantined(session, 2 * unit);
                stand.check();
                assertThat(stand.quarantine()).isNotEmpty();
                for (int i = 0; i < RUNS; i++) {
                    long offset = 4L * i * unit;
                    assertThatThrownBy(() -> Stand.read(session, token, offset, 1))
                            .isInstanceOf(InvalidRequestException.class);
                }
            }
            case Complete complete -> assertThat(complete).as("an unmap failed").isNull();
        }
        boolean quarantined = outcome instanceof Quarantined;
        // The rest of the reservation can be used on.
        session.commit(token, 2 * unit, 2 * unit);
        Stand.fill(session, token, 2 * unit, 2 * unit, 4);
        stand.expectMore(session, 2 * unit, 2 * unit);
        stand.check();
        var end = session.release(token);
        if (quarantined) {
            assertThat(end).isInstanceOf(Quarantined.class);
            assertThat(((Quarantined) end).ownedBytes()).isEqualTo(2 * unit);
            assertThat(((Quarantined) end).unmappedBytes()).isEqualTo(2 * unit);
            stand.expect(session, 2 * unit, 2 * unit);
            stand.check();
            stand.subject.settle();
        } else {
            assertThat(end).isEqualTo(new Complete(8 * unit));
        }
        stand.expect(session, 0, 0);
        stand.expectQuarantined(session, 0);
        stand.check();
    }

    @Test
    @DisplayName("D03 decommit fails in the middle: as before with rights and contents, or all that is left is listed")
    void decommitFails() {
        for (Keeping keeping : Keeping.values()) {
            for (int run = 1; run <= RUNS; run++) {
                for (Kind kind : REFUSALS) {
                    var stand = drivenStand(keeping);
                    decommitFailsInTheMiddle(stand, run, kind);
                    stand.end();
                }
            }
        }
    }

    // D04 to D06: every operation, every call, every failure

    /** Does something to a scene; answers an outcome where it gives something back, otherwise null. */
    @FunctionalInterface
    private interface Step {
        ReleaseOutcome run(Scene scene);
    }

    private record Operation(String name, Step prepare, Step run) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** What an operation works on: memory of anna, and memory and a prefix of bert who has nothing to do with it. */
    private static final class Scene {
        final Stand stand;
        final long unit;
        final MemorySession anna;
        final MemorySession bert;
        final MemorySession carl;
        final long untouched;
        final long creator;
        final long prefix;
        final long second;
        long target;
        long other;
        int clean;

        Scene(Stand stand) {
            this.stand = stand;
            unit = stand.subject.unit();
            anna = stand.open("anna");
            bert = stand.open("bert");
            carl = stand.open("carl");
            untouched = bert.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
            Stand.fill(bert, untouched, 0, 16, 0x5A);
            creator = bert.reserve(8 * unit, 1, Ranges.of(0, 6 * unit), Extents.PIECES);
            Stand.fill(bert, creator, 0, 16, 0x5B);
            prefix = bert.share(creator, 0, 3 * unit);
            second = bert.share(creator, 3 * unit, 3 * unit);
        }

        void assertUntouched(Stand.Figures before) {
            assertThat(stand.figures(bert)).as("the other account").isEqualTo(before);
            Stand.assertHolds(bert, untouched, 0, 16, 0x5A);
            Stand.assertHolds(bert, creator, 0, 16, 0x5B);
        }

        void cleanOperations(int count) {
            var random = new Random(count);
            long reservation = anna.reserve(16 * unit, 1, Ranges.none(), Extents.PIECES);
            for (int i = 0; i < count; i += 4) {
                long bytes = 1 + random.nextLong(4 * unit);
                long block = anna.allocate(bytes, 1);
                long offset = random.nextLong(15 * unit);
                anna.commit(reservation, offset, unit);
                Stand.fill(anna, reservation, offset, 8, i);
                Stand.assertHolds(anna, reservation, offset, 8, i);
                Stand.assertComplete(anna.decommit(reservation, 0, 16 * unit));
                Stand.releaseCompletely(anna, block);
                clean += 4;
            }
            Stand.releaseCompletely(anna, reservation);
        }

        /** Gives everything back and asserts that nothing is left. */
        void finish() {
            stand.subject.gate().heal();
            for (var session : List.of(anna, carl, bert)) {
                session.close();
            }
            stand.subject.settle();
            stand.registry.trim(stand.subject.device(), Long.MAX_VALUE);
            stand.subject.settle();
            stand.check();
            assertThat(stand.all()).as("what is left").isEqualTo(Stand.Figures.NOTHING);
            stand.abandon();
        }
    }

    private static List<Operation> operations() {
        Step nothing = scene -> null;
        Step reserve = scene -> {
            scene.target = scene.anna.reserve(10 * scene.unit, 1, runs(scene.unit), Extents.PIECES);
            Stand.fill(scene.anna, scene.target, 0, 16, 0x41);
            return null;
        };
        Step attach = scene -> {
            scene.target =
                    scene.anna.reserve(10 * scene.unit, 1, Ranges.of(9 * scene.unit, scene.unit), Extents.PIECES);
            scene.anna.attach(scene.target, scene.unit, scene.prefix);
            return null;
        };
        Step allocate = scene -> {
            scene.target = scene.anna.allocate(5 * scene.unit, 1);
            Stand.fill(scene.anna, scene.target, 0, 16, 0x41);
            return null;
        };
        Step idle = scene -> {
            allocate.run(scene);
            reserve.run(scene);
            scene.anna.release(scene.target);
            long block = scene.anna.allocate(5 * scene.unit, 1);
            Stand.fill(scene.anna, block, 0, 16, 0x41);
            return scene.anna.release(block);
        };
        return List.of(
                new Operation("allocate", nothing, allocate),
                new Operation("allocate what another had", idle, scene -> {
                    scene.other = scene.carl.allocate(5 * scene.unit, 1);
                    return null;
                }),
                new Operation("reserve new addresses", nothing, scene -> {
                    // More than is reserved at a time.
                    scene.target = scene.anna.reserve(1L << 37, 1, Ranges.of(0, 2 * scene.unit), Extents.WHOLE);
                    return null;
                }),
                new Operation("release a block", allocate, scene -> scene.anna.release(scene.target)),
                new Operation("reserve", nothing, reserve),
                new Operation("reserve what another had", idle, scene -> {
                    scene.other = scene.carl.reserve(10 * scene.unit, 1, runs(scene.unit), Extents.PIECES);
                    return null;
                }),
                new Operation("release a reservation", reserve, scene -> scene.anna.release(scene.target)),
                new Operation("release after a fence", reserve, scene -> scene.anna
                        .releaseAfter(scene.target, () -> true)
                        .toCompletableFuture()
                        .join()),
                new Operation("commit", reserve, scene -> {
                    scene.anna.commit(scene.target, 0, 10 * scene.unit);
                    return null;
                }),
                new Operation("decommit", reserve, scene -> scene.anna.decommit(scene.target, 0, 10 * scene.unit)),
                new Operation("share", reserve, scene -> {
                    scene.other = scene.anna.share(scene.target, 0, 2 * scene.unit);
                    return null;
                }),
                new Operation("attach", attach, scene -> {
                    scene.anna.attach(scene.target, 5 * scene.unit, scene.prefix);
                    return null;
                }),
                new Operation("attach a pair", nothing, scene -> {
                    scene.target = scene.anna.reserve(10 * scene.unit, 1, Ranges.none(), Extents.PIECES);
                    scene.anna.attach(
                            scene.target, new long[] {0, 5 * scene.unit}, new long[] {scene.prefix, scene.second});
                    return null;
                }),
                new Operation("detach", attach, scene -> scene.anna.detach(scene.target, scene.unit, scene.prefix)),
                new Operation("release a sharer", attach, scene -> scene.anna.release(scene.target)),
                new Operation(
                        "retire",
                        scene -> {
                            reserve.run(scene);
                            scene.other = scene.anna.share(scene.target, 0, 2 * scene.unit);
                            return scene.anna.release(scene.target);
                        },
                        scene -> scene.anna.retire(scene.other)),
                new Operation("privatise", attach, scene -> {
                    scene.anna.privatise(scene.target, 0, 10 * scene.unit);
                    return null;
                }),
                new Operation("fill and copy", reserve, scene -> {
                    Stand.fill(scene.anna, scene.target, 0, 64, 1);
                    scene.anna.copy(scene.target, 4 * scene.unit, scene.target, 0, 64);
                    scene.anna.synchronise();
                    return null;
                }),
                new Operation("trim", idle, scene -> {
                    scene.stand.registry.trim(scene.stand.subject.device(), Long.MAX_VALUE);
                    return null;
                }),
                new Operation(
                        "close the session",
                        scene -> {
                            idle.run(scene);
                            allocate.run(scene);
                            return reserve.run(scene);
                        },
                        scene -> {
                            scene.anna.close();
                            return null;
                        }));
    }

    private record Fault(Call call, int nth, Kind kind) {}

    private List<Fault> faults(Operation operation, Keeping keeping, List<Kind> kinds) {
        var scene = new Scene(drivenStand(keeping));
        operation.prepare.run(scene);
        var faults = new ArrayList<Fault>();
        BackingConformance.callsOf(scene.stand, () -> operation.run.run(scene)).forEach((call, count) -> {
            for (int nth = 1; nth <= count; nth++) {
                for (Kind kind : kinds) {
                    faults.add(new Fault(call, nth, kind));
                }
            }
        });
        scene.stand.abandon();
        return faults;
    }

    private static void runWithFault(Scene scene, Operation operation, Fault fault, int clean) {
        var stand = scene.stand;
        operation.prepare.run(scene);
        var bert = stand.figures(scene.bert);
        var anna = stand.figures(scene.anna);
        var carl = stand.figures(scene.carl);
        long quarantined = stand.all().quarantined();
        var description = operation + " with " + fault;
        stand.subject.gate().fail(fault.call, fault.nth, fault.kind);
        ReleaseOutcome outcome = null;
        MemoryException thrown = null;
        try {
            outcome = operation.run.run(scene);
        } catch (MemoryException e) {
            thrown = e;
        }
        assertThat(stand.subject.gate().fired()).as("%s: faults", description).isEqualTo(1);
        stand.checkDevice();
        assertThat(stand.ledger.alarms()).as(description).isZero();
        scene.assertUntouched(bert);
        long stuck = stand.all().quarantined() - quarantined;
        if (thrown != null) {
            assertThat(thrown)
                    .as(description)
                    .isInstanceOfAny(
                            DriverFaultException.class, BudgetExceededException.class, UndoFailedException.class);
            if (!(thrown instanceof UndoFailedException) && !"attach a pair".equals(operation.name)) {
                assertThat(stand.figures(scene.anna)).as(description).isEqualTo(anna);
                assertThat(stand.figures(scene.carl)).as(description).isEqualTo(carl);
                assertThat(stuck).as("%s: quarantined bytes", description).isZero();
            }
        }
        switch (outcome) {
            case null -> {}
            case Complete complete -> assertThat(stuck).as(description).isZero();
            case Failed failed -> {
                assertThat(stand.figures(scene.anna)).as(description).isEqualTo(anna);
                assertThat(stuck).as(description).isZero();
            }
            case Quarantined left -> {
                assertThat(left.cause()).as(description).hasMessageContaining("on request");
                assertThat(anna.mapped() - stand.figures(scene.anna).mapped())
                        .as("%s: bytes that were unmapped", description)
                        .isEqualTo(left.unmappedBytes());
                assertThat(stuck).as("%s: quarantined bytes", description).isLessThanOrEqualTo(left.ownedBytes());
                assertThat(stand.quarantine()).as(description).isNotEmpty();
            }
        }
        if (fault.kind == Kind.DEVICE_LOST) {
            settlesOnceGone(scene, description);
        } else {
            if (!"close the session".equals(operation.name)) {
                scene.cleanOperations(clean);
                stand.checkDevice();
                scene.assertUntouched(bert);
            }
            scene.finish();
        }
    }

    /** Nothing reaches a lost device and nothing is refunded; once its context is gone everything settles, once. */
    private static void settlesOnceGone(Scene scene, String description) {
        var stand = scene.stand;
        long calls = stand.subject.gate().calls();
        long owned = stand.all().owned();
        assertThatThrownBy(() -> scene.carl.allocate(scene.unit, 1))
                .as(description)
                .isInstanceOf(DriverFaultException.class);
        assertThatThrownBy(() -> scene.carl.reserve(scene.unit, 1, Ranges.of(0, 1), Extents.WHOLE))
                .isInstanceOf(DriverFaultException.class);
        assertThat(scene.bert.release(scene.untouched)).as(description).isNotInstanceOf(Complete.class);
        stand.registry.trim(stand.subject.device(), Long.MAX_VALUE);
        stand.subject.settle();
        assertThat(stand.all().owned())
                .as("%s: owned bytes while it is lost", description)
                .isEqualTo(owned);
        stand.checkDevice();
        stand.subject.endContext();
        for (var session : List.of(scene.anna, scene.carl, scene.bert)) {
            session.close();
        }
        stand.subject.settle();
        stand.registry.trim(stand.subject.device(), Long.MAX_VALUE);
        assertThat(stand.all()).as("%s: after its context is gone", description).isEqualTo(Stand.Figures.NOTHING);
        assertThat(stand.subject.endContext()).as("what settles again").isZero();
        assertThat(stand.ledger.alarms()).isZero();
        assertThat(stand.subject.gate().calls())
                .as("%s: driver calls", description)
                .isEqualTo(calls);
        assertThat(stand.subject.gate().violations()).isEmpty();
        stand.abandon();
    }

    @ParameterizedTest(name = "D04 every operation, every driver call in it, every refusal: keeping {0}")
    @EnumSource
    void everyCallRefused(Keeping keeping) {
        int count = 0;
        for (Operation operation : operations()) {
            var faults = faults(operation, keeping, REFUSALS);
            for (Fault fault : faults) {
                // A thousand once for each operation, a few after the other faults.
                int clean = fault.equals(faults.getLast()) ? 1000 : 20;
                runWithFault(new Scene(drivenStand(keeping)), operation, fault, clean);
                count++;
            }
        }
        assertThat(count).as("faults").isGreaterThan(100);
    }

    @Test
    @DisplayName("D05 the negative control: an engine with the partial-unmap gap is caught by each of these tests")
    void negativeControl() {
        for (int run = 1; run <= RUNS; run++) {
            int failing = run;
            assertCaught("D01", stand -> unmapOfOneRunFails(stand, failing));
            assertCaught("D03", stand -> decommitFailsInTheMiddle(stand, failing, Kind.INVALID));
        }
        int count = 0;
        for (Operation operation : operations()) {
            for (Fault fault : faults(operation, Keeping.NOTHING, List.of(Kind.INVALID))) {
                if (fault.call == Call.UNMAP) {
                    assertCaught(
                            "D04 " + operation + " with " + fault,
                            stand -> runWithFault(new Scene(stand), operation, fault, 40));
                    count++;
                }
            }
        }
        assertThat(count).as("operations that unmap").isGreaterThan(10);
    }

    /** What a scenario does with a stand. */
    @FunctionalInterface
    private interface Scenario {
        void run(Stand stand);
    }

    private void assertCaught(String what, Scenario scenario) {
        var stand = drivenStand(Keeping.NOTHING);
        stand.subject.gate().hideFailedUnmaps();
        assertThatCode(() -> scenario.run(stand)).as(what).isInstanceOf(AssertionError.class);
        stand.abandon();
    }

    @ParameterizedTest(
            name = "D06 device lost at any call: no call and no refund until its context is gone: keeping {0}")
    @EnumSource
    void deviceLost(Keeping keeping) {
        int count = 0;
        for (Operation operation : operations()) {
            for (Fault fault : faults(operation, keeping, List.of(Kind.DEVICE_LOST))) {
                runWithFault(new Scene(drivenStand(keeping)), operation, fault, 0);
                count++;
            }
        }
        assertThat(count).as("faults").isGreaterThan(50);
    }

    // D07 to D11

    @Test
    @DisplayName(
            "D07 an owner that is dropped is reported with the place, its memory quarantined until an operator acts")
    void dropped() throws Exception {
        var stand = stand();
        stand.registry.recordSites(true);
        long bytes = 3 * stand.subject.unit();
        long releases = stand.releases();
        allocateAndForget(stand, bytes);
        await("the owner is reported", () -> {
            System.gc();
            return !stand.reports.isEmpty();
        });
        assertThat(stand.reports)
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("dropped")
                .contains("allocateAndForget");
        var listed = stand.quarantine();
        assertThat(listed).hasSize(stand.subject.isLazy() ? 3 : 1).allSatisfy(dto -> {
            assertThat(dto.site).contains("allocateAndForget");
            assertThat(dto.reason).contains("dropped");
        });
        long owned = stand.subject.isLazy() ? 2 * bytes : bytes;
        var account = stand.subject.device() + "/dropped/work";
        assertThat(row(stand, account).ownedBytes).isEqualTo(owned);
        assertThat(row(stand, account).quarantinedBytes).isEqualTo(owned);
        stand.checkDevice();
        stand.registry.trim(stand.subject.device(), Long.MAX_VALUE);
        assertThat(stand.releases()).as("releases behind the user's back").isEqualTo(releases);
        for (AllocationDTO dto : listed) {
            assertThat(stand.registry.settle(dto.token)).isInstanceOf(Complete.class);
            assertThatThrownBy(() -> stand.registry.settle(dto.token)).isInstanceOf(StaleTokenException.class);
        }
        assertThat(row(stand, account).ownedBytes).isZero();
        assertThat(row(stand, account).quarantinedBytes).isZero();
        stand.check();
    }

    private static AccountDTO row(Stand stand, String path) {
        return stand.ledger.ledger().stream()
                .filter(dto -> dto.path.equals(path))
                .findFirst()
                .orElseThrow();
    }

    /** In a frame of its own, so that no local variable keeps the session. */
    private static void allocateAndForget(Stand stand, long bytes) {
        var session = stand.binding.open("dropped", "work");
        session.allocate(bytes, 1);
        if (stand.subject.isLazy()) {
            session.share(session.reserve(bytes, 1, Ranges.of(0, bytes), Extents.PIECES), 0, bytes);
        }
    }

    private static long unmaps(Stand stand) {
        return stand.releases()
                + (stand.subject.gate() == null ? 0 : stand.subject.gate().calls(Call.UNMAP));
    }

    @Test
    @DisplayName("D08 a release that waits for its fence is charged, listed with its age, and not begun before")
    void waitsForFence() throws Exception {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long bytes = 4 * stand.subject.unit();
        long token = session.allocate(bytes, 1);
        long quick = session.allocate(bytes, 1);
        long before = unmaps(stand);
        var passed = new AtomicBoolean();
        var release = session.releaseAfter(token, passed::get).toCompletableFuture();
        stand.expect(session, 2 * bytes, 2 * bytes);
        stand.check();
        assertThatThrownBy(() -> session.release(token)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> session.address(token)).isInstanceOf(StaleTokenException.class);
        assertThat(stand.registry.allocations())
                .filteredOn(dto -> dto.token == token)
                .singleElement()
                .satisfies(dto -> {
                    assertThat(dto.state).isEqualTo(AllocationDTO.PENDING);
                    assertThat(dto.reason).contains("fence");
                });
        // One that passes is not held back by one that does not, nor by one that throws.
        var throwing = new AtomicBoolean();
        var other = session.releaseAfter(quick, () -> {
            if (!throwing.get()) {
                return false;
            }
            throw new IllegalStateException("no answer");
        });
        throwing.set(true);
        assertThat(stand.binding.describe().pendingReleases).isEqualTo(2);
        long age = stand.binding.describe().oldestPendingNanos;
        await("the age grows", () -> stand.binding.describe().oldestPendingNanos > age + 5_000_000);
        assertThat(release).isNotDone();
        assertThat(other.toCompletableFuture()).isNotDone();
        assertThat(unmaps(stand)).as("releases before the fence").isEqualTo(before);
        long third = session.allocate(bytes, 1);
        assertThat(session.releaseAfter(third, () -> true).toCompletableFuture().get(10, TimeUnit.SECONDS))
                .isInstanceOf(Complete.class);
        stand.check();
        passed.set(true);
        assertThat(release.get(10, TimeUnit.SECONDS)).isInstanceOf(Complete.class);
        stand.expect(session, bytes, bytes);
        stand.check();
        assertThat(stand.binding.describe().pendingReleases).isEqualTo(1);
        // A fence that never answers: quarantined untouched at the end, and an operator's from then on.
        long releases = unmaps(stand);
        stand.binding.close(Duration.ZERO);
        assertThat(unmaps(stand)).as("releases after the end").isEqualTo(releases);
        assertThat(other.toCompletableFuture().get(10, TimeUnit.SECONDS)).isInstanceOf(Quarantined.class);
        stand.expectQuarantined(session, bytes);
        stand.check();
        stand.abandon();
    }

    @Test
    @DisplayName("D09 work is queued on a range: its memory is there until the work is done")
    void workIsQueued() throws Exception {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long bytes = 2 * stand.subject.unit();
        for (int round = 0; round < 20; round++) {
            long token = session.allocate(bytes, 1);
            long address = session.address(token);
            var done = new AtomicBoolean();
            var queued = new CountDownLatch(1);
            var failure = new AtomicReference<Throwable>();
            var worker = Thread.ofPlatform().start(() -> {
                try {
                    queued.await();
                    for (int i = 0; i < 100; i++) {
                        stand.subject.touch(address + i * bytes / 100, (byte) i);
                    }
                } catch (Throwable e) {
                    failure.set(e);
                } finally {
                    done.set(true);
                }
            });
            var release = session.releaseAfter(token, done::get).toCompletableFuture();
            assertThat(release).isNotDone();
            queued.countDown();
            assertThat(release.get(20, TimeUnit.SECONDS)).isInstanceOf(Complete.class);
            worker.join();
            assertThat(failure.get()).as("what happened to the work").isNull();
            stand.check();
        }
    }

    @Test
    @DisplayName("D08 releases wait for all work that was recorded, a session that closes waits for none")
    void waitsForRecordedWork() throws Exception {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        var closing = stand.open("bert");
        long bytes = 2 * stand.subject.unit();
        long token = session.allocate(bytes, 1);
        long kept = closing.allocate(bytes, 1);
        long before = unmaps(stand);
        var one = new AtomicBoolean();
        var two = new AtomicBoolean();
        session.usedUntil(token, 0, 1, one::get);
        closing.usedUntil(kept, bytes - 1, 1, two::get);
        var release = session.releaseAfter(token, () -> true).toCompletableFuture();
        closing.close();
        stand.expect(session, bytes, bytes);
        stand.expect(closing, bytes, bytes);
        stand.check();
        for (long pending : new long[] {token, kept}) {
            assertThat(stand.registry.allocations())
                    .filteredOn(dto -> dto.token == pending)
                    .singleElement()
                    .satisfies(dto -> {
                        assertThat(dto.state).isEqualTo(AllocationDTO.PENDING);
                        assertThat(dto.reason).contains("fence");
                    });
        }
        assertThat(release).isNotDone();
        assertThat(unmaps(stand)).as("releases before the fences").isEqualTo(before);
        two.set(true);
        await("the closed session's memory goes", () -> stand.binding.describe().pendingReleases == 1);
        stand.expect(closing, 0, 0);
        stand.check();
        assertThat(release).as("another stream").isNotDone();
        one.set(true);
        assertThat(release.get(20, TimeUnit.SECONDS)).isInstanceOf(Complete.class);
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("D09 work is recorded for memory: a release comes after it, whatever else goes on")
    void releaseAfterRecordedWork() {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long bytes = 2 * stand.subject.unit();
        for (int round = 0; round < 20; round++) {
            long token = session.allocate(bytes, 1);
            long address = session.address(token);
            long before = unmaps(stand);
            var failure = new AtomicReference<Throwable>();
            var asked = new AtomicInteger();
            // The device gets on with its work whenever it is asked how far it is.
            session.usedUntil(token, 0, bytes, () -> {
                int step = asked.getAndIncrement();
                try {
                    for (int i = 10 * step; step < 10 && i < 10 * step + 10; i++) {
                        stand.subject.touch(address + i * bytes / 100, (byte) i);
                        assertThat(unmaps(stand)).isEqualTo(before);
                    }
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
                return step >= 10;
            });
            Stand.releaseCompletely(session, token);
            assertThat(failure.get()).as("what happened to the work").isNull();
            assertThat(asked.get()).isGreaterThan(10);
            stand.check();
        }
    }

    @Test
    @DisplayName("D09 work on some granules: others are decommitted at once, those only when the work is done")
    void decommitBesideQueuedWork() {
        for (Extents extents : Extents.values()) {
            for (Keeping keeping : Keeping.values()) {
                var stand = stand(keeping);
                requireLazy(stand);
                decommitBesideQueuedWork(stand, extents);
                stand.end();
            }
        }
    }

    private static void decommitBesideQueuedWork(Stand stand, Extents extents) {
        long unit = stand.subject.unit();
        var gate = stand.subject.gate();
        var session = stand.open("anna");
        long token = session.reserve(10 * unit, 1, runs(unit), extents);
        long address = session.address(token);
        stand.expect(session, 6 * unit, 6 * unit);
        stand.check();
        // One byte in the second granule of the middle run.
        var used = new GateDriver.Range(address + 4 * unit, 2 * unit);
        var asked = new AtomicInteger();
        var broken = new AtomicReference<Throwable>();
        var isWaitedFor = new AtomicBoolean();
        session.usedUntil(token, 5 * unit + 1, 1, () -> {
            asked.incrementAndGet();
            if (!isWaitedFor.get()) {
                return false;
            }
            try {
                stand.subject.touch(address + 5 * unit + 1, (byte) 9);
                assertThat(gate.unmapCalls()).noneMatch(range -> range.overlaps(used.address(), used.bytes()));
            } catch (Throwable e) {
                broken.compareAndSet(null, e);
            }
            return asked.get() > 10;
        });
        int once = asked.get();
        assertThat(session.decommit(token, 0, 2 * unit)).isEqualTo(new Complete(2 * unit));
        session.commit(token, 0, unit);
        session.commit(token, 2 * unit, unit);
        assertThat(session.decommit(token, 6 * unit, 4 * unit)).isEqualTo(new Complete(2 * unit));
        stand.expect(session, 4 * unit, 4 * unit);
        stand.check();
        assertThat(asked).as("questions for other ranges").hasValue(once);
        isWaitedFor.set(true);
        assertThat(session.decommit(token, 5 * unit + 100, 1)).isInstanceOf(Complete.class);
        Stand.assertComplete(session.decommit(token, 4 * unit, 2 * unit));
        assertThat(broken.get()).as("what happened to the work").isNull();
        assertThat(asked.get()).isGreaterThan(10);
        stand.expect(session, 2 * unit, 2 * unit);
        stand.check();
        Stand.releaseCompletely(session, token);
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("D09 a prefix under queued work is detached and privatised only when the work is done")
    void sharedMemoryWithQueuedWork() {
        var stand = stand(Keeping.NOTHING);
        requireSharing(stand);
        long unit = stand.subject.unit();
        var gate = stand.subject.gate();
        var session = stand.open("anna");
        long creator = session.reserve(2 * unit, 1, Ranges.of(0, 2 * unit), Extents.PIECES);
        Stand.fill(session, creator, 0, 2 * unit, 5);
        long prefix = session.share(creator, 0, 2 * unit);
        long token = session.reserve(8 * unit, 1, Ranges.none(), Extents.PIECES);
        session.attach(token, 0, prefix);
        session.attach(token, 4 * unit, prefix);
        long before = gate.calls(Call.UNMAP);
        var asked = new AtomicInteger();
        var early = new AtomicBoolean();
        session.usedUntil(token, 5 * unit, 1, () -> {
            if (gate.calls(Call.UNMAP) != before) {
                early.set(true);
            }
            return asked.incrementAndGet() == 10;
        });
        session.privatise(token, 5 * unit, unit);
        assertThat(early).isFalse();
        assertThat(asked).hasValue(10);
        Stand.assertHolds(session, token, 5 * unit, 16, 5);
        long unmapped = gate.calls(Call.UNMAP);
        asked.set(0);
        session.usedUntil(token, unit, 1, () -> {
            if (gate.calls(Call.UNMAP) != unmapped) {
                early.set(true);
            }
            return asked.incrementAndGet() == 10;
        });
        assertThat(session.detach(token, 0, prefix)).isEqualTo(new Complete(2 * unit));
        assertThat(early).isFalse();
        assertThat(asked).hasValue(10);
        session.close();
        stand.accept(session);
    }

    @Test
    @DisplayName("D09 an operation that touches memory holds it: a release waits, and gives up without a change")
    void releaseWaits() throws Exception {
        var stand = stand(Keeping.NOTHING);
        assumeTrue(
                stand.subject.isLazy(),
                "the platform moves its bytes without asking it, so no operation can be stopped half-way");
        var session = stand.open("anna");
        long bytes = 2 * stand.subject.unit();
        long token = session.allocate(bytes, 1);
        stand.expect(session, bytes, bytes);
        var reached = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        // While its access is asked for, the operation has the memory already.
        stand.watch.atNext("access", call -> {
            reached.countDown();
            goOn.await();
            return call.proceed();
        });
        var operation = CompletableFuture.runAsync(() -> Stand.fill(session, token, 0, bytes, 7));
        reached.await();
        long before = unmaps(stand);
        assertThatThrownBy(() -> session.release(token)).isInstanceOf(InUseException.class);
        assertThatThrownBy(() -> session.decommit(token, 0, bytes)).isInstanceOf(InUseException.class);
        assertThat(unmaps(stand)).isEqualTo(before);
        stand.check();
        var release = CompletableFuture.supplyAsync(() -> session.release(token));
        goOn.countDown();
        operation.get(20, TimeUnit.SECONDS);
        assertThat(release.get(20, TimeUnit.SECONDS)).isInstanceOf(Complete.class);
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("D10 a failed unmap of an earlier cycle shows where health is read, and wedges no later commit")
    void earlierFailure() {
        var stand = drivenStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(12 * unit, 1, runs(unit), Extents.PIECES);
        stand.subject.gate().fail(Call.UNMAP, 2, Kind.INVALID);
        assertThat(session.decommit(token, 0, 10 * unit)).isInstanceOf(Quarantined.class);
        stand.expect(session, 2 * unit, 2 * unit);
        stand.expectQuarantined(session, 2 * unit);
        stand.check();
        assertThat(stand.quarantine()).singleElement().satisfies(dto -> {
            assertThat(dto.token).isEqualTo(token);
            assertThat(dto.ownedBytes).isEqualTo(2 * unit);
            assertThat(dto.reason).contains("UNMAP number");
        });
        // The next cycles, here and elsewhere.
        for (int i = 0; i < 20; i++) {
            session.commit(token, 0, 4 * unit);
            session.commit(token, 6 * unit, 6 * unit);
            Stand.fill(session, token, 6 * unit, unit, i);
            stand.expect(session, 12 * unit, 12 * unit);
            stand.check();
            assertThat(session.decommit(token, 0, 12 * unit)).isEqualTo(new Complete(10 * unit));
            stand.expect(session, 2 * unit, 2 * unit);
            long other = session.reserve(12 * unit, 1, Ranges.of(0, 12 * unit), Extents.PIECES);
            Stand.releaseCompletely(session, other);
            stand.check();
        }
        assertThatThrownBy(() -> session.commit(token, 4 * unit, unit))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("quarantine");
        assertThatThrownBy(() -> session.commit(token, 0, 12 * unit)).isInstanceOf(MemoryException.class);
        stand.check();
        assertThat(session.release(token)).isInstanceOf(Quarantined.class);
        stand.check();
        stand.subject.settle();
        stand.expect(session, 0, 0);
        stand.expectQuarantined(session, 0);
        stand.check();
    }

    @Test
    @DisplayName("D10 what an earlier cycle left in quarantine is listed once, also after the rest was released")
    void listedOnce() {
        var stand = drivenStand(Keeping.MUCH);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(12 * unit, 1, runs(unit), Extents.PIECES);
        stand.subject.gate().fail(Call.UNMAP, 2, Kind.INVALID);
        assertThat(session.decommit(token, 0, 10 * unit)).isInstanceOf(Quarantined.class);
        assertThat(session.release(token)).isInstanceOf(Quarantined.class);
        stand.expect(session, 2 * unit, 2 * unit);
        stand.expectQuarantined(session, 2 * unit);
        stand.check();
        assertThat(stand.quarantine().stream().mapToLong(dto -> dto.ownedBytes).sum())
                .as("quarantined bytes that are listed")
                .isEqualTo(2 * unit);
        assertThat(stand.binding.close(Duration.ZERO))
                .as("quarantined bytes at the end")
                .isEqualTo(2 * unit);
        stand.subject.settle();
        stand.expect(session, 0, 0);
        stand.expectQuarantined(session, 0);
        stand.check();
    }

    @Test
    @DisplayName("D11 the first error is the one reported, and undo touches only what was done")
    void firstError() {
        for (int nth = 1; nth <= 5; nth++) {
            var stand = drivenStand(Keeping.NOTHING);
            long unit = stand.subject.unit();
            var session = stand.open("anna");
            long token = session.reserve(10 * unit, 1, Ranges.of(0, unit).and(6 * unit, unit), Extents.PIECES);
            long address = session.address(token);
            stand.expect(session, 2 * unit, 2 * unit);
            int before = stand.subject.gate().unmapCalls().size();
            stand.subject.gate().fail(Call.MAP, nth, Kind.OUT_OF_MEMORY);
            assertThatThrownBy(() -> session.commit(token, 0, 10 * unit))
                    .isInstanceOf(DriverFaultException.class)
                    .hasMessageContaining("MAP number");
            var undone = stand.subject.gate().unmapCalls();
            undone = undone.subList(before, undone.size());
            assertThat(undone.stream().mapToLong(GateDriver.Range::bytes).sum()).isEqualTo((nth - 1) * unit);
            assertThat(undone)
                    .allMatch(range ->
                            range.address() >= address + unit && range.address() + range.bytes() <= address + 6 * unit);
            stand.check();
            // And when the undo fails too.
            if (nth > 1) {
                stand.subject.gate().fail(Call.MAP, nth, Kind.OUT_OF_MEMORY);
                stand.subject.gate().fail(Call.UNMAP, 1, Kind.INVALID);
                assertThatThrownBy(() -> session.commit(token, 0, 10 * unit))
                        .isInstanceOf(UndoFailedException.class)
                        .cause()
                        .isInstanceOf(DriverFaultException.class)
                        .hasMessageContaining("MAP number");
                long left = (nth - 1) * unit;
                stand.expect(session, 2 * unit + left, 2 * unit + left);
                stand.expectQuarantined(session, left);
                stand.check();
                assertThat(session.release(token)).isInstanceOf(Quarantined.class);
                stand.expect(session, left, left);
                stand.check();
                stand.subject.settle();
            } else {
                Stand.releaseCompletely(session, token);
            }
            stand.expect(session, 0, 0);
            stand.expectQuarantined(session, 0);
            stand.check();
            stand.end();
        }
        var stand = drivenStand(Keeping.NOTHING);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(10 * unit, 1, runs(unit), Extents.PIECES);
        long first = stand.subject.gate().calls(Call.UNMAP) + 1;
        stand.subject.gate().fail(Call.UNMAP, 1, Kind.INVALID);
        stand.subject.gate().fail(Call.UNMAP, 3, Kind.OUT_OF_MEMORY);
        stand.subject.gate().fail(Call.RELEASE, 1, Kind.INVALID);
        var outcome = session.release(token);
        assertThat(outcome).isInstanceOf(Quarantined.class);
        assertThat(((Quarantined) outcome).cause()).hasMessageContaining("UNMAP number " + first + " ");
        assertThat(((Quarantined) outcome).ownedBytes()).isEqualTo(5 * unit);
        assertThat(((Quarantined) outcome).unmappedBytes()).isEqualTo(2 * unit);
        stand.expect(session, 5 * unit, 4 * unit);
        stand.expectQuarantined(session, 5 * unit);
        stand.check();
        stand.subject.settle();
        stand.expect(session, 0, 0);
        stand.expectQuarantined(session, 0);
        stand.check();
    }

    // D12 and D13

    @ParameterizedTest(name = "D12 the JVM ends with live memory: status 0 and no late driver call: {0}")
    @ValueSource(strings = {LiveAtExit.RETURN, LiveAtExit.EXIT})
    void endOfTheProgram(String how) throws IOException, InterruptedException {
        var name = stand().subject.getClass().getSimpleName();
        Path output = Files.createTempFile("granule", ".out");
        var process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:auto",
                        "--enable-native-access=ALL-UNNAMED",
                        LiveAtExit.class.getName(),
                        name,
                        how)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        process.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        var child = process.start();
        try {
            assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
            var said = Files.readString(output, StandardCharsets.UTF_8);
            assertThat(child.exitValue()).as("its status; it said: %s", said).isZero();
            assertThat(said).startsWith("holds ").doesNotContain("Exception");
            assertThat(Long.parseLong(said.strip().substring("holds ".length())))
                    .isPositive();
        } finally {
            child.destroyForcibly();
            Files.deleteIfExists(output);
        }
    }

    @Test
    @DisplayName("D13 reconciliation: a mapping changed behind the books is found and named")
    void mappingChangedBehindTheBooks() {
        var stand = stand();
        requireInspection(stand);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(8 * unit, 1, Ranges.of(0, 3 * unit), Extents.PIECES);
        long gone = session.reserve(8 * unit, 1, Ranges.of(0, unit), Extents.PIECES);
        long address = session.address(token);
        long nobodys = session.address(gone) + 5 * unit;
        // Addresses are looked at as far as they were ever taken.
        long last = session.reserve(unit, 1, Ranges.none(), Extents.PIECES);
        Stand.releaseCompletely(session, gone);
        assertThat(reconcile(stand).findings).isEmpty();

        var raw = stand.subject.gate().raw();
        long handle = stand.subject.gate().handleAt(address + unit);
        raw.unmap(address + unit, unit);
        assertFinds(stand, FindingDTO.MAPPING_MISSING, address + unit, handle, unit, session.account());

        long other = raw.create(unit);
        raw.map(address + unit, unit, other);
        assertFinds(stand, FindingDTO.OTHER_HANDLE, address + unit, handle, unit, session.account());
        raw.unmap(address + unit, unit);
        raw.map(address + unit, unit, handle);
        raw.protect(address + unit, unit, Access.READ_WRITE);
        assertThat(reconcile(stand).findings).isEmpty();

        raw.map(address + 5 * unit, unit, other);
        assertFinds(stand, FindingDTO.UNKNOWN_MAPPING, address + 5 * unit, -1, unit, session.account());
        raw.unmap(address + 5 * unit, unit);
        raw.map(nobodys, unit, other);
        assertFinds(stand, FindingDTO.UNKNOWN_MAPPING, nobodys, -1, unit, null);
        raw.unmap(nobodys, unit);
        raw.release(other, unit);

        var clean = reconcile(stand);
        assertThat(clean.findings).isEmpty();
        assertThat(clean.mappingsChecked).isEqualTo(3);
        assertThat(stand.registry.devices()).singleElement().satisfies(device -> {
            assertThat(device.differenceBytes).isZero();
            assertThat(device.ownedBytes).isEqualTo(device.ledgerOwnedBytes);
            assertThat(device.mappedBytes).isEqualTo(device.ledgerMappedBytes);
            assertThat(device.pooledBytes).isEqualTo(device.ledgerPooledBytes);
            assertThat(device.freeBytes).isBetween(0L, device.totalBytes);
        });
        Stand.releaseCompletely(session, token);
        Stand.releaseCompletely(session, last);
    }

    @Test
    @DisplayName("D13 reconciliation: a handle released behind the books is found and named")
    void handleReleasedBehindTheBooks() {
        var stand = stand();
        requireInspection(stand);
        long unit = stand.subject.unit();
        var session = stand.open("anna");
        long token = session.reserve(8 * unit, 1, Ranges.of(0, 3 * unit), Extents.PIECES);
        long handle = stand.subject.gate().handleAt(session.address(token) + unit);
        stand.subject.gate().releaseBehind(handle);
        assertFinds(stand, FindingDTO.HANDLE_MISSING, 0, handle, unit, session.account());
        assertThat(stand.registry.devices()).singleElement().satisfies(device -> assertThat(device.differenceBytes)
                .isEqualTo(unit));
        // The books are wrong for good.
        stand.abandon();
    }

    @Test
    @DisplayName("D13 reconciliation: while threads allocate, commit, share and release, nothing is ever found")
    void reconciledWhileAllocationsGoOn() throws Exception {
        var stand = stand();
        requireInspection(stand);
        var workers = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < 4; i++) {
            var session = stand.open("tenant" + i % 2);
            var random = new Random(i);
            workers.add(CompletableFuture.runAsync(() -> {
                for (int round = 0; round < 1000; round++) {
                    churn(session, stand.subject.unit(), random);
                }
            }));
        }
        var all = CompletableFuture.allOf(workers.toArray(CompletableFuture[]::new));
        do {
            var found = stand.registry.reconcile(stand.subject.device());
            assertThat(found.findings).isEmpty();
            assertThat(found.faults).isEmpty();
        } while (!all.isDone());
        all.get();
        assertThat(reconcile(stand).findings).isEmpty();
    }

    private static void churn(MemorySession session, long unit, Random random) {
        long block = session.allocate((1 + random.nextInt(4)) * unit, 1);
        long creator = session.reserve(16 * unit, 1, Ranges.of(0, 2 * unit), Extents.PIECES);
        session.commit(creator, (4 + random.nextInt(8)) * unit, (1 + random.nextInt(4)) * unit);
        long prefix = session.share(creator, 0, 2 * unit);
        long sharer = session.reserve(8 * unit, 1, Ranges.none(), Extents.PIECES);
        session.attach(sharer, 2 * unit, prefix);
        Stand.assertComplete(session.decommit(creator, 4 * unit, 6 * unit));
        Stand.assertComplete(session.retire(prefix));
        Stand.releaseCompletely(session, creator);
        Stand.releaseCompletely(session, sharer);
        Stand.releaseCompletely(session, block);
    }

    /** Compares books, device and ledger at rest. */
    private static ReconciliationDTO reconcile(Stand stand) {
        var found = stand.registry.reconcile(stand.subject.device());
        assertThat(found.ledger).isEqualTo(ReconciliationDTO.COMPARED);
        assertThat(found.faults).isEmpty();
        assertThat(found.remarks).isEmpty();
        assertThat(found.uncheckedBytes).isZero();
        return found;
    }

    private static void assertFinds(Stand stand, String kind, long address, long handle, long bytes, String account) {
        var found = reconcile(stand);
        assertThat(found.findings).singleElement().satisfies(one -> {
            assertThat(one.kind).isEqualTo(kind);
            assertThat(one.address).isEqualTo(address);
            assertThat(one.handle).isEqualTo(handle);
            assertThat(one.bytes).isEqualTo(bytes);
            assertThat(one.account).isEqualTo(account);
            assertThat(one.allocator).isNotBlank();
        });
        assertThat(found.findingCount).isEqualTo(1);
        assertThat(found.differenceBytes).isEqualTo(bytes);
    }
}
