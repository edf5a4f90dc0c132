package org.granule.vmm;

import org.granule.memory.Access;
import org.granule.memory.Account;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.VirtualBacking;

/** Commit and decommit as transactions: all of a request, or what was before. */
final class VmmBacking implements VirtualBacking {

    private final Engine engine;

    VmmBacking(Engine engine) {
        this.engine = engine;
    }

    @Override
    public long granuleBytes() {
        return engine.granuleBytes;
    }

    @Override
    public long reserve(long bytes, long alignment, Ranges committed, Extents extents, Account account) {
        if (committed.end() > bytes) {
            throw new InvalidRequestException(
                    "committed ranges " + committed + " reach beyond the reservation of " + bytes + " bytes");
        }
        var reservation = engine.reserve(bytes, alignment, extents, false, account);
        reservation.turn.lock();
        try {
            for (int i = 0; i < committed.count(); i++) {
                engine.commit(reservation, committed.offset(i), committed.length(i));
            }
        } catch (RuntimeException e) {
            throw engine.undone(reservation, e);
        } finally {
            reservation.turn.unlock();
        }
        return reservation.address;
    }

    @Override
    public void commit(long address, long offset, long length) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.requireWithin(offset, length);
            engine.commit(reservation, offset, length);
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public ReleaseOutcome decommit(long address, long offset, long length) {
        Reservation reservation;
        try {
            reservation = engine.live(address);
        } catch (MemoryException e) {
            return new ReleaseOutcome.Failed(e);
        }
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.requireWithin(offset, length);
            long end = offset + length;
            var leaving = engine.mapped(
                    reservation, reservation.firstGranule(offset), reservation.endGranule(offset, length));
            leaving.removeIf(mapping -> isNeeded(reservation, mapping, offset, end));
            var outcome = engine.mapper.unmap(reservation, leaving, true);
            if (!(outcome instanceof ReleaseOutcome.Failed)) {
                reservation.committed.remove(offset, end);
            }
            return outcome;
        } catch (MemoryException e) {
            return new ReleaseOutcome.Failed(e);
        } finally {
            reservation.turn.unlock();
        }
    }

    /** Whether a mapping has committed bytes outside the range that is decommitted. */
    private static boolean isNeeded(Reservation reservation, Mapping mapping, long offset, long end) {
        long start = reservation.sizeOf(mapping.first());
        long stop = reservation.sizeOf(mapping.end());
        return start < offset && reservation.committed.touches(start, offset)
                || stop > end && reservation.committed.touches(end, stop);
    }

    @Override
    public long committedBytes(long address) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            return reservation.mappedBytes();
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public long ownedBytes(long address) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            long owned = 0;
            for (var mapping : engine.mapped(reservation, 0, reservation.endGranule(0, reservation.span))) {
                owned += mapping.isReadOnly() ? 0 : mapping.extent().bytes;
            }
            return owned;
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public long estimate(Ranges ranges) {
        return ranges.granuleUnion(engine.granuleBytes);
    }

    @Override
    public Access access(long address, long offset, long length) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.requireWithin(offset, length);
            if (!reservation.committed.covers(offset, offset + length)) {
                return Access.NONE;
            }
            long to = reservation.endGranule(offset, length);
            var weakest = Access.READ_WRITE;
            for (long granule = reservation.firstGranule(offset); granule < to; ) {
                var mapping = reservation.table.get(granule);
                if (mapping == null || mapping.stuck()) {
                    return Access.NONE;
                }
                if (mapping.isReadOnly()) {
                    weakest = Access.READ;
                }
                granule = mapping.end();
            }
            return weakest;
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public long driverCalls() {
        return engine.driver.calls();
    }
}
