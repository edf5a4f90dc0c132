package org.granule.vmm;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.MemoryException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.UndoFailedException;

/**
 * Puts mappings into a reservation and takes them out, whole runs at a time. Whoever calls holds the
 * reservation's turn.
 */
final class Mapper {

    private final GuardedDriver driver;
    private final PhysicalMemory memory;
    private final Residues residues;
    private final LongAdder mappedBytes = new LongAdder();

    Mapper(GuardedDriver driver, PhysicalMemory memory, Residues residues) {
        this.driver = driver;
        this.memory = memory;
        this.residues = residues;
    }

    /**
     * Maps all or none. The books and the account's mapped bytes follow when all is done; on failure the
     * mappings' uses of their handles stay with the caller, but for those that went into quarantine.
     *
     * @return never when it fails; the exception is the first error, or tells that the undo failed
     */
    void map(Reservation reservation, List<Mapping> mappings, Access access) {
        int mapped = 0;
        try {
            for (Mapping mapping : mappings) {
                driver.map(reservation.addressOf(mapping.first()), mapping.extent().bytes, mapping.extent().handle);
                mapped++;
            }
            for (int i = 0; i < mappings.size(); i = endOfRun(mappings, i)) {
                driver.open(startOf(reservation, mappings, i), sizeOf(mappings, i), access);
            }
            if (access == Access.READ_WRITE) {
                scrub(reservation, mappings);
            }
        } catch (RuntimeException e) {
            undo(reservation, mappings.subList(0, mapped), e);
            throw e;
        }
        long bytes = 0;
        for (Mapping mapping : mappings) {
            reservation.table.put(mapping);
            bytes += mapping.extent().bytes;
        }
        addMapped(reservation, bytes);
        reservation.account().charge(0, bytes);
    }

    private void scrub(Reservation reservation, List<Mapping> mappings) {
        var account = reservation.account();
        for (Mapping mapping : mappings) {
            if (mapping.extent().mustScrubFor(account)) {
                driver.scrub(reservation.addressOf(mapping.first()), mapping.extent().bytes);
            }
        }
        for (Mapping mapping : mappings) {
            mapping.extent().writtenBy(account);
        }
    }

    private void undo(Reservation reservation, List<Mapping> mapped, RuntimeException first) {
        long left = 0;
        for (int i = 0; i < mapped.size(); i = endOfRun(mapped, i)) {
            try {
                driver.unmap(startOf(reservation, mapped, i), sizeOf(mapped, i));
            } catch (DriverFaultException e) {
                for (Mapping mapping : mapped.subList(i, endOfRun(mapped, i))) {
                    stick(reservation, mapping, e);
                    addMapped(reservation, mapping.extent().bytes);
                    reservation.account().charge(0, mapping.extent().bytes);
                    left += mapping.extent().bytes;
                }
            }
        }
        if (left > 0) {
            throw new UndoFailedException(
                    left + " bytes that were mapped at 0x" + Long.toHexString(reservation.address)
                            + " for a request that failed could not be unmapped and are in quarantine: "
                            + first.getMessage(),
                    first);
        }
    }

    /**
     * Unmaps what is given, run by run, and gives up each handle whose last use it was. A run that fails stays
     * mapped, in quarantine; the others go.
     *
     * @param firstMayFail whether a failure of the very first run may be reported as Failed, with nothing changed
     */
    ReleaseOutcome unmap(Reservation reservation, List<Mapping> mappings, boolean firstMayFail) {
        long unmapped = 0;
        long left = 0;
        MemoryException cause = null;
        for (int i = 0, next; i < mappings.size(); i = next) {
            next = endOfRun(mappings, i);
            var run = mappings.subList(i, next);
            long bytes = sizeOf(mappings, i);
            try {
                driver.unmap(startOf(reservation, mappings, i), bytes);
            } catch (DriverFaultException e) {
                if (i == 0 && firstMayFail && e.kind() != DriverFaultException.Kind.DEVICE_LOST) {
                    return new ReleaseOutcome.Failed(e);
                }
                cause = cause == null ? e : cause;
                left += bytes;
                for (Mapping mapping : run) {
                    stick(reservation, mapping, e);
                }
                continue;
            }
            reservation.account().refund(0, bytes);
            addMapped(reservation, -bytes);
            unmapped += bytes;
            for (Mapping mapping : run) {
                reservation.table.remove(mapping);
            }
            for (Mapping mapping : run) {
                if (!mapping.extent().dropUse()) {
                    continue;
                }
                var error = memory.give(mapping.extent());
                if (error != null) {
                    reservation.leave(mapping.extent().bytes, error);
                    mapping.extent().leftBy(reservation);
                    left += mapping.extent().bytes;
                    cause = cause == null ? error : cause;
                }
            }
        }
        if (left == 0) {
            return unmapped == 0 ? ReleaseOutcome.Complete.NOTHING_UNMAPPED : new ReleaseOutcome.Complete(unmapped);
        }
        return new ReleaseOutcome.Quarantined(unmapped, left, cause);
    }

    /** Tries once more to unmap what is in quarantine. */
    void settle(Residues.Residue residue) {
        driver.unmap(residue.address(), residue.extent().bytes);
        residue.reservation().account().refund(0, residue.extent().bytes);
        addMapped(residue.reservation(), -residue.extent().bytes);
    }

    /** All that is mapped, what is stuck included. */
    long mappedBytes() {
        return mappedBytes.sum();
    }

    private void addMapped(Reservation reservation, long bytes) {
        reservation.addMapped(bytes);
        mappedBytes.add(bytes);
    }

    private void stick(Reservation reservation, Mapping mapping, MemoryException cause) {
        reservation.table.put(mapping.asStuck());
        residues.stillMapped(reservation, mapping, cause);
    }

    /** The index after the last mapping that follows without a gap. */
    private static int endOfRun(List<Mapping> mappings, int from) {
        int next = from + 1;
        while (next < mappings.size()
                && mappings.get(next).first() == mappings.get(next - 1).end()) {
            next++;
        }
        return next;
    }

    private static long startOf(Reservation reservation, List<Mapping> mappings, int from) {
        return reservation.addressOf(mappings.get(from).first());
    }

    private static long sizeOf(List<Mapping> mappings, int from) {
        long bytes = 0;
        for (int i = from, end = endOfRun(mappings, from); i < end; i++) {
            bytes += mappings.get(i).extent().bytes;
        }
        return bytes;
    }
}
