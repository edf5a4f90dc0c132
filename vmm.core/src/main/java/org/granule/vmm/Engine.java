package org.granule.vmm;

import java.util.ArrayList;
import java.util.List;
import org.granule.memory.Access;
import org.granule.memory.Account;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.ReleaseOutcome.Quarantined;
import org.granule.memory.StaleTokenException;
import org.granule.memory.UndoFailedException;

/**
 * The parts of one engine, and what its three faces have in common: finding reservations, making them, and
 * taking them apart.
 */
final class Engine {

    final VmmSettings settings;
    final GuardedDriver driver;
    final long granuleBytes;
    final AddressSpace addresses;
    final HandlePool pool;
    final Residues residues = new Residues();
    final PhysicalMemory memory;
    final Mapper mapper;

    Engine(VmmDriver driver, VmmSettings settings) {
        this.settings = settings;
        this.driver = new GuardedDriver(driver);
        this.granuleBytes = driver.granuleBytes();
        if (granuleBytes <= 0 || Long.bitCount(granuleBytes) != 1) {
            throw new InvalidRequestException("granule of " + granuleBytes + " bytes is not a power of two");
        }
        this.addresses = new AddressSpace(this.driver, granuleBytes, settings.arenaBytes());
        this.pool = new HandlePool(settings.idleBytes());
        this.memory = new PhysicalMemory(this.driver, pool, residues);
        this.mapper = new Mapper(this.driver, memory, residues);
    }

    /** Rounds up to whole granules. */
    long span(long bytes) {
        if (bytes <= 0 || bytes > Long.MAX_VALUE - granuleBytes + 1) {
            throw new InvalidRequestException(
                    bytes + " bytes: the size must be 1 to " + (Long.MAX_VALUE - granuleBytes + 1));
        }
        return (bytes + granuleBytes - 1) & -granuleBytes;
    }

    static void requireAlignment(long alignment) {
        if (alignment <= 0 || Long.bitCount(alignment) != 1) {
            throw new InvalidRequestException("alignment " + alignment + " is not a power of two");
        }
    }

    /** Makes a reservation that others can find by its address, with nothing committed. */
    Reservation reserve(long bytes, long alignment, Extents extents, boolean block, Account account) {
        requireAlignment(alignment);
        long span = span(bytes);
        long address = addresses.take(span, alignment);
        var reservation = new Reservation(address, bytes, span, granuleBytes, extents, block, account);
        addresses.note(address, reservation);
        return reservation;
    }

    /** Finds a live reservation by its address. */
    Reservation live(long address) {
        var reservation = addresses.find(address);
        if (reservation == null) {
            throw new StaleTokenException("no reservation starts at 0x" + Long.toHexString(address));
        }
        reservation.requireLive();
        return reservation;
    }

    /** Commits a range that lies within the reservation; the caller holds its turn. */
    void commit(Reservation reservation, long offset, long length) {
        var missing = new ArrayList<Mapping>();
        try {
            take(reservation, reservation.firstGranule(offset), reservation.endGranule(offset, length), missing);
            if (!missing.isEmpty()) {
                mapper.map(reservation, missing, Access.READ_WRITE);
            }
        } catch (RuntimeException e) {
            long left = 0;
            for (Mapping mapping : missing) {
                if (reservation.table.get(mapping.first()) == null
                        && memory.untake(mapping.extent(), mapping.extent().isFresh()) != null) {
                    left += mapping.extent().bytes;
                }
            }
            throw notUndone(left, e);
        }
        reservation.committed.add(offset, offset + length);
    }

    /** Takes a handle for each gap between two granules, as large as the reservation's way of leaving allows. */
    private void take(Reservation reservation, long from, long to, List<Mapping> taken) {
        long missing = missing(reservation, from, to);
        long largest =
                reservation.extents == Extents.PIECES ? 1 : Math.max(1, settings.maxExtentBytes() / granuleBytes);
        if (missing > largest) {
            memory.requireRoom(reservation.sizeOf(missing), reservation.account());
        }
        for (long granule = from; granule < to; ) {
            var present = reservation.table.next(granule, to);
            long gapEnd = present == null ? to : present.first();
            while (granule < gapEnd) {
                long count = Math.min(largest, gapEnd - granule);
                var extent = memory.take(reservation.sizeOf(count), reservation.account());
                taken.add(new Mapping(extent, granule, count, null, false));
                granule += count;
            }
            if (present != null) {
                granule = present.end();
            }
        }
    }

    /** How many granules of a range are not there; all that are there must be usable. */
    private long missing(Reservation reservation, long from, long to) {
        long missing = to - from;
        for (var mapping = reservation.table.next(from, to);
                mapping != null;
                mapping = reservation.table.next(mapping.end(), to)) {
            requireUsable(reservation, mapping);
            missing -= Math.min(to, mapping.end()) - Math.max(from, mapping.first());
        }
        return missing;
    }

    /** What to throw when a request failed: the first error, or that bytes which it took could not be given back. */
    static RuntimeException notUndone(long left, RuntimeException first) {
        return left == 0 || first instanceof UndoFailedException
                ? first
                : new UndoFailedException(
                        left + " bytes of a request that failed could not be given back and are in quarantine: "
                                + first.getMessage(),
                        first);
    }

    void requireUsable(Reservation reservation, Mapping mapping) {
        if (mapping.stuck()) {
            throw new InvalidRequestException("0x" + Long.toHexString(reservation.addressOf(mapping.first())) + " with "
                    + mapping.extent().bytes + " bytes is in quarantine since an unmap failed; use another range");
        }
    }

    /** Collects what is mapped and not stuck in a range of granules, in order. */
    List<Mapping> mapped(Reservation reservation, long from, long to) {
        var found = new ArrayList<Mapping>();
        for (var mapping = reservation.table.next(from, to);
                mapping != null;
                mapping = reservation.table.next(mapping.end(), to)) {
            if (!mapping.stuck()) {
                found.add(mapping);
            }
        }
        return found;
    }

    /** Takes a reservation apart whose request failed; returns what to throw. */
    RuntimeException undone(Reservation reservation, RuntimeException first) {
        return dissolve(reservation) instanceof Quarantined left ? notUndone(left.ownedBytes(), first) : first;
    }

    /** Takes a reservation apart and gives its addresses back, unless something of it is in quarantine. */
    ReleaseOutcome dissolve(Reservation reservation) {
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.end();
            var outcome = mapper.unmap(
                    reservation, mapped(reservation, 0, reservation.endGranule(0, reservation.span)), false);
            reservation.committed.clear();
            addresses.note(reservation.address, null);
            if (reservation.isTainted()) {
                return left(reservation, outcome);
            }
            addresses.give(reservation.address, reservation.span);
            return outcome;
        } finally {
            reservation.turn.unlock();
        }
    }

    /** All that a reservation leaves in quarantine, also from before. Its addresses do not come again. */
    private static ReleaseOutcome left(Reservation reservation, ReleaseOutcome outcome) {
        long unmapped =
                switch (outcome) {
                    case Complete complete -> complete.unmappedBytes();
                    case Quarantined quarantined -> quarantined.unmappedBytes();
                    case ReleaseOutcome.Failed failed -> 0;
                };
        return reservation.leftBytes() == 0
                ? outcome
                : new Quarantined(unmapped, reservation.leftBytes(), reservation.taintedBy());
    }

    /** Whether this thread holds a lock that another allocation may need; for drivers that check. */
    boolean isLockedByCurrentThread() {
        return addresses.isLockedByCurrentThread()
                || pool.isLockedByCurrentThread()
                || residues.isLockedByCurrentThread();
    }
}
