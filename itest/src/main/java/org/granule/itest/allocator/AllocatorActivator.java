package org.granule.itest.allocator;

import java.util.Dictionary;
import java.util.Hashtable;
import org.granule.itest.probe.Probe;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceRegistration;

/** Registers the allocator that the headers of its bundle describe. */
public final class AllocatorActivator implements BundleActivator, ServiceFactory<DeviceAllocator> {

    private Probe probe;
    private DeviceAllocator allocator;
    private Mechanism mechanism;
    private boolean leavesUnregisteringToTheFramework;
    private ServiceRegistration<?> registration;

    /** Made by the framework. */
    public AllocatorActivator() {}

    @Override
    public void start(BundleContext context) {
        Dictionary<String, String> headers = context.getBundle().getHeaders("");
        probe = Probe.of(headers.get("Test-Probe"));
        probe.started();
        leavesUnregisteringToTheFramework = headers.get("Test-Stop") != null;
        var device = DeviceKey.parse(headers.get("Test-Device"));
        var kind = headers.get("Test-Kind");
        mechanism = "engine".equals(kind) ? StrictEngine.of(device) : EagerAllocator.of(device);
        allocator = Watch.over(DeviceAllocator.class, mechanism.allocator(), probe, context.getBundle());

        var properties = new Hashtable<String, Object>();
        properties.put(DeviceAllocator.DEVICE_PROPERTY, headers.get("Test-Claim"));
        properties.put(DeviceAllocator.MECHANISM_PROPERTY, "test-" + kind);
        properties.put(Constants.SERVICE_RANKING, Integer.valueOf(headers.get("Test-Ranking")));
        registration = context.registerService(DeviceAllocator.class, this, properties);
    }

    @Override
    public void stop(BundleContext context) {
        if (leavesUnregisteringToTheFramework) {
            return;
        }
        try {
            registration.unregister();
        } catch (IllegalStateException e) {
            // A test did it before.
        }
        mechanism.end().run();
        probe.ended(mechanism.leftover().get());
    }

    @Override
    public DeviceAllocator getService(Bundle bundle, ServiceRegistration<DeviceAllocator> registration) {
        return (DeviceAllocator) probe.got(allocator);
    }

    @Override
    public void ungetService(
            Bundle bundle, ServiceRegistration<DeviceAllocator> registration, DeviceAllocator service) {
        probe.ungot();
    }
}
