package org.granule.registry;

import java.util.List;
import org.granule.governor.AllocationDTO;
import org.granule.governor.BindingDTO;

/** What a binding shows to operators. */
final class BindingView {

    private final Registry.Identity identity;
    private final Registry registry;
    private final GuardedAllocator allocator;
    private final Tokens tokens;
    private final SlotTable slots;
    private final Leftovers leftovers;
    private final PendingReleases pending;

    BindingView(
            Registry.Identity identity,
            Registry registry,
            GuardedAllocator allocator,
            Tokens tokens,
            SlotTable slots,
            Leftovers leftovers,
            PendingReleases pending) {
        this.identity = identity;
        this.registry = registry;
        this.allocator = allocator;
        this.tokens = tokens;
        this.slots = slots;
        this.leftovers = leftovers;
        this.pending = pending;
    }

    /** Describes the binding, all but its state and sessions. */
    BindingDTO describe() {
        var dto = new BindingDTO();
        dto.serial = identity.serial();
        dto.holder = identity.holder();
        dto.generation = identity.generation();
        dto.allocator = identity.description();
        dto.device = identity.device().toString();
        slots.forEach(slot -> dto.liveAllocations += slot.isThere() ? 1 : 0);
        dto.pendingReleases = pending.count();
        dto.oldestPendingNanos = pending.oldestNanos();
        dto.faults = allocator.faults();
        dto.lastFault = allocator.lastFault();
        dto.driverCalls = allocator.driverCalls();
        return dto;
    }

    /** Adds what lives, waits, or is in quarantine. */
    void list(List<AllocationDTO> all) {
        slots.forEach(slot -> {
            boolean quarantined = slot.phase() == Slot.QUARANTINED;
            if (quarantined || slot.isThere()) {
                var dto = describe(slot);
                dto.state = quarantined
                        ? AllocationDTO.QUARANTINED
                        : slot.phase() == Slot.PENDING ? AllocationDTO.PENDING : AllocationDTO.LIVE;
                dto.reason = AllocationDTO.LIVE.equals(dto.state) ? null : slot.reason;
                dto.ownedBytes = quarantined ? slot.ownedBytes : 0;
                dto.pendingNanos = AllocationDTO.PENDING.equals(dto.state) ? System.nanoTime() - slot.pendingSince : 0;
                all.add(dto);
            }
        });
        all.addAll(leftovers.list());
    }

    AllocationDTO describe(Slot slot) {
        var dto = new AllocationDTO();
        var owner = slot.owner;
        dto.token = tokens.of(slot);
        dto.kind = String.valueOf(slot.kind);
        dto.provider = identity.holder();
        dto.generation = identity.generation();
        dto.account = owner == null ? null : owner.account.path();
        dto.session = owner == null ? 0 : owner.number;
        dto.address = slot.address;
        dto.bytes = slot.bytes;
        dto.ageNanos = registry.nanosSince(slot.bornTicks);
        dto.site = slot.site;
        return dto;
    }
}
