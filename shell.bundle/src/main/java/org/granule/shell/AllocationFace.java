package org.granule.shell;

import org.granule.governor.AllocationDTO;
import org.granule.memory.ByteSize;

/** Allocations, and the same when they are in quarantine, where what is still owned and why matters more. */
final class AllocationFace extends Face<AllocationDTO> {

    static final AllocationFace LIVE = new AllocationFace(false);
    static final AllocationFace QUARANTINED = new AllocationFace(true);

    private final boolean quarantined;

    private AllocationFace(boolean quarantined) {
        this.quarantined = quarantined;
    }

    @Override
    Table columns() {
        var table = new Table().figure("TOKEN").word("KIND");
        if (!quarantined) {
            table.word("STATE");
        }
        return table.name("PROVIDER")
                .figure("GEN")
                .name("ACCOUNT")
                .figure(quarantined ? "OWNED" : "SIZE")
                .figure("AGE");
    }

    @Override
    void add(Table table, AllocationDTO item) {
        var token = Long.toString(item.token);
        var generation = Text.count(item.generation);
        var account = Text.orDash(item.account);
        var age = Text.age(item.ageNanos);
        if (quarantined) {
            var owned = ByteSize.format(item.ownedBytes);
            table.row(token, item.kind, Text.orDash(item.provider), generation, account, owned, age);
        } else {
            var size = ByteSize.format(item.bytes);
            table.row(token, item.kind, item.state, Text.orDash(item.provider), generation, account, size, age);
        }
        table.note(item.reason);
        table.note(item.site == null ? null : "made at " + item.site);
    }

    @Override
    Details details(AllocationDTO item) {
        return new Details()
                .add("token", item.token)
                .add("kind", item.kind)
                .add("state", item.state)
                .add("reason", item.reason)
                .add("provider", Text.orDash(item.provider) + ", generation " + item.generation)
                .add("account", item.account)
                .add("session", item.session)
                .add("size", ByteSize.format(item.bytes) + " = " + item.bytes + " bytes")
                .add("still owned", item.ownedBytes == 0 ? null : ByteSize.format(item.ownedBytes))
                .add("address", item.address == 0 ? "none" : "0x" + Long.toHexString(item.address))
                .add("age", Text.age(item.ageNanos))
                .add("made at", item.site == null ? "not recorded" : item.site);
    }

    @Override
    String id(AllocationDTO item) {
        return Long.toString(item.token);
    }
}
