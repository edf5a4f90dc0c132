package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.granule.governor.AccountDTO;
import org.granule.governor.AllocationDTO;
import org.granule.governor.Binding;
import org.granule.ledger.Ledger;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.provider.MemorySession;
import org.granule.registry.Registry;
import org.osgi.framework.ServiceReference;

/**
 * A ledger and a registry with one bound allocator, and beside them a plain model of what each account must be
 * charged. {@link #check} is the oracle of all scenarios: the ledger, the device and the model agree.
 */
final class Stand {

    private static final String ROLE = "work";

    /** What an account is charged. */
    record Figures(long owned, long mapped, long quarantined) {
        static final Figures NOTHING = new Figures(0, 0, 0);
    }

    final Subject subject;
    final Watch watch;
    final Ledger ledger = new Ledger();
    final List<String> reports = new CopyOnWriteArrayList<>();
    final ServiceReference<DeviceAllocator> reference;
    final Registry registry;
    final Binding binding;
    private final String idlePath;

    /** Keeps sessions from being taken for dropped while a test is still at work. */
    private final List<MemorySession> sessions = new ArrayList<>();

    private final Map<String, Figures> model = new TreeMap<>();
    private Figures left = Figures.NOTHING;
    private boolean ended;

    Stand(Subject subject) {
        this.subject = subject;
        watch = new Watch(subject.allocator());
        reference = Services.reference(subject.device());
        registry = new Registry(ledger, () -> List.of(reference), reports::add);
        binding = registry.bind("provider", 1, reference, watch.allocator(), subject.device());
        idlePath = subject.device() + "/idle";
    }

    /** Opens a session of a tenant. */
    MemorySession open(String tenant) {
        var session = binding.open(tenant, ROLE);
        sessions.add(session);
        return session;
    }

    // The model

    /** Sets what an account must be charged. */
    void expect(MemorySession session, long owned, long mapped) {
        model.put(session.account(), new Figures(owned, mapped, modelled(session).quarantined));
    }

    /** Changes what an account must be charged. */
    void expectMore(MemorySession session, long owned, long mapped) {
        var now = modelled(session);
        model.put(session.account(), new Figures(now.owned + owned, now.mapped + mapped, now.quarantined));
    }

    /** Sets what of it must be in quarantine. */
    void expectQuarantined(MemorySession session, long bytes) {
        var now = modelled(session);
        model.put(session.account(), new Figures(now.owned, now.mapped, bytes));
    }

    /** Accepts an account as it is, for scenarios that are about something else. */
    void accept(MemorySession session) {
        model.put(session.account(), figures(session));
    }

    /** Lets the end find this much that nobody can give back any more. */
    void expectLeft(long owned, long mapped, long quarantined) {
        left = new Figures(owned, mapped, quarantined);
    }

    private Figures modelled(MemorySession session) {
        return model.getOrDefault(session.account(), Figures.NOTHING);
    }

    // What is

    Figures figures(MemorySession session) {
        return figures(session.account());
    }

    Figures idle() {
        return figures(idlePath);
    }

    Figures all() {
        return figures(subject.device().toString());
    }

    private Figures figures(String path) {
        return ledger.ledger().stream()
                .filter(row -> row.path.equals(path))
                .map(Stand::figures)
                .findFirst()
                .orElse(Figures.NOTHING);
    }

    private static Figures figures(AccountDTO row) {
        return new Figures(row.ownedBytes, row.mappedBytes, row.quarantinedBytes);
    }

    /** Lists what is in quarantine. */
    List<AllocationDTO> quarantine() {
        return registry.allocations().stream()
                .filter(allocation -> AllocationDTO.QUARANTINED.equals(allocation.state))
                .toList();
    }

    long releases() {
        return watch.calls("release");
    }

    // The oracle

    /** Asserts that the ledger, the device and the model agree. */
    void check() {
        checkLedger();
        checkDevice();
    }

    /** Asserts that the ledger and the device agree. */
    void checkDevice() {
        var all = all();
        subject.checkDevice(all.owned, all.mapped, idle().owned);
    }

    /** Asserts that the ledger and the model agree. */
    void checkLedger() {
        var rows = ledger.ledger();
        assertThat(ledger.alarms()).as("refunds of what was not charged").isZero();
        for (AccountDTO row : rows) {
            if (row.depth == 2) {
                assertThat(figures(row)).as(row.path).isEqualTo(model.getOrDefault(row.path, Figures.NOTHING));
            }
        }
    }

    /** Gives everything back and asserts that nothing is left, but for what was said to be. */
    void end() {
        if (ended) {
            return;
        }
        ended = true;
        try {
            check();
            registry.trim(subject.device(), Long.MAX_VALUE);
            watch.allocator().trim(Long.MAX_VALUE);
            check();
            assertThat(all()).as("what is left at the end").isEqualTo(left);
            assertThat(idle()).as("what is kept after all was asked for").isEqualTo(Figures.NOTHING);
            binding.close(Duration.ZERO);
            check();
            assertThat(all()).as("what is left after the end").isEqualTo(left);
            if (left.equals(Figures.NOTHING) && quarantine().isEmpty()) {
                assertThat(subject.freeSpans().orElse(0)).as("free spans").isLessThanOrEqualTo(1);
            }
        } finally {
            abandon();
        }
    }

    boolean hasEnded() {
        return ended;
    }

    /** Ends it whatever its state. */
    void abandon() {
        ended = true;
        subject.close();
        registry.close();
    }

    // Contents

    static void fill(MemorySession session, long token, long offset, long length, int value) {
        session.fill(token, offset, length, (byte) value);
    }

    static byte[] read(MemorySession session, long token, long offset, long length) {
        var bytes = new byte[Math.toIntExact(length)];
        session.copyOut(MemorySegment.ofArray(bytes), token, offset);
        return bytes;
    }

    static void assertHolds(MemorySession session, long token, long offset, long length, int value) {
        var bytes = read(session, token, offset, length);
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] != (byte) value) {
                assertThat(bytes[i])
                        .as("byte %d of %d", offset + i, offset + length)
                        .isEqualTo((byte) value);
            }
        }
    }

    static void releaseCompletely(MemorySession session, long token) {
        assertComplete(session.release(token));
    }

    static long assertComplete(ReleaseOutcome outcome) {
        assertThat(outcome).isInstanceOf(Complete.class);
        return ((Complete) outcome).unmappedBytes();
    }
}
