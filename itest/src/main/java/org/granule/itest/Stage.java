package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.granule.governor.AccountDTO;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.BindingDTO;
import org.granule.governor.Governor;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.provider.ExecutionProvider;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.FrameworkEvent;
import org.osgi.framework.FrameworkListener;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.FrameworkWiring;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;

/**
 * What one test deploys and configures, on a device of its own, so that the ledger of that device is the test's. At
 * the end all of it is taken away, and nothing may be left of it but what the test expects.
 */
final class Stage implements AutoCloseable {

    private static final int LOG_ENTRIES = 100;
    private static final AtomicInteger ORDINALS = new AtomicInteger(100);

    final BundleContext context = FrameworkUtil.getBundle(Stage.class).getBundleContext();
    final DeviceKey device = new DeviceKey(DeviceKey.HOST, ORDINALS.getAndIncrement());

    private final List<Bundle> bundles = new ArrayList<>();
    private final List<TestBundle> recipes = new ArrayList<>();
    private final List<TestProvider> providers = new ArrayList<>();
    private long expectedQuarantine;

    // Deployment

    Bundle install(TestBundle recipe) {
        try {
            var bundle = context.installBundle(
                    "test:" + recipe.name() + "/" + recipe.probe().id(), recipe.content());
            bundles.add(bundle);
            recipes.add(recipe);
            return bundle;
        } catch (BundleException e) {
            throw new IllegalStateException(e);
        }
    }

    Bundle deploy(TestBundle recipe) {
        var bundle = install(recipe);
        start(bundle);
        return bundle;
    }

    static void start(Bundle bundle) {
        try {
            bundle.start();
        } catch (BundleException e) {
            throw new IllegalStateException(e);
        }
    }

    static void stop(Bundle bundle) {
        try {
            bundle.stop();
        } catch (BundleException e) {
            throw new IllegalStateException(e);
        }
    }

    void update(Bundle bundle, TestBundle recipe) {
        recipes.add(recipe);
        try {
            bundle.update(recipe.content());
        } catch (BundleException e) {
            throw new IllegalStateException(e);
        }
    }

    static void uninstall(Bundle bundle) {
        if (bundle.getState() != Bundle.UNINSTALLED) {
            try {
                bundle.uninstall();
            } catch (BundleException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Wires bundles anew and waits until that is done. */
    void refresh(Bundle... which) {
        var done = new AtomicInteger();
        FrameworkListener listener = event -> {
            if (event.getType() == FrameworkEvent.PACKAGES_REFRESHED) {
                done.incrementAndGet();
            }
        };
        context.getBundle(0).adapt(FrameworkWiring.class).refreshBundles(List.of(which), listener);
        Await.await("the refresh of " + List.of(which), () -> done.get() > 0);
    }

    Bundle bundle(String name) {
        for (var bundle : context.getBundles()) {
            if (name.equals(bundle.getSymbolicName())) {
                return bundle;
            }
        }
        throw new IllegalStateException("no bundle " + name);
    }

    static ServiceReference<DeviceAllocator> allocatorOf(Bundle bundle) {
        var services = bundle.getRegisteredServices();
        assertThat(services).as("services of %s", bundle).hasSize(1);
        @SuppressWarnings("unchecked")
        var reference = (ServiceReference<DeviceAllocator>) services[0];
        return reference;
    }

    // Providers

    /** Configures a provider of this device; its name starts as given and is unique. */
    TestProvider provider(String name) {
        return provider(TestProvider.properties(name + "-" + device.ordinal(), device));
    }

    TestProvider provider(Map<String, Object> properties) {
        return provider(properties, (String) properties.get("name"));
    }

    /** Configures a provider by a factory configuration of this name. */
    TestProvider provider(Map<String, Object> properties, String configuration) {
        var provider =
                new TestProvider(context, configuration(ExecutionProvider.FACTORY_PID, configuration), properties);
        providers.add(provider);
        return provider.set("name", properties.get("name"));
    }

    /** Deletes the configuration of a provider, which another of that name may outlive. */
    void discard(TestProvider provider) {
        provider.deleteConfiguration();
        providers.remove(provider);
    }

    /** Finds or makes a factory configuration. */
    Configuration configuration(String factory, String name) {
        try {
            return service(ConfigurationAdmin.class).getFactoryConfiguration(factory, name, "?");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static Dictionary<String, Object> dictionary(Map<String, ?> properties) {
        return new Hashtable<>(properties);
    }

    /** Waits until Configuration Admin has delivered what was changed before: it delivers in order. */
    void awaitConfiguration() {
        var last = provider(TestProvider.properties("barrier-" + ORDINALS.getAndIncrement(), "nowhere:0"));
        last.await("WAITING");
        last.delete();
        providers.remove(last);
    }

    /** Waits until an object is garbage. */
    void awaitCollected(String what, WeakReference<?> reference) {
        Await.await("the collection of " + what, () -> {
            pushOutOfTheLog();
            System.gc();
            return reference.get() == null;
        });
    }

    /**
     * The log service keeps its last entries, with the references of services that went, and those of Equinox keep
     * the objects that were registered.
     */
    private void pushOutOfTheLog() {
        for (int i = 0; i < LOG_ENTRIES; i++) {
            context.registerService(Object.class, new Object(), null).unregister();
        }
    }

    // Books

    <T> T service(Class<T> type) {
        return Await.await(
                "service " + type.getSimpleName(),
                () -> {
                    var reference = context.getServiceReference(type);
                    return reference == null ? null : context.getService(reference);
                },
                service -> service != null);
    }

    Governor governor() {
        return service(Governor.class);
    }

    AllocationRegistry registry() {
        return service(AllocationRegistry.class);
    }

    /** The account of the whole device; empty while nothing was charged. */
    AccountDTO ledger() {
        return ledger(device.toString());
    }

    AccountDTO ledger(String path) {
        return governor().ledger().stream()
                .filter(account -> path.equals(account.path))
                .findFirst()
                .orElseGet(AccountDTO::new);
    }

    List<BindingDTO> bindings() {
        return registry().bindings().stream()
                .filter(binding -> device.toString().equals(binding.device))
                .toList();
    }

    List<AllocationDTO> allocations() {
        return registry().allocations().stream()
                .filter(allocation -> allocation.account != null && allocation.account.startsWith(device + "/"))
                .toList();
    }

    /** Expects bytes that are in quarantine for good when the test ends. */
    void expectQuarantine(long bytes) {
        expectedQuarantine = bytes;
    }

    /** Requires that all books of the device are as they were before it was used, but for quarantine. */
    void requireSettled() {
        var all = ledger();
        assertThat(all.quarantinedBytes).as("bytes in quarantine").isEqualTo(expectedQuarantine);
        assertThat(all.ownedBytes).as("owned bytes").isEqualTo(expectedQuarantine);
        if (expectedQuarantine == 0) {
            assertThat(all.mappedBytes).as("mapped bytes").isZero();
            assertThat(all.reservedBytes).as("reserved bytes").isZero();
        }
        assertThat(all.leases).as("leases").isZero();
        assertThat(governor().alarms()).as("alarms of the ledger").isZero();
        assertThat(allocations())
                .as("allocations")
                .allMatch(allocation -> "QUARANTINED".equals(allocation.state), "is in quarantine");
        assertThat(allocations().stream()
                        .mapToLong(allocation -> allocation.ownedBytes)
                        .sum())
                .as("bytes listed in quarantine")
                .isEqualTo(expectedQuarantine);
    }

    @Override
    public void close() {
        recipes.forEach(recipe -> recipe.probe().reset());
        providers.forEach(TestProvider::delete);
        bundles.forEach(Stage::uninstall);
        if (!bundles.isEmpty()) {
            refresh(bundles.toArray(Bundle[]::new));
        }
        assertThat(bindings()).as("bindings that are left").isEmpty();
        requireSettled();
        for (var recipe : recipes) {
            assertThat(recipe.probe().late())
                    .as("late calls of %s", recipe.name())
                    .isEmpty();
            assertThat(recipe.probe().ungets())
                    .as("how often %s was let go", recipe.name())
                    .isEqualTo(recipe.probe().gets());
        }
    }
}
