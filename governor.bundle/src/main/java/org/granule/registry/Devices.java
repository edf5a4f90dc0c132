package org.granule.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.granule.governor.AccountDTO;
import org.granule.governor.AllocationDTO;
import org.granule.governor.DeviceDTO;
import org.granule.ledger.Ledger;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.MemoryException;
import org.granule.memory.ReconciliationDTO;

/** The devices of the bound allocators: what each allocator says of its own, and the ledger of all. */
final class Devices {

    private final Ledger ledger;
    private final List<BoundAllocator> bindings;
    private final Supplier<List<AllocationDTO>> left;
    private final Map<DeviceKey, Long> lastDifferences = new ConcurrentHashMap<>();

    /**
     * Makes the view.
     *
     * @param bindings those that are open; changes while it is read
     * @param left what closed bindings left in quarantine; likewise
     */
    Devices(Ledger ledger, List<BoundAllocator> bindings, Supplier<List<AllocationDTO>> left) {
        this.ledger = ledger;
        this.bindings = bindings;
        this.left = left;
    }

    SortedSet<DeviceKey> keys() {
        return bindings.stream().map(BoundAllocator::device).collect(Collectors.toCollection(TreeSet::new));
    }

    /** One binding for each allocator of a device. */
    private List<BoundAllocator> allocatorsOf(DeviceKey device) {
        var found = new ArrayList<BoundAllocator>();
        for (var binding : bindings) {
            if (binding.device().equals(device) && found.stream().noneMatch(binding::sharesAllocatorWith)) {
                found.add(binding);
            }
        }
        return found;
    }

    DeviceDTO describe(DeviceKey device) {
        var dto = new DeviceDTO();
        dto.device = device.toString();
        dto.totalBytes = -1;
        dto.freeBytes = -1;
        for (var allocator : allocatorsOf(device)) {
            var description = allocator.identity().description();
            dto.allocators.add(description);
            dto.name = dto.name == null ? description.deviceName : dto.name;
            if (allocator.hasInspection()) {
                try {
                    add(dto, allocator.state());
                } catch (MemoryException e) {
                    // It is ending or failed, which its binding has noted: the ledger still knows what it holds.
                    continue;
                }
                dto.inspected++;
            }
        }
        if (dto.inspected == 0) {
            dto.ownedBytes = -1;
            dto.mappedBytes = -1;
            dto.pooledBytes = -1;
            dto.quarantinedBytes = -1;
        }
        var accounts = ledger.ledger(device);
        var all = accounts.getFirst();
        dto.ledgerOwnedBytes = all.ownedBytes;
        dto.ledgerMappedBytes = all.mappedBytes;
        dto.ledgerPooledBytes = idle(accounts, device);
        dto.ledgerQuarantinedBytes = all.quarantinedBytes;
        dto.differenceBytes = lastDifferences.getOrDefault(device, -1L);
        return dto;
    }

    private static void add(DeviceDTO dto, DeviceStateDTO state) {
        // All allocators of a device see the same one; one that knows is enough.
        dto.totalBytes = dto.totalBytes < 0 ? state.totalBytes : dto.totalBytes;
        dto.freeBytes = dto.freeBytes < 0 ? state.freeBytes : dto.freeBytes;
        dto.ownedBytes += state.ownedBytes;
        dto.mappedBytes += state.mappedBytes;
        dto.pooledBytes += state.pooledBytes;
        dto.quarantinedBytes += state.quarantinedBytes;
    }

    private long idle(List<AccountDTO> accounts, DeviceKey device) {
        var path = ledger.idle(device).path();
        return accounts.stream()
                .filter(account -> account.path.equals(path))
                .mapToLong(account -> account.ownedBytes)
                .sum();
    }

    ReconciliationDTO reconcile(DeviceKey device) {
        var result = new ReconciliationDTO();
        result.device = device.toString();
        var inspected = new ArrayList<BoundAllocator>();
        for (var allocator : allocatorsOf(device)) {
            var name = nameOf(allocator);
            if (!allocator.hasInspection()) {
                result.remarks.add(name + " cannot be inspected; only the ledger knows what it holds");
                continue;
            }
            try {
                add(result, allocator.reconcile(), name);
                inspected.add(allocator);
            } catch (ClosedException e) {
                result.remarks.add(name + " is ending and was not compared");
            } catch (MemoryException e) {
                result.faults.add(name + " could not be compared: " + e.getMessage());
            }
        }
        if (left.get().stream().anyMatch(allocation -> isOf(device, allocation))) {
            result.remarks.add("memory of an ended provider is in quarantine, which no bound allocator knows");
        }
        if (result.remarks.isEmpty() && result.faults.isEmpty()) {
            new LedgerComparison(ledger, device, inspected).addTo(result);
        } else {
            result.ledger = ReconciliationDTO.NOT_COMPARED;
        }
        lastDifferences.put(device, result.differenceBytes);
        return result;
    }

    private static boolean isOf(DeviceKey device, AllocationDTO allocation) {
        return allocation.ownedBytes > 0 && allocation.account != null && allocation.account.startsWith(device + "/");
    }

    private static String nameOf(BoundAllocator allocator) {
        var description = allocator.identity().description();
        return (description.mechanism == null ? "allocator" : description.mechanism) + " #" + description.serviceId;
    }

    private static void add(ReconciliationDTO sum, ReconciliationDTO part, String allocator) {
        sum.handlesChecked += part.handlesChecked;
        sum.mappingsChecked += part.mappingsChecked;
        sum.uncheckedBytes += part.uncheckedBytes;
        sum.quarantinedBytes += part.quarantinedBytes;
        sum.findingCount += part.findingCount;
        sum.differenceBytes += part.differenceBytes;
        for (var finding : part.findings) {
            if (sum.findings.size() < ReconciliationDTO.MOST_FINDINGS) {
                finding.allocator = allocator;
                sum.findings.add(finding);
            }
        }
    }
}
