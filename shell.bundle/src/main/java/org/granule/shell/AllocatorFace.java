package org.granule.shell;

import org.granule.governor.AllocatorDTO;

/** Allocator services. */
final class AllocatorFace extends Face<AllocatorDTO> {

    static final AllocatorFace INSTANCE = new AllocatorFace();

    @Override
    Table columns() {
        return new Table()
                .figure("ID")
                .name("DEVICE")
                .name("MECHANISM")
                .word("STATE")
                .figure("RANK")
                .name("FACETS")
                .name("BUNDLE");
    }

    @Override
    void add(Table table, AllocatorDTO item) {
        table.row(
                        Long.toString(item.serviceId),
                        Text.orDash(item.device),
                        Text.orDash(item.mechanism),
                        Text.orDash(item.state),
                        Integer.toString(item.ranking),
                        Text.orDash(item.facets),
                        bundle(item))
                .note(item.reason);
    }

    @Override
    Details details(AllocatorDTO item) {
        return new Details()
                .add("service", item.serviceId)
                .add("device", item.device)
                .add("mechanism", item.mechanism)
                .add("facets", item.facets)
                .add("state", item.state)
                .add("reason", item.reason)
                .add("ranking", item.ranking)
                .add("bundle", bundle(item) + " (" + item.bundleId + ")");
    }

    @Override
    String id(AllocatorDTO item) {
        return Long.toString(item.serviceId);
    }

    static String bundle(AllocatorDTO item) {
        return Text.orDash(item.bundle) + (item.version == null ? "" : " " + item.version);
    }

    /** Names an allocator in a few characters: its mechanism and the number of its service. */
    static String brief(AllocatorDTO item) {
        return item == null ? "-" : Text.orDash(item.mechanism) + " #" + item.serviceId;
    }
}
