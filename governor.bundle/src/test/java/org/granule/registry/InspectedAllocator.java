package org.granule.registry;

import java.util.Optional;
import java.util.function.Supplier;
import org.granule.memory.Account;
import org.granule.memory.DeviceInspection;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.FindingDTO;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;

/** An eager allocator that says what it holds, as truly as a test wants. */
final class InspectedAllocator extends EagerAllocator implements DeviceInspection {

    final DeviceStateDTO held = new DeviceStateDTO();
    volatile Supplier<ReconciliationDTO> comparison = ReconciliationDTO::new;

    /** Happens before each answer of {@link #state}. */
    volatile Runnable before = () -> {};

    static ReconciliationDTO finding(String kind, long bytes) {
        var result = new ReconciliationDTO();
        var finding = new FindingDTO();
        finding.kind = kind;
        finding.bytes = bytes;
        result.findings.add(finding);
        result.findingCount = 1;
        result.differenceBytes = bytes;
        result.handlesChecked = 7;
        result.mappingsChecked = 8;
        return result;
    }

    @Override
    public Optional<DeviceInspection> inspection() {
        return Optional.of(this);
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        held.ownedBytes += bytes;
        held.mappedBytes += bytes;
        return super.allocate(bytes, alignment, account);
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        held.ownedBytes -= bytes;
        held.mappedBytes -= bytes;
        return super.release(address, bytes, alignment, account);
    }

    @Override
    public DeviceStateDTO state() {
        before.run();
        var state = new DeviceStateDTO();
        state.totalBytes = held.totalBytes;
        state.freeBytes = held.freeBytes;
        state.ownedBytes = held.ownedBytes;
        state.mappedBytes = held.mappedBytes;
        state.pooledBytes = held.pooledBytes;
        state.quarantinedBytes = held.quarantinedBytes;
        state.changes = held.changes;
        state.changing = held.changing;
        return state;
    }

    @Override
    public ReconciliationDTO reconcile() {
        return comparison.get();
    }
}
