package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.governor.AllocatorDTO;
import org.granule.memory.ClosedException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;

/** One generation of a provider. Tokens count over all fakes, since no token is issued twice. */
final class FakeProvider implements ExecutionProvider, ProviderStatus {

    private static final AtomicLong TOKENS = new AtomicLong();

    final ProviderDTO description = new ProviderDTO();
    final List<FakeSession> sessions = new ArrayList<>();
    boolean ended;

    FakeProvider(String name, long generation, AllocatorDTO allocator) {
        description.name = name;
        description.device = "host:0";
        description.tenant = "tenant-a";
        description.filter = "(granule.device=host:0)";
        description.generation = generation;
        description.allocator = allocator;
        description.state = allocator == null ? "WAITING" : "BOUND";
        description.reason = allocator == null ? "no allocator serves host:0" : "chosen by ranking";
        description.health = "OK";
    }

    Map<String, Object> properties() {
        return Map.of(NAME_PROPERTY, description.name, GENERATION_PROPERTY, description.generation);
    }

    @Override
    public MemorySession open(String role) {
        if (ended) {
            throw new ClosedException("generation " + description.generation + " has ended");
        }
        var session = new FakeSession("host:0/tenant-a/" + role, TOKENS);
        sessions.add(session);
        return session;
    }

    @Override
    public ProviderDTO describe() {
        return description;
    }
}
