package org.granule.itest;

import java.io.IOException;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.granule.memory.ClosedException;
import org.granule.memory.DeviceAllocator;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;
import org.osgi.framework.BundleContext;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.service.cm.Configuration;

/** A configured provider, as an operator and as an application see it. */
final class TestProvider {

    final String name;
    private final BundleContext context;
    private final Configuration configuration;
    private final Map<String, Object> properties;
    /** Holds on to sessions, since those that are dropped are quarantined. */
    private final List<MemorySession> sessions = new CopyOnWriteArrayList<>();

    private boolean isDeleted;

    TestProvider(BundleContext context, Configuration configuration, Map<String, Object> properties) {
        this.name = (String) properties.get("name");
        this.context = context;
        this.configuration = configuration;
        this.properties = new HashMap<>(properties);
    }

    /** Changes one property of the configuration; the change takes effect in another thread. */
    TestProvider set(String property, Object value) {
        properties.put(property, value);
        try {
            configuration.update(new Hashtable<>(properties));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    void deleteConfiguration() {
        if (isDeleted) {
            return;
        }
        isDeleted = true;
        try {
            configuration.delete();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Deletes the configuration and waits until the provider is gone. */
    void delete() {
        deleteConfiguration();
        Await.await("the end of provider " + name, () -> status() == null);
    }

    ServiceReference<ProviderStatus> status() {
        return only(ProviderStatus.class, name);
    }

    /** What is said of the configuration while it is refused, or null. */
    ProviderDTO refusal() {
        var reference = only(ProviderStatus.class, configuration.getPid());
        var status = reference == null ? null : context.getService(reference);
        return status == null ? null : status.describe();
    }

    ProviderDTO awaitRefusal() {
        return Await.await(
                "the refusal of " + configuration.getPid(),
                this::refusal,
                dto -> dto != null && "FAILED".equals(dto.state));
    }

    /** The service of the present generation, or null. */
    ServiceReference<ExecutionProvider> service() {
        return only(ExecutionProvider.class, name);
    }

    private <T> ServiceReference<T> only(Class<T> type, String name) {
        try {
            var found = context.getServiceReferences(type, "(" + ExecutionProvider.NAME_PROPERTY + "=" + name + ")");
            if (found.size() > 1) {
                throw new AssertionError(found.size() + " services " + type.getSimpleName() + " of " + name);
            }
            return found.isEmpty() ? null : found.iterator().next();
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the provider says of itself, or null while there is none. */
    ProviderDTO describe() {
        var reference = status();
        var status = reference == null ? null : context.getService(reference);
        return status == null ? null : status.describe();
    }

    ProviderDTO await(String state) {
        return Await.await(
                "state " + state + " of provider " + name,
                this::describe,
                dto -> isSettled(dto) && state.equals(dto.state));
    }

    ProviderDTO await(String state, long generation) {
        return Await.await(
                "state " + state + " of provider " + name + " in generation " + generation,
                this::describe,
                dto -> isSettled(dto) && state.equals(dto.state) && dto.generation == generation);
    }

    /** Waits for a generation that serves and comes after another one. */
    ProviderDTO awaitNext(long generation) {
        return Await.await(
                "a generation of provider " + name + " after " + generation,
                this::describe,
                dto -> isSettled(dto) && "BOUND".equals(dto.state) && dto.generation > generation);
    }

    /** A provider that has not looked for an allocator yet has no reason for its state. */
    private static boolean isSettled(ProviderDTO dto) {
        return dto != null && !dto.reason.isEmpty();
    }

    /** Opens a session of this bundle, which lives until it is closed or the test ends. */
    MemorySession open(String role) {
        return open(context, role);
    }

    MemorySession open(BundleContext user, String role) {
        var reference = service();
        var service = reference == null ? null : user.getService(reference);
        if (service == null) {
            throw new ClosedException("provider " + name + " serves nothing now");
        }
        var session = service.open(role);
        sessions.add(session);
        return session;
    }

    /** The allocator that the present generation says it is bound to. */
    long allocatorId() {
        return (Long) service().getProperty("granule.allocator.service.id");
    }

    static Map<String, Object> properties(String name, Object device) {
        var properties = new HashMap<String, Object>();
        properties.put("name", name);
        properties.put("device", device.toString());
        properties.put("tenant", "tenant-" + name);
        properties.put("allocator", "(" + DeviceAllocator.DEVICE_PROPERTY + "=" + device + ")");
        properties.put("drainMillis", 300L);
        return properties;
    }
}
