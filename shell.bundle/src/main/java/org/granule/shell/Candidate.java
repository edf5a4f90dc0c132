package org.granule.shell;

import org.granule.governor.AllocatorDTO;

/**
 * An allocator that a provider could have bound and has not.
 *
 * @param provider the provider's name
 * @param allocator what it could have bound
 */
public record Candidate(String provider, AllocatorDTO allocator) {

    /** How candidates are shown. */
    static final class View extends Face<Candidate> {

        static final View INSTANCE = new View();

        @Override
        Table columns() {
            return new Table()
                    .name("PROVIDER")
                    .figure("ID")
                    .name("DEVICE")
                    .name("MECHANISM")
                    .word("STATE")
                    .figure("RANK")
                    .name("BUNDLE");
        }

        @Override
        void add(Table table, Candidate item) {
            var allocator = item.allocator;
            table.row(
                            item.provider,
                            Long.toString(allocator.serviceId),
                            Text.orDash(allocator.device),
                            Text.orDash(allocator.mechanism),
                            Text.orDash(allocator.state),
                            Integer.toString(allocator.ranking),
                            AllocatorFace.bundle(allocator))
                    .note(allocator.reason);
        }

        @Override
        Details details(Candidate item) {
            var details = new Details().add("provider", item.provider);
            return details.add("allocator", AllocatorFace.brief(item.allocator))
                    .add("state", item.allocator.state)
                    .add("reason", item.allocator.reason)
                    .add("ranking", item.allocator.ranking)
                    .add("bundle", AllocatorFace.bundle(item.allocator));
        }

        @Override
        String id(Candidate item) {
            return AllocatorFace.INSTANCE.id(item.allocator);
        }
    }
}
