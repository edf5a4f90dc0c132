package org.granule.registry;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.granule.ledger.Ledger;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.FindingDTO;
import org.granule.memory.MemoryException;
import org.granule.memory.ReconciliationDTO;

/**
 * Compares what a device's ledger says is owned with the sum over its allocators. The two are read one after the
 * other while memory comes and goes, and a charge that moves between accounts counts twice for a moment, so a
 * difference is believed only when both have stood still with it for a while. That they agree once is enough.
 */
final class LedgerComparison {

    /** How often in succession all readings must be the same for a difference to be believed. */
    private static final int STILL = 10;

    private static final int MOST_READINGS = 20 * STILL;
    private static final long BETWEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** What is owned at a moment: by the ledger without leases, by the allocators, and what these changed so far. */
    private record Reading(long ledger, long allocators, long changes, long changing) {

        boolean agrees() {
            return ledger == allocators;
        }

        boolean isStill() {
            return changing == 0;
        }
    }

    private final Ledger ledger;
    private final DeviceKey device;
    private final List<BoundAllocator> allocators;

    LedgerComparison(Ledger ledger, DeviceKey device, List<BoundAllocator> allocators) {
        this.ledger = ledger;
        this.device = device;
        this.allocators = allocators;
    }

    void addTo(ReconciliationDTO result) {
        try {
            var last = read();
            for (int readings = 1, same = 1; readings < MOST_READINGS && !last.agrees(); readings++) {
                if (same == STILL) {
                    result.ledger = ReconciliationDTO.COMPARED;
                    report(last, result);
                    return;
                }
                LockSupport.parkNanos(BETWEEN_NANOS);
                var next = read();
                same = next.isStill() && next.equals(last) ? same + 1 : 1;
                last = next;
            }
            result.ledger = last.agrees() ? ReconciliationDTO.COMPARED : ReconciliationDTO.MOVING;
        } catch (MemoryException e) {
            result.ledger = ReconciliationDTO.NOT_COMPARED;
            result.faults.add("the ledger could not be compared: " + e.getMessage());
        }
    }

    private Reading read() {
        long owned = 0;
        long changes = 0;
        long changing = 0;
        for (BoundAllocator allocator : allocators) {
            DeviceStateDTO state = allocator.state();
            owned += state.ownedBytes;
            changes += state.changes;
            changing += state.changing;
        }
        var row = ledger.ledger(device).getFirst();
        return new Reading(row.ownedBytes - row.leasedBytes, owned, changes, changing);
    }

    private void report(Reading reading, ReconciliationDTO result) {
        var finding = new FindingDTO();
        finding.kind = FindingDTO.LEDGER_DIFFERS;
        finding.handle = -1;
        finding.bytes = Math.abs(reading.ledger - reading.allocators);
        finding.account = device.toString();
        result.findings.add(finding);
        result.findingCount++;
        result.differenceBytes += finding.bytes;
    }
}
