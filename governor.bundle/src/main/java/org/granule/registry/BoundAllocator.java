package org.granule.registry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.Binding;
import org.granule.governor.BindingDTO;
import org.granule.ledger.LedgerAccount;
import org.granule.memory.Access;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ErrorCode;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Failed;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.UndoFailedException;
import org.granule.memory.VirtualBacking;
import org.granule.provider.MemorySession;

/**
 * A binding: every way to one allocator leads through here. It checks arguments and identities before a call and
 * the answer after it, keeps the ledger for allocators that leave that to their caller, and contains what they throw.
 */
final class BoundAllocator implements Binding {

    private static final long MAX_ALIGNMENT = 1L << 40;

    private final Registry registry;
    private final int number;
    private final long serial;
    private final String holder;
    private final long generation;
    private final long serviceId;
    private final String name;
    private final DeviceKey device;
    private final Supplier<AllocatorDTO> description;

    private final boolean charges;

    // Let go of at the end, so that a session which somebody keeps does not keep the allocator's classes.
    private DeviceAllocator allocator;
    private VirtualBacking backing;
    private SharedMapping sharing;
    private Transfer transfer;

    private final Lanes lanes = new Lanes();
    private final SlotTable slots;
    private final PendingReleases pending;
    private final ConcurrentHashMap<Long, Owner> owners = new ConcurrentHashMap<>();
    private final AtomicLong ownerNumbers = new AtomicLong();
    private final CopyOnWriteArrayList<AllocationDTO> residues = new CopyOnWriteArrayList<>();
    private final AtomicLong faults = new AtomicLong();
    private volatile String lastFault;

    private volatile boolean closing;
    private volatile boolean closed;

    BoundAllocator(Registry registry, Registry.Identity identity, DeviceAllocator allocator) {
        this.registry = registry;
        this.number = identity.number();
        this.serial = identity.serial();
        this.holder = identity.holder();
        this.generation = identity.generation();
        this.serviceId = identity.serviceId();
        this.name = identity.allocatorName();
        this.device = identity.device();
        this.description = identity.description();
        this.allocator = allocator;
        this.charges = ask("commitsOnDemand", allocator::commitsOnDemand);
        this.backing = facet("virtualBacking", allocator::virtualBacking);
        this.sharing = facet("sharedMapping", allocator::sharedMapping);
        Transfer own = facet("transfer", allocator::transfer);
        this.transfer = own == null && device.isHost() ? new HostTransfer() : own;
        if (backing != null && !charges || sharing != null && backing == null) {
            throw new AllocatorFaultException(
                    name + " breaks its contract: virtual backing needs commitsOnDemand(), and shared mapping needs"
                            + " virtual backing. Report it to the allocator's author",
                    null);
        }
        this.slots = new SlotTable(identity.firstGeneration());
        this.pending = new PendingReleases("granule-fences-" + holder, this::giveBack);
    }

    private <T> T facet(String method, Supplier<Optional<T>> facet) {
        return ask(method, facet).orElse(null);
    }

    private <T> T ask(String method, Supplier<T> question) {
        T answer;
        try {
            answer = question.get();
        } catch (RuntimeException | Error e) {
            throw Faults.contain(name, method, e);
        }
        if (answer == null) {
            throw new AllocatorFaultException(
                    name + " answered null from " + method + ". Report it to the allocator's author", null);
        }
        return answer;
    }

    // Sessions

    @Override
    public DeviceKey device() {
        return device;
    }

    @Override
    public MemorySession open(String tenant, String role) {
        var account = registry.ledger().account(device, tenant, role);
        var owner = new Owner(ownerNumbers.incrementAndGet(), account, Sites.here());
        int lane = enter();
        try {
            owners.put(owner.number, owner);
        } finally {
            lanes.leave(lane);
        }
        return new Session(this, owner, registry.cleaner());
    }

    /** Releases what an owner has left and forgets it. */
    void close(Owner owner) {
        if (owners.remove(owner.number) != null) {
            owner.end();
            slots.forEach(slot -> {
                if (slot.owner == owner) {
                    end(slot, owner);
                }
            });
        }
    }

    /** Quarantines what an owner has left that was dropped: nobody can say whether its memory is still in use. */
    void drop(Owner owner) {
        if (owners.remove(owner.number) == null) {
            return;
        }
        owner.end();
        var reason = "its session was dropped without being closed; it was opened at " + owner.site;
        long[] count = new long[1];
        slots.forEach(slot -> {
            if (slot.owner == owner && slot.seize(slot.generation()) && isOf(slot, owner)) {
                setAside(slot, reason);
                count[0]++;
            }
        });
        if (count[0] > 0) {
            registry.report(holder + ": " + count[0] + " allocations are in quarantine, " + reason);
        }
    }

    /** Whether a slot that was just seized still belongs to somebody; otherwise it is let go again. */
    private static boolean isOf(Slot slot, Owner owner) {
        boolean same = owner == null || slot.owner == owner;
        if (!same) {
            slot.publish(Slot.LIVE);
        }
        return same;
    }

    private int enter() {
        int lane = lanes.enter();
        if (closing) {
            lanes.leave(lane);
            throw Faults.closed("provider " + holder + " generation " + generation);
        }
        return lane;
    }

    // Allocation

    long allocate(Owner owner, long bytes, long alignment) {
        requireSize(bytes, alignment);
        int lane = enter();
        try {
            requireOpen(owner);
            if (bytes == 0) {
                return issue(slots.claimUnplaced(), owner, Slot.Kind.ALLOCATION, 0, alignment);
            }
            long address = charges
                    ? allocateCharging(owner.account, bytes, alignment)
                    : allocateCharged(owner.account, bytes, alignment);
            return verified(owner, Slot.Kind.ALLOCATION, address, bytes, alignment);
        } finally {
            lanes.leave(lane);
        }
    }

    private long allocateCharged(LedgerAccount account, long bytes, long alignment) {
        try {
            account.charge(bytes, bytes);
        } catch (BudgetExceededException e) {
            makeRoom(e);
            account.charge(bytes, bytes);
        }
        try {
            return allocator.allocate(bytes, alignment, account);
        } catch (RuntimeException | Error e) {
            account.refund(bytes, bytes);
            throw contained("allocate", e);
        }
    }

    private long allocateCharging(LedgerAccount account, long bytes, long alignment) {
        try {
            return allocator.allocate(bytes, alignment, account);
        } catch (BudgetExceededException e) {
            makeRoom(e);
        } catch (RuntimeException | Error e) {
            throw contained("allocate", e);
        }
        try {
            return allocator.allocate(bytes, alignment, account);
        } catch (RuntimeException | Error e) {
            throw contained("allocate", e);
        }
    }

    /** Asks all allocators of the device for idle memory, or throws the refusal when that cannot help. */
    private void makeRoom(BudgetExceededException refusal) {
        long missing = refusal.askedBytes() - refusal.availableBytes();
        if (!refusal.limitedBy().equals(device.toString()) || registry.trim(device, missing) == 0) {
            throw refusal;
        }
    }

    /** Checks what an allocator handed out, and issues a token for it. */
    private long verified(Owner owner, Slot.Kind kind, long address, long bytes, long alignment) {
        if (address == 0 || (address & alignment - 1) != 0 || address > Long.MAX_VALUE - bytes) {
            unwind(owner, address, bytes, alignment);
            throw broken(
                    "answered 0x" + Long.toHexString(address) + " for " + bytes + " bytes aligned to " + alignment);
        }
        var slot = slots.claim(address, bytes);
        if (slot == null) {
            unwind(owner, address, bytes, alignment);
            throw tooMany();
        }
        if (slot.address != address || slot.phase() != Slot.CLAIMED) {
            if (!charges) {
                owner.account.refund(bytes, bytes);
            }
            throw broken("handed out 0x" + Long.toHexString(address) + " with " + bytes + " bytes, which overlaps "
                    + slot.bytes + " live bytes at 0x" + Long.toHexString(slot.address) + "; it was not passed on");
        }
        long token = issue(slot, owner, kind, bytes, alignment);
        if (closing) {
            // The binding gave up waiting for this call; nobody else will release what came of it.
            release(owner, token);
            throw Faults.closed("provider " + holder + " generation " + generation);
        }
        return token;
    }

    private long issue(Slot slot, Owner owner, Slot.Kind kind, long bytes, long alignment) {
        if (slot == null) {
            throw tooMany();
        }
        slot.owner = owner;
        slot.kind = kind;
        slot.bytes = bytes;
        slot.alignment = alignment;
        slot.bornTicks = registry.ticks();
        slot.site = registry.recordsSites() ? Sites.here() : null;
        long token = Token.of(number, slot.index, slot.generation());
        slot.publish(Slot.LIVE);
        return token;
    }

    private InvalidRequestException tooMany() {
        return new InvalidRequestException("provider " + holder + " has " + Token.MAX_SLOTS
                + " allocations; release some, or allocate larger ones");
    }

    /** Gives an answer back that cannot be passed on. */
    private void unwind(Owner owner, long address, long bytes, long alignment) {
        if (!charges) {
            owner.account.refund(bytes, bytes);
        }
        if (address != 0) {
            var outcome = callRelease(address, bytes, alignment, owner.account);
            if (!(outcome instanceof Complete)) {
                noteFault("did not take back 0x" + Long.toHexString(address) + ": " + outcome);
            }
        }
    }

    // Release

    ReleaseOutcome release(Owner owner, long token) {
        return giveBack(seize(owner, token));
    }

    CompletionStage<ReleaseOutcome> releaseAfter(Owner owner, long token, Fence fence) {
        var slot = seize(owner, token);
        boolean passed;
        try {
            passed = fence.passed();
        } catch (RuntimeException | Error e) {
            slot.publish(Slot.LIVE);
            throw new InvalidRequestException("the fence threw " + e + "; nothing was released");
        }
        return passed ? CompletableFuture.completedStage(giveBack(slot)) : pending.add(slot, fence);
    }

    /** Releases a slot in exclusive use through the allocator. */
    private ReleaseOutcome giveBack(Slot slot) {
        var account = slot.owner.account;
        ReleaseOutcome outcome;
        if (slot.kind == Slot.Kind.PREFIX) {
            outcome = call("retire", () -> sharing.retire(slot.prefix), slot.bytes);
        } else if (slot.address == 0) {
            outcome = Complete.NOTHING_UNMAPPED;
        } else {
            outcome = callRelease(slot.address, slot.bytes, slot.alignment, account);
        }
        settle(slot, account, outcome);
        return outcome;
    }

    private void settle(Slot slot, LedgerAccount account, ReleaseOutcome outcome) {
        boolean charged = !charges && slot.kind == Slot.Kind.ALLOCATION;
        switch (outcome) {
            case Complete complete -> {
                if (charged) {
                    account.refund(slot.bytes, slot.bytes);
                }
                if (slot.kind == Slot.Kind.RESERVATION) {
                    account.reserved(-slot.bytes);
                }
                slots.free(slot);
            }
            case Failed failed -> slot.publish(Slot.LIVE);
            case Quarantined left -> {
                if (charged) {
                    long owned = Math.min(left.ownedBytes(), slot.bytes);
                    account.refund(slot.bytes - owned, Math.min(left.unmappedBytes(), slot.bytes));
                    account.quarantine(owned);
                }
                slot.ownedBytes = left.ownedBytes();
                slot.whole = false;
                slot.reason = left.cause().getMessage();
                slot.publish(Slot.QUARANTINED);
            }
        }
    }

    private ReleaseOutcome callRelease(long address, long bytes, long alignment, LedgerAccount account) {
        ReleaseOutcome outcome;
        try {
            outcome = allocator.release(address, bytes, alignment, account);
        } catch (RuntimeException | Error e) {
            return new Quarantined(0, bytes, contained("release", e));
        }
        return outcome == null ? new Quarantined(0, bytes, broken("answered null from release")) : outcome;
    }

    /** Calls a method that answers with an outcome; whatever else it does counts as nothing known. */
    private ReleaseOutcome call(String method, Supplier<ReleaseOutcome> question, long atStake) {
        ReleaseOutcome outcome;
        try {
            outcome = question.get();
        } catch (RuntimeException | Error e) {
            return new Quarantined(0, atStake, contained(method, e));
        }
        return outcome == null ? new Quarantined(0, atStake, broken("answered null from " + method)) : outcome;
    }

    /** Puts a slot in exclusive use into quarantine as it is. */
    private ReleaseOutcome setAside(Slot slot, String reason) {
        long owned = ownedBytes(slot);
        slot.owner.account.quarantine(owned);
        slot.ownedBytes = owned;
        slot.whole = true;
        slot.reason = reason;
        slot.publish(Slot.QUARANTINED);
        return new Quarantined(0, owned, new MemoryException(ErrorCode.IN_USE, reason));
    }

    private long ownedBytes(Slot slot) {
        if (slot.kind == Slot.Kind.PREFIX || slot.address == 0) {
            return 0;
        }
        if (backing == null) {
            return slot.bytes;
        }
        try {
            return backing.committedBytes(slot.address);
        } catch (RuntimeException | Error e) {
            noteFault("threw " + e + " from committedBytes");
            return 0;
        }
    }

    /** Releases a slot that is in quarantine as a whole. */
    ReleaseOutcome settle(long token) {
        var slot = slots.find(token);
        if (slot == null || slot.generation() != Token.generation(token) || slot.phase() != Slot.QUARANTINED) {
            throw Faults.stale(token);
        }
        if (!slot.whole || closed) {
            throw new NotSupportedException("token " + token + ": "
                    + (closed
                            ? "its allocator is gone"
                            : "it was released in part, and only its allocator knows the rest")
                    + "; its " + slot.ownedBytes + " bytes stay in quarantine");
        }
        if (!slot.seizeFrom(Slot.QUARANTINED)) {
            throw Faults.inUse(slot);
        }
        long owned = slot.ownedBytes;
        var reason = slot.reason;
        var account = slot.owner.account;
        account.endQuarantine(owned);
        var outcome = giveBack(slot);
        if (outcome instanceof Failed && slot.seizeFrom(Slot.LIVE)) {
            setAside(slot, reason);
        }
        return outcome;
    }

    // Virtual backing

    long reserve(Owner owner, long bytes, long alignment, Ranges committed, Extents extents) {
        requireSize(bytes, alignment);
        requireBacking();
        if (bytes == 0 || committed.end() > bytes) {
            throw new InvalidRequestException("a reservation of " + bytes + " bytes with " + committed
                    + " committed: at least 1 byte, and no range beyond it");
        }
        int lane = enter();
        try {
            requireOpen(owner);
            long address;
            try {
                address = reserveOnce(owner, bytes, alignment, committed, extents);
            } catch (BudgetExceededException e) {
                makeRoom(e);
                address = reserveOnce(owner, bytes, alignment, committed, extents);
            }
            long token = verified(owner, Slot.Kind.RESERVATION, address, bytes, alignment);
            owner.account.reserved(bytes);
            return token;
        } finally {
            lanes.leave(lane);
        }
    }

    private long reserveOnce(Owner owner, long bytes, long alignment, Ranges committed, Extents extents) {
        try {
            return backing.reserve(bytes, alignment, committed, extents, owner.account);
        } catch (RuntimeException | Error e) {
            throw contained("reserve", e);
        }
    }

    void commit(Owner owner, long token, long offset, long length) {
        requireBacking();
        var slot = pin(owner, token);
        try {
            requireWithin(slot, offset, length);
            try {
                commitOnce(slot, offset, length);
            } catch (BudgetExceededException e) {
                makeRoom(e);
                commitOnce(slot, offset, length);
            }
        } finally {
            slot.unpin();
        }
    }

    private void commitOnce(Slot slot, long offset, long length) {
        try {
            backing.commit(slot.address, offset, length);
        } catch (RuntimeException | Error e) {
            throw contained("commit", e);
        }
    }

    ReleaseOutcome decommit(Owner owner, long token, long offset, long length) {
        requireBacking();
        var slot = seize(owner, token);
        try {
            requireWithin(slot, offset, length);
            return noted(slot, call("decommit", () -> backing.decommit(slot.address, offset, length), length));
        } finally {
            slot.publish(Slot.LIVE);
        }
    }

    long estimate(Ranges ranges) {
        requireBacking();
        return inside("estimate", () -> backing.estimate(ranges));
    }

    long granuleBytes() {
        requireBacking();
        return inside("granuleBytes", backing::granuleBytes);
    }

    long committedBytes(Owner owner, long token) {
        var slot = pin(owner, token);
        try {
            if (backing == null || slot.kind == Slot.Kind.PREFIX || slot.address == 0) {
                return slot.bytes;
            }
            return backing.committedBytes(slot.address);
        } catch (RuntimeException | Error e) {
            throw contained("committedBytes", e);
        } finally {
            slot.unpin();
        }
    }

    // Shared mapping

    long share(Owner owner, long token, long offset, long length) {
        requireSharing();
        int lane = enter();
        try {
            var slot = pin(owner, token);
            try {
                requireWithin(slot, offset, length);
                long prefix = sharing.share(slot.address, offset, length);
                var shared = slots.claimUnplaced();
                if (shared == null) {
                    sharing.retire(prefix);
                    throw tooMany();
                }
                shared.prefix = prefix;
                return issue(shared, owner, Slot.Kind.PREFIX, length, 1);
            } catch (RuntimeException | Error e) {
                throw contained("share", e);
            } finally {
                slot.unpin();
            }
        } finally {
            lanes.leave(lane);
        }
    }

    long price(Owner owner, long prefix) {
        requireSharing();
        var slot = pinPrefix(prefix);
        try {
            return sharing.price(slot.prefix, owner.account);
        } catch (RuntimeException | Error e) {
            throw contained("price", e);
        } finally {
            slot.unpin();
        }
    }

    void attach(Owner owner, long token, long[] offsets, long[] prefixes) {
        requireSharing();
        if (offsets.length != prefixes.length) {
            throw new InvalidRequestException(offsets.length + " offsets for " + prefixes.length + " prefixes");
        }
        var slot = pin(owner, token);
        try {
            for (int i = 0; i < prefixes.length; i++) {
                try {
                    attachOne(slot, offsets[i], prefixes[i]);
                } catch (RuntimeException e) {
                    detachAll(slot, offsets, prefixes, i, e);
                    throw e;
                }
            }
        } finally {
            slot.unpin();
        }
    }

    void attachOne(Owner owner, long token, long offset, long prefix) {
        requireSharing();
        var slot = pin(owner, token);
        try {
            attachOne(slot, offset, prefix);
        } finally {
            slot.unpin();
        }
    }

    private void attachOne(Slot slot, long offset, long prefix) {
        var shared = pinPrefix(prefix);
        try {
            requireWithin(slot, offset, shared.bytes);
            sharing.map(shared.prefix, slot.address, offset);
        } catch (RuntimeException | Error e) {
            throw contained("map", e);
        } finally {
            shared.unpin();
        }
    }

    private void detachAll(Slot slot, long[] offsets, long[] prefixes, int count, RuntimeException first) {
        for (int i = count - 1; i >= 0; i--) {
            var shared = pinPrefix(prefixes[i]);
            try {
                long offset = offsets[i];
                var outcome = call("unmap", () -> sharing.unmap(shared.prefix, slot.address, offset), shared.bytes);
                if (!(noted(slot, outcome) instanceof Complete)) {
                    throw new UndoFailedException(
                            "prefix " + prefixes[i] + " stays attached at offset " + offset
                                    + " after a later one failed: " + outcome
                                    + ". Release the reservation; do not use it for private memory",
                            first);
                }
            } finally {
                shared.unpin();
            }
        }
    }

    ReleaseOutcome detach(Owner owner, long token, long offset, long prefix) {
        requireSharing();
        var shared = slots.find(prefix);
        if (shared == null || Token.binding(prefix) != number || shared.kind != Slot.Kind.PREFIX) {
            throw Faults.stale(prefix);
        }
        long mapped = shared.prefix;
        long bytes = shared.bytes;
        if (shared.generation() != Token.generation(prefix)) {
            throw Faults.stale(prefix);
        }
        var slot = seize(owner, token);
        try {
            requireWithin(slot, offset, bytes);
            return noted(slot, call("unmap", () -> sharing.unmap(mapped, slot.address, offset), bytes));
        } finally {
            slot.publish(Slot.LIVE);
        }
    }

    ReleaseOutcome retire(Owner owner, long prefix) {
        requireSharing();
        var slot = seize(owner, prefix);
        if (slot.kind != Slot.Kind.PREFIX) {
            slot.publish(Slot.LIVE);
            throw new InvalidRequestException("token " + prefix + " is no prefix; release it instead");
        }
        return giveBack(slot);
    }

    void privatise(Owner owner, long token, long offset, long length) {
        requireSharing();
        var slot = seize(owner, token);
        try {
            requireWithin(slot, offset, length);
            sharing.privatise(slot.address, offset, length);
        } catch (RuntimeException | Error e) {
            throw contained("privatise", e);
        } finally {
            slot.publish(Slot.LIVE);
        }
    }

    // Access

    long address(Owner owner, long token) {
        var slot = pin(owner, token);
        slot.unpin();
        return slot.address;
    }

    long bytes(Owner owner, long token) {
        var slot = pin(owner, token);
        long bytes = slot.bytes;
        slot.unpin();
        return bytes;
    }

    /** Pins memory that is about to be touched, and checks that it may be. The caller unpins. */
    Slot hold(Owner owner, long token, long offset, long length, Access needed) {
        requireNotEnded(owner, token);
        if (transfer == null) {
            throw Faults.noFacet(name, "transfer, and " + device + " cannot be addressed by Java");
        }
        var slot = pin(owner, token);
        try {
            if (slot.kind == Slot.Kind.PREFIX) {
                throw new InvalidRequestException("token " + token + " is a prefix; attach it to a reservation first");
            }
            requireWithin(slot, offset, length);
            if (backing != null && length > 0) {
                var access = backing.access(slot.address, offset, length);
                if (access == null || access.compareTo(needed) < 0) {
                    throw new InvalidRequestException("offset " + offset + " with " + length + " bytes may not be "
                            + (needed == Access.READ ? "read" : "written") + ": its access is " + access
                            + (access == Access.READ ? "; privatise it first" : "; commit it first"));
                }
            }
        } catch (RuntimeException | Error e) {
            slot.unpin();
            throw contained("access", e);
        }
        return slot;
    }

    /** Moves bytes, with what the allocator's facet throws contained. */
    void transfer(String what, Consumer<Transfer> work) {
        try {
            work.accept(transfer);
        } catch (RuntimeException | Error e) {
            throw contained(what, e);
        }
    }

    void synchronise(Owner owner) {
        requireOpen(owner);
        if (transfer != null) {
            transfer("synchronise", Transfer::synchronise);
        }
    }

    /** Asks the allocator for idle memory. */
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

    // Identity

    private Slot find(long token) {
        if (Token.binding(token) != number) {
            throw Faults.foreign(token);
        }
        var slot = slots.find(token);
        if (slot == null) {
            throw Faults.stale(token);
        }
        return slot;
    }

    private Slot pin(Owner owner, long token) {
        requireNotEnded(owner, token);
        var slot = find(token);
        if (!slot.pin(Token.generation(token))) {
            throw Faults.stale(token);
        }
        if (slot.owner != owner) {
            slot.unpin();
            throw Faults.foreign(token);
        }
        return slot;
    }

    private Slot pinPrefix(long token) {
        var slot = find(token);
        if (!slot.pin(Token.generation(token))) {
            throw Faults.stale(token);
        }
        if (slot.kind != Slot.Kind.PREFIX) {
            slot.unpin();
            throw new InvalidRequestException("token " + token + " is no prefix; share() makes one");
        }
        return slot;
    }

    private Slot seize(Owner owner, long token) {
        requireNotEnded(owner, token);
        var slot = find(token);
        if (!slot.seize(Token.generation(token))) {
            throw Faults.stale(token);
        }
        if (slot.owner != owner) {
            slot.publish(Slot.LIVE);
            throw Faults.foreign(token);
        }
        return slot;
    }

    private void requireNotEnded(Owner owner, long token) {
        if (closed || owner.hasEnded()) {
            throw Faults.stale(token);
        }
    }

    private static void requireOpen(Owner owner) {
        if (owner.hasEnded()) {
            throw Faults.closed("the session");
        }
    }

    private static void requireWithin(Slot slot, long offset, long length) {
        if (offset < 0 || length < 0 || offset > slot.bytes - length) {
            throw Faults.outside(offset, length, slot.bytes);
        }
    }

    private static void requireSize(long bytes, long alignment) {
        if (alignment <= 0 || Long.bitCount(alignment) != 1 || alignment > MAX_ALIGNMENT) {
            throw new InvalidRequestException(
                    "alignment " + alignment + " is not a power of two from 1 to " + MAX_ALIGNMENT);
        }
        if (bytes < 0 || bytes > Long.MAX_VALUE - 2 * MAX_ALIGNMENT) {
            throw new InvalidRequestException(
                    bytes + " bytes: the size must be 0 to " + (Long.MAX_VALUE - 2 * MAX_ALIGNMENT));
        }
    }

    private void requireBacking() {
        if (backing == null) {
            throw closed ? Faults.closed("provider " + holder) : Faults.noFacet(name, "virtual backing");
        }
    }

    private void requireSharing() {
        if (sharing == null) {
            throw closed ? Faults.closed("provider " + holder) : Faults.noFacet(name, "shared mapping");
        }
    }

    // Faults

    private <T> T inside(String method, Supplier<T> question) {
        try {
            return question.get();
        } catch (RuntimeException | Error e) {
            throw contained(method, e);
        }
    }

    private MemoryException contained(String method, Throwable thrown) {
        var error = Faults.contain(name, method, thrown);
        if (error != thrown) {
            noteFault("threw " + thrown + " from " + method);
        }
        return error;
    }

    private AllocatorFaultException broken(String what) {
        noteFault(what);
        return new AllocatorFaultException(
                name + " breaks its contract: it " + what + ". Report it to the allocator's author, and use another",
                null);
    }

    private void noteFault(String what) {
        faults.incrementAndGet();
        lastFault = what;
        registry.unhealthy(serviceId, name + " " + what);
    }

    /** Lists what an operation on a live allocation left in quarantine. */
    private ReleaseOutcome noted(Slot slot, ReleaseOutcome outcome) {
        if (outcome instanceof Quarantined left) {
            var dto = describe(slot);
            dto.state = "QUARANTINED";
            dto.ownedBytes = left.ownedBytes();
            dto.reason = left.cause().getMessage();
            residues.add(dto);
        }
        return outcome;
    }

    // The end

    @Override
    public synchronized long close(Duration bound) {
        if (closed) {
            return quarantinedBytes();
        }
        long deadline = System.nanoTime() + bound.toNanos();
        closing = true;
        boolean quiet = lanes.awaitQuiet(deadline);
        pending.awaitNone(deadline);
        pending.abandon(slot -> setAside(slot, "its fence was not passed when its provider ended"));
        for (var owner : List.copyOf(owners.values())) {
            owners.remove(owner.number);
            owner.end();
        }
        slots.forEach(slot -> end(slot, null));
        closed = true;
        if (!quiet) {
            registry.report(holder + ": calls of " + name + " have not returned when the binding closed");
        }
        var left = new ArrayList<AllocationDTO>();
        list(left);
        left.removeIf(allocation -> !"QUARANTINED".equals(allocation.state));
        registry.closed(this, slots.reachedGeneration(), left);
        allocator = null;
        backing = null;
        sharing = null;
        transfer = null;
        return quarantinedBytes();
    }

    /** Releases what is in a slot, whoever has it or just one owner; what cannot be released is set aside. */
    private void end(Slot slot, Owner owner) {
        try {
            if (slot.seize(slot.generation())
                    && isOf(slot, owner)
                    && giveBack(slot) instanceof Failed failed
                    && slot.seizeFrom(Slot.LIVE)) {
                setAside(slot, failed.cause().getMessage());
            }
        } catch (MemoryException e) {
            registry.report(holder + ": " + e.getMessage() + "; it stays charged");
        }
    }

    private long quarantinedBytes() {
        long[] sum = new long[1];
        slots.forEach(slot -> sum[0] += slot.phase() == Slot.QUARANTINED ? slot.ownedBytes : 0);
        residues.forEach(residue -> sum[0] += residue.ownedBytes);
        return sum[0];
    }

    // Description

    @Override
    public BindingDTO describe() {
        var dto = new BindingDTO();
        dto.serial = serial;
        dto.holder = holder;
        dto.generation = generation;
        dto.allocator = description.get();
        dto.device = device.toString();
        dto.state = closed ? "CLOSED" : closing ? "CLOSING" : "OPEN";
        slots.forEach(slot -> dto.liveAllocations += isThere(slot.phase()) ? 1 : 0);
        dto.sessions = owners.size();
        dto.pendingReleases = pending.count();
        dto.oldestPendingNanos = pending.oldestNanos();
        dto.faults = faults.get();
        dto.lastFault = lastFault;
        dto.driverCalls = backing == null || closed ? -1 : backing.driverCalls();
        return dto;
    }

    private static boolean isThere(int phase) {
        return phase == Slot.LIVE || phase == Slot.EXCLUSIVE || phase == Slot.PENDING;
    }

    /** Adds what lives, waits, or is in quarantine. */
    void list(List<AllocationDTO> all) {
        slots.forEach(slot -> {
            int phase = slot.phase();
            if (isThere(phase) || phase == Slot.QUARANTINED) {
                var dto = describe(slot);
                dto.state = phase == Slot.QUARANTINED ? "QUARANTINED" : phase == Slot.PENDING ? "PENDING" : "LIVE";
                dto.reason = slot.reason;
                dto.ownedBytes = phase == Slot.QUARANTINED ? slot.ownedBytes : 0;
                all.add(dto);
            }
        });
        all.addAll(residues);
    }

    private AllocationDTO describe(Slot slot) {
        var dto = new AllocationDTO();
        var owner = slot.owner;
        dto.token = Token.of(number, slot.index, slot.generation());
        dto.kind = String.valueOf(slot.kind);
        dto.provider = holder;
        dto.generation = generation;
        dto.account = owner == null ? null : owner.account.path();
        dto.session = owner == null ? 0 : owner.number;
        dto.address = slot.address;
        dto.bytes = slot.bytes;
        dto.ageNanos = registry.nanosSince(slot.bornTicks);
        dto.site = slot.site;
        return dto;
    }

    String holder() {
        return holder;
    }

    long generation() {
        return generation;
    }

    long serviceId() {
        return serviceId;
    }

    int number() {
        return number;
    }

    DeviceAllocator allocator() {
        return allocator;
    }
}
