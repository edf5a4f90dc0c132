package org.granule.execution;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.granule.governor.Binding;
import org.granule.memory.ClosedException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;

/** What one bundle sees of a generation: its own sessions, closed when it lets the service go. */
final class BundleProvider implements ExecutionProvider {

    private final Binding binding;
    private final String tenant;
    private final ProviderStatus status;

    /** Weak, so that a session which its user drops is noticed. */
    private final List<WeakReference<MemorySession>> sessions = new ArrayList<>();

    private boolean closed;

    BundleProvider(Binding binding, String tenant, ProviderStatus status) {
        this.binding = binding;
        this.tenant = tenant;
        this.status = status;
    }

    @Override
    public MemorySession open(String role) {
        var session = binding.open(tenant, role);
        synchronized (sessions) {
            if (!closed) {
                sessions.removeIf(reference -> reference.get() == null);
                sessions.add(new WeakReference<>(session));
                return session;
            }
        }
        session.close();
        throw new ClosedException("this bundle has let the provider go; get its service again");
    }

    @Override
    public ProviderDTO describe() {
        return status.describe();
    }

    void close() {
        List<WeakReference<MemorySession>> open;
        synchronized (sessions) {
            closed = true;
            open = List.copyOf(sessions);
            sessions.clear();
        }
        for (var reference : open) {
            var session = reference.get();
            if (session != null) {
                session.close();
            }
        }
    }
}
