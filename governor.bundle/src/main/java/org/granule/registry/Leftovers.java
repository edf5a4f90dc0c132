package org.granule.registry;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.granule.governor.AllocationDTO;

/** What operations on live allocations left in quarantine, until the allocation itself is given back. */
final class Leftovers {

    private record Leftover(Slot slot, int generation, AllocationDTO allocation) {}

    private final CopyOnWriteArrayList<Leftover> all = new CopyOnWriteArrayList<>();

    void add(Slot slot, AllocationDTO allocation) {
        all.add(new Leftover(slot, slot.generation(), allocation));
    }

    /** Forgets what an allocation left; its release says what is still there. */
    void forget(Slot slot) {
        if (!all.isEmpty()) {
            int generation = slot.generation();
            all.removeIf(leftover -> leftover.slot == slot && leftover.generation == generation);
        }
    }

    List<AllocationDTO> list() {
        return all.stream().map(Leftover::allocation).toList();
    }

    long bytes() {
        return all.stream()
                .mapToLong(leftover -> leftover.allocation.ownedBytes)
                .sum();
    }
}
