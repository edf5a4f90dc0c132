package org.granule.vmm;

import java.util.List;
import java.util.Optional;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceInspection;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.VirtualBacking;

/**
 * An allocator over a driver, with all facets over the same one. It charges the accounts itself: a handle is
 * owned from its creation to its release, by the account that uses it, or by the device's idle account while
 * it is kept.
 *
 * <p>Thread-safe. Operations on different allocations run at once. Each driver call is made without a lock that
 * another allocation needs.
 */
public final class VmmAllocator implements DeviceAllocator, AutoCloseable {

    private final Engine engine;
    private final KeptBlocks kept;
    private final VmmBacking backing;
    private final VmmSharing sharing;
    private final VmmInspection inspection;
    private final Optional<Transfer> transfer;

    /**
     * Makes an engine for a device whose memory Java can address. No driver call is made but for the granule.
     *
     * @param driver the device
     * @param settings how to use it
     * @throws InvalidRequestException when the driver's granule is not a power of two
     */
    public VmmAllocator(VmmDriver driver, VmmSettings settings) {
        this(driver, settings, null);
    }

    /**
     * Makes an engine.
     *
     * @param driver the device
     * @param settings how to use it
     * @param transfer how bytes are moved there, or null when Java can address its memory
     * @throws InvalidRequestException when the driver's granule is not a power of two
     */
    public VmmAllocator(VmmDriver driver, VmmSettings settings, Transfer transfer) {
        this.transfer = Optional.ofNullable(transfer);
        engine = new Engine(driver, settings);
        kept = new KeptBlocks(settings.keptBytes(), 2 * Runtime.getRuntime().availableProcessors());
        backing = new VmmBacking(engine);
        sharing = new VmmSharing(engine);
        inspection = new VmmInspection(engine, kept, sharing);
        engine.memory.spare(this::trim);
    }

    @Override
    public DeviceKey device() {
        return engine.settings.device();
    }

    @Override
    public boolean commitsOnDemand() {
        return true;
    }

    @Override
    public Optional<VirtualBacking> virtualBacking() {
        return Optional.of(backing);
    }

    @Override
    public Optional<SharedMapping> sharedMapping() {
        return Optional.of(sharing);
    }

    @Override
    public Optional<Transfer> transfer() {
        return transfer;
    }

    @Override
    public Optional<DeviceInspection> inspection() {
        return Optional.of(inspection);
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        Engine.requireAlignment(alignment);
        long span = engine.span(bytes);
        engine.driver.requireWorking("allocate");
        var block = kept.take(span, alignment, account);
        if (block != null) {
            return reuse(block, account);
        }
        var reservation = engine.reserve(span, alignment, Extents.WHOLE, true, account);
        reservation.turn.lock();
        try {
            engine.commit(reservation, 0, span);
        } catch (RuntimeException e) {
            throw engine.undone(reservation, e);
        } finally {
            reservation.turn.unlock();
        }
        return reservation.address;
    }

    private long reuse(Reservation block, Account account) {
        var before = block.account();
        var idle = account.idle();
        try {
            idle.moveTo(account, block.span, block.span);
        } catch (RuntimeException e) {
            if (!kept.putBack(block)) {
                discard(block);
            }
            throw e;
        }
        if (before != account) {
            try {
                engine.driver.scrub(block.address, block.span);
            } catch (RuntimeException e) {
                account.moveTo(idle, block.span, block.span);
                throw Engine.notUndone(block.span - discard(block), e);
            }
            for (var mapping : mappings(block)) {
                mapping.extent().writtenBy(account);
                mapping.extent().charge(account);
            }
        }
        block.handTo(account);
        return block.address;
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        Reservation reservation;
        try {
            reservation = engine.live(address);
        } catch (MemoryException e) {
            return new ReleaseOutcome.Failed(e);
        }
        if (reservation.block && !engine.driver.isLost() && mayKeep(reservation)) {
            reservation.end();
            if (kept.offer(reservation)) {
                return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
            }
            reservation.handTo(reservation.account());
        }
        return engine.dissolve(reservation);
    }

    /** A block may stay mapped when it is whole and its own: nothing of it is decommitted, stuck or a prefix. */
    private static boolean mayKeep(Reservation block) {
        return block.mappedBytes() == block.span
                && !block.isTainted()
                && !block.wasAttached()
                && block.committed.covers(0, block.span);
    }

    @Override
    public long trim(long bytes) {
        long trimmed = engine.memory.trim(bytes);
        while (trimmed < bytes && !engine.driver.isOutOfReach()) {
            var block = kept.evict();
            if (block == null) {
                break;
            }
            trimmed += discard(block);
        }
        return trimmed;
    }

    /** Takes a kept block apart, whose memory is charged to the idle account; returns bytes that left it. */
    private long discard(Reservation block) {
        var idle = block.account().idle();
        for (var mapping : mappings(block)) {
            mapping.extent().charge(idle);
        }
        block.handTo(idle);
        return switch (engine.dissolve(block)) {
            case ReleaseOutcome.Complete complete -> complete.unmappedBytes();
            case ReleaseOutcome.Quarantined left -> block.span - left.ownedBytes();
            case ReleaseOutcome.Failed failed -> 0;
        };
    }

    private List<Mapping> mappings(Reservation block) {
        return engine.mapped(block, 0, block.endGranule(0, block.span));
    }

    /**
     * Tries once more to give back what is in quarantine.
     *
     * @return owned bytes that are really gone now
     */
    public long settle() {
        long settled = 0;
        for (var residue : engine.residues.takeAll()) {
            settled += settle(residue);
        }
        return settled;
    }

    /** Returns owned bytes that are gone; what is left of the residue goes back on the list. */
    private long settle(Residues.Residue residue) {
        var extent = residue.extent();
        var origin = residue.isMapped() ? residue.reservation() : extent.leftBy();
        var rest = residue;
        long gone = 0;
        try {
            if (residue.isMapped()) {
                engine.mapper.settle(residue);
                rest = new Residues.Residue(0, extent, null, residue.marked(), residue.cause());
            }
            // A handle that others use is theirs from now on.
            if (!residue.isMapped() || extent.dropUse()) {
                extent.leftBy(origin);
                engine.memory.settle(extent, residue.marked());
                gone = extent.bytes;
            }
            if (origin != null) {
                origin.settle(extent.bytes);
            }
        } catch (DriverFaultException e) {
            engine.residues.add(rest);
        }
        return gone;
    }

    /**
     * Notes that the device is lost, which somebody else found who works on it. No driver call is made from now on,
     * and nothing is refunded until {@link #deviceGone}.
     */
    public void deviceLost() {
        engine.driver.lose();
    }

    /**
     * Declares the context of a lost device gone, and with it all its memory. Everything in quarantine settles;
     * what is still held settles as it is released. Does nothing while the device works.
     *
     * @return owned bytes that settled
     */
    public long deviceGone() {
        engine.driver.gone();
        return engine.driver.isLost() ? settle() + trim(Long.MAX_VALUE) : 0;
    }

    /**
     * Counts the handles and mappings that could not be given back.
     *
     * @return 0 when nothing is in quarantine
     */
    public int quarantined() {
        return engine.residues.count();
    }

    /**
     * Counts the free spans of addresses.
     *
     * @return one for each arena when nothing is allocated and nothing kept
     */
    public int freeSpans() {
        return engine.addresses.spanCount();
    }

    /**
     * Tells whether this thread holds a lock of the engine that another allocation may need. A driver may use it
     * to check that it is never called so.
     *
     * @return whether such a lock is held
     */
    public boolean isLockedByCurrentThread() {
        return engine.isLockedByCurrentThread();
    }

    /** Gives idle memory and unused addresses back. What is in use or in quarantine stays. */
    @Override
    public void close() {
        trim(Long.MAX_VALUE);
        engine.addresses.freeWholeArenas();
    }
}
