package org.granule.workload.command;

import org.granule.governor.AllocationRegistry;
import org.granule.governor.BindingDTO;
import org.granule.memory.NotSupportedException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.util.tracker.ServiceTracker;

/** A provider that is held by name for the time of a replay. */
final class ProviderInUse implements AutoCloseable {

    private static final long WAIT_MILLIS = 10_000;

    private final String name;
    private final ServiceTracker<ExecutionProvider, ExecutionProvider> tracker;
    private final ExecutionProvider provider;

    /**
     * Waits for the provider.
     *
     * @throws IllegalArgumentException when it does not come
     */
    ProviderInUse(BundleContext context, String name) throws InterruptedException {
        this.name = name;
        this.tracker = new ServiceTracker<>(context, filter(context, name), null);
        tracker.open();
        try {
            this.provider = tracker.waitForService(WAIT_MILLIS);
        } catch (InterruptedException e) {
            tracker.close();
            throw e;
        }
        if (provider == null) {
            tracker.close();
            throw new IllegalArgumentException("no provider '" + name + "' within " + WAIT_MILLIS / 1000
                    + " s; granule:providers lists the providers and what each waits for");
        }
    }

    private static org.osgi.framework.Filter filter(BundleContext context, String name) {
        var text = "(&(" + Constants.OBJECTCLASS + "=" + ExecutionProvider.class.getName() + ")("
                + ExecutionProvider.NAME_PROPERTY + "=" + name + "))";
        try {
            if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
                throw new IllegalArgumentException("'" + name + "' is not a provider's name");
            }
            return FrameworkUtil.createFilter(text);
        } catch (InvalidSyntaxException e) {
            throw new IllegalArgumentException("'" + name + "' is not a provider's name", e);
        }
    }

    /** Opens a session that can replay. */
    MemorySession open(String role) {
        var session = provider.open(role);
        try {
            session.granuleBytes();
            return session;
        } catch (NotSupportedException e) {
            session.close();
            throw new IllegalArgumentException(
                    "provider '" + name + "' has the mechanism " + mechanism()
                            + ", which cannot commit memory piece by piece; name another by --provider",
                    e);
        } catch (RuntimeException e) {
            session.close();
            throw e;
        }
    }

    String mechanism() {
        var allocator = provider.describe().allocator;
        return allocator == null || allocator.mechanism == null ? "unknown" : allocator.mechanism;
    }

    /** Driver calls of the allocator so far, or -1. */
    long driverCalls(AllocationRegistry registry) {
        long generation = provider.describe().generation;
        for (BindingDTO binding : registry.bindings()) {
            if (binding.holder.equals(name) && binding.generation == generation) {
                return binding.driverCalls;
            }
        }
        return -1;
    }

    @Override
    public void close() {
        tracker.close();
    }
}
