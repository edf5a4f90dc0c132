package org.granule.registry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.granule.governor.AllocationDTO;
import org.granule.governor.Binding;
import org.granule.governor.BindingDTO;
import org.granule.memory.Access;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.Transfer;
import org.granule.provider.MemorySession;

/**
 * A binding: every way to one allocator leads through here. It checks arguments and identities before a call and
 * the answer after it, and keeps the ledger for allocators that leave that to their caller.
 */
final class BoundAllocator implements Binding {

    private static final long MAX_ALIGNMENT = 1L << 40;
    private static final long MAX_BYTES = Long.MAX_VALUE - 2 * MAX_ALIGNMENT;

    private final Registry registry;
    private final Registry.Identity identity;
    private final GuardedAllocator allocator;
    private final Lanes lanes = new Lanes();
    private final SlotTable slots;
    private final Tokens tokens;
    private final QueuedWork queued;
    private final Handouts handouts;
    private final Giveback giveback;
    private final Prefixes prefixes;
    private final PendingReleases pending;
    private final BindingView view;
    private final ConcurrentHashMap<Long, Owner> owners = new ConcurrentHashMap<>();
    private final AtomicLong ownerNumbers = new AtomicLong();
    private final Leftovers leftovers = new Leftovers();

    private final CompletableFuture<Void> hasEnded = new CompletableFuture<>();
    private volatile Thread closer;
    private volatile boolean closing;
    private volatile boolean closed;

    /**
     * Asks the allocator for its facets.
     *
     * @throws AllocatorFaultException when it breaks its contract
     */
    BoundAllocator(Registry registry, Registry.Identity identity, DeviceAllocator service) {
        this.registry = registry;
        this.identity = identity;
        this.allocator = new GuardedAllocator(
                identity.allocatorName(),
                identity.device(),
                service,
                fault -> registry.unhealthy(identity.serviceId(), fault));
        this.slots = new SlotTable(identity.firstGeneration());
        this.tokens = new Tokens(identity.number(), identity.holder(), registry, slots);
        this.handouts = new Handouts(allocator, device(), registry, tokens, slots);
        this.giveback = new Giveback(allocator, slots, leftovers);
        this.queued = new QueuedWork(allocator, tokens);
        this.prefixes = new Prefixes(allocator, tokens, queued, this::noted);
        this.pending = new PendingReleases("granule-fences-" + identity.holder(), giveback::releaseOrSetAside);
        this.view = new BindingView(identity, registry, allocator, tokens, slots, leftovers, pending);
    }

    // Sessions

    @Override
    public DeviceKey device() {
        return identity.device();
    }

    @Override
    public MemorySession open(String tenant, String role) {
        var account = registry.ledger().account(device(), tenant, role);
        var owner = new Owner(ownerNumbers.incrementAndGet(), account, Sites.here());
        int lane = enter();
        try {
            owners.put(owner.number, owner);
        } finally {
            lanes.leave(lane);
        }
        return new Session(this, owner, registry.cleaner());
    }

    /** Releases what an owner has left, now or when the work that is queued on it is done, and forgets the owner. */
    void close(Owner owner) {
        if (owners.remove(owner.number) != null) {
            owner.end();
            slots.forEach(slot -> {
                if (slot.owner == owner) {
                    end(slot, owner, Slot.PATIENCE_NANOS);
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
            if (slot.owner == owner && setAside(slot, owner, reason)) {
                count[0]++;
            }
        });
        if (count[0] > 0) {
            registry.report(identity.holder() + ": " + count[0] + " allocations are in quarantine, " + reason);
        }
    }

    private boolean setAside(Slot slot, Owner owner, String reason) {
        int generation = slot.generation();
        try {
            boolean seized = slot.seize(generation) && isOf(slot, owner);
            if (seized) {
                giveback.setAside(slot, reason);
            }
            return seized;
        } catch (MemoryException e) {
            return giveback.setAsidePinned(slot, generation, reason);
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

    /**
     * Releases what is in a slot of an owner that has ended, whichever or just one; lets it wait for its fences, and
     * sets aside what cannot be released.
     */
    private void end(Slot slot, Owner owner, long patienceNanos) {
        int generation = slot.generation();
        try {
            if (slot.seize(generation, patienceNanos) && isOf(slot, owner)) {
                var fences = slot.uses == null ? List.<Fence>of() : QueuedWork.notPassed(slot);
                if (fences.isEmpty()) {
                    giveback.releaseOrSetAside(slot);
                } else {
                    pending.add(slot, fences);
                }
            }
        } catch (MemoryException e) {
            var reason = "its session or provider ended while it was in use: " + e.getMessage();
            boolean listed = giveback.setAsidePinned(slot, generation, reason);
            registry.report(identity.holder() + ": " + e.getMessage() + "; it stays charged"
                    + (listed ? ", in quarantine" : ""));
        }
    }

    /** Leaves what was entered. The last call that a closed binding did not wait for lets go of the allocator. */
    private void leave(int lane) {
        lanes.leave(lane);
        if (closed && lanes.awaitQuiet(System.nanoTime())) {
            if (registry.isLast(this)) {
                // What came back this late is kept for a next allocation that there will never be.
                allocator.trim(Long.MAX_VALUE);
            }
            allocator.letGo();
        }
    }

    private int enter() {
        int lane = lanes.enter();
        if (closing) {
            lanes.leave(lane);
            throw ended();
        }
        return lane;
    }

    private ClosedException ended() {
        return Faults.closed("provider " + identity.holder() + " generation " + identity.generation());
    }

    // Allocation

    long allocate(Owner owner, long bytes, long alignment) {
        requireSize(bytes, alignment);
        int lane = enter();
        try {
            requireOpen(owner);
            return unlessClosing(handouts.allocate(owner, bytes, alignment));
        } finally {
            leave(lane);
        }
    }

    long reserve(Owner owner, long bytes, long alignment, Ranges committed, Extents extents) {
        requireSize(bytes, alignment);
        if (bytes == 0 || committed.end() > bytes) {
            throw new InvalidRequestException("a reservation of " + bytes + " bytes with " + committed
                    + " committed: at least 1 byte, and no range beyond it");
        }
        int lane = enter();
        try {
            requireOpen(owner);
            return unlessClosing(handouts.reserve(owner, bytes, alignment, committed, extents));
        } finally {
            leave(lane);
        }
    }

    /** Takes back what came after the binding may have given up waiting for it; nobody else would release it. */
    private long unlessClosing(long token) {
        if (closing) {
            var slot = slots.find(token);
            if (slot.seize(Token.generation(token)) && giveback.release(slot) instanceof Quarantined left) {
                registry.report(identity.holder() + ": " + left.ownedBytes() + " bytes stay charged: " + left.cause());
            }
            throw ended();
        }
        return token;
    }

    // Release

    ReleaseOutcome release(Owner owner, long token) {
        return giveback.release(queued.seize(owner, token));
    }

    ReleaseOutcome retire(Owner owner, long prefix) {
        var slot = tokens.seize(owner, prefix);
        if (slot.kind != Slot.Kind.PREFIX) {
            slot.publish(Slot.LIVE);
            throw new InvalidRequestException("token " + prefix + " is no prefix; release it instead");
        }
        return giveback.release(slot);
    }

    /** What waits is waited for by the end of the binding, so its call is too. */
    CompletionStage<ReleaseOutcome> releaseAfter(Owner owner, long token, Fence fence) {
        if (owner.hasEnded()) {
            throw Faults.stale(token);
        }
        int lane = enter();
        try {
            // Fences are asked while nothing is held; what is recorded after that waits whether it has passed or not.
            queued.dropPassed(owner, token);
            boolean passed = QueuedWork.hasPassed(fence);
            var slot = tokens.seize(owner, token);
            var fences = QueuedWork.take(slot);
            if (!passed) {
                fences.add(fence);
            }
            return fences.isEmpty()
                    ? CompletableFuture.completedStage(giveback.release(slot))
                    : pending.add(slot, fences);
        } finally {
            leave(lane);
        }
    }

    QueuedWork queued() {
        return queued;
    }

    /** Releases a slot that is in quarantine as a whole. */
    ReleaseOutcome settle(long token) {
        var slot = slots.find(token);
        if (slot == null || slot.generation() != Token.generation(token) || slot.phase() != Slot.QUARANTINED) {
            throw Faults.stale(token);
        }
        if (!slot.whole) {
            throw new NotSupportedException("token " + token + ": it was released in part, and only its allocator"
                    + " knows the rest; its " + slot.ownedBytes + " bytes stay in quarantine");
        }
        queued.seizeFromQuarantine(slot);
        return giveback.settle(slot);
    }

    // Virtual backing and sharing

    void commit(Owner owner, long token, long offset, long length) {
        var slot = tokens.pin(owner, token);
        try {
            slot.requirePlaced();
            slot.requireSomeWithin(offset, length);
            try {
                allocator.commit(slot.address, offset, length);
            } catch (BudgetExceededException e) {
                handouts.makeRoom(e);
                allocator.commit(slot.address, offset, length);
            }
        } finally {
            slot.unpin();
        }
    }

    ReleaseOutcome decommit(Owner owner, long token, long offset, long length) {
        var slot = queued.seize(owner, token, offset, length);
        try {
            slot.requireSomeWithin(offset, length);
            return noted(slot, allocator.decommit(slot.address, offset, length));
        } finally {
            slot.publish(Slot.LIVE);
        }
    }

    long estimate(Ranges ranges) {
        return allocator.estimate(ranges);
    }

    long granuleBytes() {
        return allocator.granuleBytes();
    }

    long committedBytes(Owner owner, long token) {
        var slot = tokens.pin(owner, token);
        try {
            return !allocator.hasBacking() || slot.kind == Slot.Kind.PREFIX || slot.address == 0
                    ? slot.bytes
                    : allocator.committedBytes(slot.address);
        } finally {
            slot.unpin();
        }
    }

    /** Sharing makes a token, so its call is waited for like an allocation. */
    long share(Owner owner, long token, long offset, long length) {
        if (owner.hasEnded()) {
            throw Faults.stale(token);
        }
        int lane = enter();
        try {
            return prefixes.share(owner, token, offset, length);
        } finally {
            leave(lane);
        }
    }

    Prefixes prefixes() {
        return prefixes;
    }

    /** Lists what an operation on a live allocation left in quarantine. */
    private ReleaseOutcome noted(Slot slot, ReleaseOutcome outcome) {
        if (outcome instanceof Quarantined left) {
            var dto = view.describe(slot);
            dto.state = AllocationDTO.QUARANTINED;
            dto.ownedBytes = left.ownedBytes();
            dto.reason = left.cause().getMessage();
            leftovers.add(slot, dto);
        }
        return outcome;
    }

    // Access

    long address(Owner owner, long token) {
        return tokens.see(owner, token).address;
    }

    long bytes(Owner owner, long token) {
        var slot = tokens.pin(owner, token);
        long bytes = slot.bytes;
        slot.unpin();
        return bytes;
    }

    /** Pins memory that is about to be touched, and checks that it may be. The caller unpins. */
    Slot hold(Owner owner, long token, long offset, long length, Access needed) {
        var slot = tokens.pin(owner, token);
        try {
            if (slot.kind == Slot.Kind.PREFIX) {
                throw new InvalidRequestException("token " + token + " is a prefix; attach it to a reservation first");
            }
            slot.requireWithin(offset, length);
            allocator.requireTransfer();
            if (allocator.hasBacking() && length > 0) {
                requireAccess(slot, offset, length, needed);
            }
        } catch (RuntimeException e) {
            slot.unpin();
            throw e;
        }
        return slot;
    }

    private void requireAccess(Slot slot, long offset, long length, Access needed) {
        var access = allocator.access(slot.address, offset, length);
        if (access.compareTo(needed) < 0) {
            throw new InvalidRequestException("offset " + offset + " with " + length + " bytes may not be "
                    + (needed == Access.READ ? "read" : "written") + ": its access is " + access
                    + (access == Access.READ ? "; privatise it first" : "; commit it first"));
        }
    }

    void transfer(String what, Consumer<Transfer> work) {
        allocator.transfer(what, work);
    }

    void synchronise(Owner owner) {
        requireOpen(owner);
        allocator.transfer("synchronise", Transfer::synchronise);
    }

    private static void requireOpen(Owner owner) {
        if (owner.hasEnded()) {
            throw Faults.closed("the session");
        }
    }

    private static void requireSize(long bytes, long alignment) {
        if (alignment <= 0 || Long.bitCount(alignment) != 1 || alignment > MAX_ALIGNMENT) {
            throw new InvalidRequestException(
                    "alignment " + alignment + " is not a power of two from 1 to " + MAX_ALIGNMENT);
        }
        if (bytes < 0 || bytes > MAX_BYTES) {
            throw new InvalidRequestException(bytes + " bytes: the size must be 0 to " + MAX_BYTES);
        }
    }

    // The end

    @Override
    public long close(Duration bound) {
        long deadline = System.nanoTime() + bound.toNanos();
        boolean first;
        synchronized (this) {
            first = !closing;
            if (first) {
                closing = true;
                closer = Thread.currentThread();
            }
        }
        if (first) {
            try {
                end(deadline);
            } finally {
                closer = null;
                hasEnded.complete(null);
            }
        } else if (closer != Thread.currentThread()) {
            // An allocator that closes its own binding from within must not wait for itself.
            hasEnded.join();
        }
        return quarantinedBytes();
    }

    private void end(long deadline) {
        boolean quiet = lanes.awaitQuiet(deadline);
        pending.awaitNone(deadline);
        for (var owner : List.copyOf(owners.values())) {
            owners.remove(owner.number);
            owner.end();
        }
        slots.forEach(slot -> end(slot, null, Math.clamp(deadline - System.nanoTime(), 0, Slot.PATIENCE_NANOS)));
        // What lived until now may have queued work of its own.
        pending.awaitNone(deadline);
        pending.abandon(slot -> giveback.setAside(slot, "its fence was not passed when its provider ended"));
        if (registry.isLast(this)) {
            // What it keeps is charged to a ledger that may end with the last binding.
            allocator.trim(Long.MAX_VALUE);
        }
        closed = true;
        if (!quiet) {
            registry.report(identity.holder() + ": calls of " + identity.allocatorName()
                    + " have not returned when the binding closed");
        }
        var left = new ArrayList<AllocationDTO>();
        list(left);
        left.removeIf(allocation -> !AllocationDTO.QUARANTINED.equals(allocation.state));
        registry.closed(this, slots.reachedGeneration(), left);
        if (quiet || lanes.awaitQuiet(System.nanoTime())) {
            allocator.letGo();
        }
    }

    private long quarantinedBytes() {
        long[] sum = new long[1];
        slots.forEach(slot -> sum[0] += slot.phase() == Slot.QUARANTINED ? slot.ownedBytes : 0);
        return sum[0] + leftovers.bytes();
    }

    // What the registry needs

    Registry.Identity identity() {
        return identity;
    }

    boolean sharesAllocatorWith(BoundAllocator other) {
        return allocator.isSameAs(other.allocator);
    }

    long trim(long bytes) {
        return allocator.trim(bytes);
    }

    boolean hasInspection() {
        return allocator.hasInspection();
    }

    /** What the allocator holds; its end waits for the answer. */
    DeviceStateDTO state() {
        int lane = enter();
        try {
            return allocator.state();
        } finally {
            leave(lane);
        }
    }

    /** What the allocator's books and its device differ in; its end waits for the answer. */
    ReconciliationDTO reconcile() {
        int lane = enter();
        try {
            return allocator.reconcile();
        } finally {
            leave(lane);
        }
    }

    @Override
    public BindingDTO describe() {
        var dto = view.describe();
        dto.state = closed ? "CLOSED" : closing ? "CLOSING" : "OPEN";
        dto.sessions = owners.size();
        return dto;
    }

    /** Adds what lives, waits, or is in quarantine. */
    void list(List<AllocationDTO> all) {
        view.list(all);
    }
}
