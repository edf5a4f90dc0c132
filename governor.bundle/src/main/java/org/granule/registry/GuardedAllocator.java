package org.granule.registry;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.granule.ledger.LedgerAccount;
import org.granule.memory.Access;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceInspection;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.VirtualBacking;

/**
 * The way to an allocator and its facets. Whatever they throw comes out as one of our errors, and what breaks their
 * contract is counted. It lets go of them at the end, so that a session which somebody keeps does not keep the
 * allocator's classes.
 */
final class GuardedAllocator {

    private final String name;
    private final boolean charges;
    private final boolean host;
    private final Consumer<String> faultListener;
    private final AtomicLong faults = new AtomicLong();
    private volatile String lastFault;
    private volatile boolean gone;

    private DeviceAllocator allocator;
    private VirtualBacking backing;
    private SharedMapping sharing;
    private Transfer transfer;
    private DeviceInspection inspection;

    /**
     * Asks for the facets.
     *
     * @param faultListener told each breach of the contract
     * @throws AllocatorFaultException when the allocator breaks its contract
     */
    GuardedAllocator(String name, DeviceKey device, DeviceAllocator allocator, Consumer<String> faultListener) {
        this.name = name;
        this.host = device.isHost();
        this.faultListener = faultListener;
        this.allocator = allocator;
        this.charges = ask("commitsOnDemand", allocator::commitsOnDemand);
        this.backing = facet("virtualBacking", allocator::virtualBacking);
        this.sharing = facet("sharedMapping", allocator::sharedMapping);
        Transfer own = facet("transfer", allocator::transfer);
        this.transfer = own == null && host ? new HostTransfer() : own;
        this.inspection = facet("inspection", allocator::inspection);
        if (backing != null && !charges || sharing != null && backing == null) {
            throw broken("virtual backing needs commitsOnDemand(), and shared mapping needs virtual backing");
        }
    }

    private <T> T facet(String method, Supplier<Optional<T>> facet) {
        return ask(method, facet).orElse(null);
    }

    private <T> T ask(String method, Supplier<T> question) {
        T answer;
        try {
            answer = question.get();
        } catch (RuntimeException | Error e) {
            throw contained(method, e);
        }
        if (answer == null) {
            throw broken("answered null from " + method);
        }
        return answer;
    }

    /** Lets go; every later call is refused. */
    void letGo() {
        gone = true;
        allocator = null;
        backing = null;
        sharing = null;
        transfer = null;
        inspection = null;
    }

    boolean isSameAs(GuardedAllocator other) {
        return allocator != null && allocator == other.allocator;
    }

    boolean charges() {
        return charges;
    }

    boolean hasBacking() {
        return backing != null;
    }

    long allocate(long bytes, long alignment, LedgerAccount account) {
        try {
            return allocator.allocate(bytes, alignment, account);
        } catch (RuntimeException | Error e) {
            throw contained("allocate", e);
        }
    }

    /** Releases; an error means that nobody can say how far it got. */
    ReleaseOutcome release(long address, long bytes, long alignment, LedgerAccount account) {
        ReleaseOutcome outcome;
        try {
            outcome = allocator.release(address, bytes, alignment, account);
        } catch (RuntimeException | Error e) {
            throw contained("release", e);
        }
        if (outcome == null) {
            throw broken("answered null from release");
        }
        return outcome;
    }

    long trim(long bytes) {
        var asked = allocator;
        if (asked == null) {
            return 0;
        }
        try {
            return Math.max(0, asked.trim(bytes));
        } catch (RuntimeException | Error e) {
            noteFault("threw " + e + " from trim");
            return 0;
        }
    }

    // Virtual backing

    long reserve(long bytes, long alignment, Ranges committed, Extents extents, LedgerAccount account) {
        var facet = backing();
        try {
            return facet.reserve(bytes, alignment, committed, extents, account);
        } catch (RuntimeException | Error e) {
            throw contained("reserve", e);
        }
    }

    void commit(long address, long offset, long length) {
        var facet = backing();
        try {
            facet.commit(address, offset, length);
        } catch (RuntimeException | Error e) {
            throw contained("commit", e);
        }
    }

    ReleaseOutcome decommit(long address, long offset, long length) {
        var facet = backing();
        return outcome("decommit", () -> facet.decommit(address, offset, length), length);
    }

    long committedBytes(long address) {
        var facet = backing();
        return inside("committedBytes", () -> facet.committedBytes(address));
    }

    long ownedBytes(long address) {
        var facet = backing();
        return inside("ownedBytes", () -> facet.ownedBytes(address));
    }

    long estimate(Ranges ranges) {
        var facet = backing();
        return inside("estimate", () -> facet.estimate(ranges));
    }

    long granuleBytes() {
        return inside("granuleBytes", backing()::granuleBytes);
    }

    Access access(long address, long offset, long length) {
        var facet = backing();
        return inside("access", () -> facet.access(address, offset, length));
    }

    long driverCalls() {
        var facet = backing;
        try {
            return facet == null ? -1 : facet.driverCalls();
        } catch (RuntimeException | Error e) {
            noteFault("threw " + e + " from driverCalls");
            return -1;
        }
    }

    // Shared mapping

    long share(long address, long offset, long length) {
        var facet = sharing();
        return inside("share", () -> facet.share(address, offset, length));
    }

    long price(long prefix, LedgerAccount account) {
        var facet = sharing();
        return inside("price", () -> facet.price(prefix, account));
    }

    void map(long prefix, long address, long offset) {
        var facet = sharing();
        try {
            facet.map(prefix, address, offset);
        } catch (RuntimeException | Error e) {
            throw contained("map", e);
        }
    }

    ReleaseOutcome unmap(long prefix, long address, long offset, long atStake) {
        var facet = sharing();
        return outcome("unmap", () -> facet.unmap(prefix, address, offset), atStake);
    }

    /** Retires a prefix; an error means that nobody can say how far it got. */
    ReleaseOutcome retire(long prefix) {
        var facet = sharing();
        return inside("retire", () -> facet.retire(prefix));
    }

    void privatise(long address, long offset, long length) {
        var facet = sharing();
        try {
            facet.privatise(address, offset, length);
        } catch (RuntimeException | Error e) {
            throw contained("privatise", e);
        }
    }

    // Transfer

    /** Moves bytes. */
    void transfer(String what, Consumer<Transfer> work) {
        var facet = requireTransfer();
        try {
            work.accept(facet);
        } catch (RuntimeException | Error e) {
            throw contained(what, e);
        }
    }

    Transfer requireTransfer() {
        return require(transfer, "transfer, and its device cannot be addressed by Java");
    }

    // Inspection

    boolean hasInspection() {
        return inspection != null;
    }

    DeviceStateDTO state() {
        var facet = require(inspection, "inspection");
        return inside("state", facet::state);
    }

    ReconciliationDTO reconcile() {
        var facet = require(inspection, "inspection");
        ReconciliationDTO answer = inside("reconcile", facet::reconcile);
        if (answer.findings == null || answer.findings.contains(null)) {
            throw broken("answered null in the findings of reconcile");
        }
        return answer;
    }

    private VirtualBacking backing() {
        return require(backing, "virtual backing");
    }

    private SharedMapping sharing() {
        return require(sharing, "shared mapping");
    }

    private <T> T require(T facet, String what) {
        if (facet == null) {
            throw gone ? Faults.closed(name) : Faults.noFacet(name, what);
        }
        return facet;
    }

    // Faults

    /** Tells whoever listens of a breach, and makes the error for it. */
    AllocatorFaultException broken(String what) {
        noteFault(what);
        return new AllocatorFaultException(
                name + " breaks its contract: it " + what + ". Report it to the allocator's author, and use another",
                null);
    }

    void noteFault(String what) {
        faults.incrementAndGet();
        lastFault = what;
        faultListener.accept(name + " " + what);
    }

    long faults() {
        return faults.get();
    }

    String lastFault() {
        return lastFault;
    }

    private <T> T inside(String method, Supplier<T> question) {
        T answer;
        try {
            answer = question.get();
        } catch (RuntimeException | Error e) {
            throw contained(method, e);
        }
        if (answer == null) {
            throw broken("answered null from " + method);
        }
        return answer;
    }

    /** Calls what answers with an outcome; whatever else it does means that nothing is known. */
    private ReleaseOutcome outcome(String method, Supplier<ReleaseOutcome> question, long atStake) {
        ReleaseOutcome outcome;
        try {
            outcome = question.get();
        } catch (RuntimeException | Error e) {
            return new Quarantined(0, atStake, contained(method, e));
        }
        return outcome == null ? new Quarantined(0, atStake, broken("answered null from " + method)) : outcome;
    }

    private MemoryException contained(String method, Throwable thrown) {
        if (gone) {
            return Faults.closed(name);
        }
        if (thrown instanceof MemoryException known) {
            return known;
        }
        noteFault("threw " + thrown + " from " + method);
        return Faults.threw(name, method, thrown);
    }
}
