package org.granule.shell;

import org.granule.provider.ProviderDTO;

/** Configured providers, bound or not. */
final class ProviderFace extends Face<ProviderDTO> {

    static final ProviderFace INSTANCE = new ProviderFace();

    @Override
    Table columns() {
        return new Table()
                .name("PROVIDER")
                .name("DEVICE")
                .name("TENANT")
                .word("STATE")
                .figure("GEN")
                .name("ALLOCATOR")
                .figure("LIVE")
                .figure("SESSIONS")
                .figure("PENDING")
                .word("HEALTH");
    }

    @Override
    void add(Table table, ProviderDTO item) {
        table.row(
                        Text.orDash(item.name),
                        Text.orDash(item.device),
                        Text.orDash(item.tenant),
                        Text.orDash(item.state),
                        Text.count(item.generation),
                        AllocatorFace.brief(item.allocator),
                        Text.count(item.liveAllocations),
                        Text.count(item.sessions),
                        Text.count(item.pendingReleases),
                        Text.orDash(item.health))
                .note(item.reason);
        item.healthReasons.forEach(reason -> table.note("health: " + reason));
    }

    @Override
    Details details(ProviderDTO item) {
        var details = new Details()
                .add("provider", item.name)
                .add("state", item.state)
                .add("reason", item.reason)
                .add("device", item.device)
                .add("tenant", item.tenant)
                .add("filter", item.filter)
                .add("generation", item.generation)
                .add("allocator", item.allocator == null ? "none" : allocator(item))
                .add("allocations", item.liveAllocations)
                .add("sessions", item.sessions)
                .add("pending", pending(item))
                .add("health", item.health);
        item.healthReasons.forEach(reason -> details.add("", reason));
        item.candidates.forEach(other -> details.add("candidate", AllocatorFace.brief(other)));
        return details;
    }

    private static String allocator(ProviderDTO item) {
        return AllocatorFace.brief(item.allocator) + " of " + AllocatorFace.bundle(item.allocator);
    }

    private static String pending(ProviderDTO item) {
        return item.pendingReleases == 0
                ? "0"
                : Text.plural(item.pendingReleases, "release") + ", the oldest since "
                        + Text.age(item.oldestPendingNanos);
    }

    @Override
    String id(ProviderDTO item) {
        return item.name;
    }
}
