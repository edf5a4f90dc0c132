package org.granule.vmm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.granule.memory.MemoryException;

/** What could not be given back. Its bytes stay charged and its addresses are lost to everybody. */
final class Residues {

    /**
     * One handle that is left.
     *
     * @param address where it is or was mapped
     * @param extent the handle, of which this holds one use
     * @param reservation where it was mapped, null when only the handle is left
     * @param marked whether its bytes count as quarantined; not while others use the handle
     * @param cause the error
     */
    record Residue(long address, Extent extent, Reservation reservation, boolean marked, MemoryException cause) {

        boolean isMapped() {
            return reservation != null;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Residue> residues = new ArrayList<>();

    /** Notes a mapping that would not go. Its use of the handle stays. */
    void stillMapped(Reservation reservation, Mapping mapping, MemoryException cause) {
        reservation.leave(mapping.extent().bytes, cause);
        boolean only = !mapping.extent().isShared();
        if (only) {
            mapping.extent().owner().quarantine(mapping.extent().bytes);
        }
        add(new Residue(reservation.addressOf(mapping.first()), mapping.extent(), reservation, only, cause));
    }

    /** Notes a handle that is unmapped and could not be released. */
    void stillOwned(Extent extent, MemoryException cause) {
        extent.owner().quarantine(extent.bytes);
        add(new Residue(0, extent, null, true, cause));
    }

    void add(Residue residue) {
        lock.lock();
        try {
            residues.add(residue);
        } finally {
            lock.unlock();
        }
    }

    List<Residue> takeAll() {
        lock.lock();
        try {
            var all = List.copyOf(residues);
            residues.clear();
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of the handles that only quarantine holds. */
    long bytes() {
        lock.lock();
        try {
            return residues.stream()
                    .filter(Residue::marked)
                    .mapToLong(residue -> residue.extent().bytes)
                    .sum();
        } finally {
            lock.unlock();
        }
    }

    int count() {
        lock.lock();
        try {
            return residues.size();
        } finally {
            lock.unlock();
        }
    }

    boolean isLockedByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }
}
