package org.granule.bench;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.granule.host.HostVmm;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.framework.Version;

/** As much of an OSGi framework as binding an allocator needs, so that benchmarks run without one. */
final class Framework {

    static final DeviceKey HOST = new DeviceKey(DeviceKey.HOST, 0);

    private Framework() {}

    /** Returns the service reference of an allocator. */
    @SuppressWarnings("unchecked")
    static ServiceReference<DeviceAllocator> register() {
        var bundle = answering(
                Bundle.class,
                Map.of("getBundleId", 1L, "getSymbolicName", "org.granule.bench", "getVersion", Version.emptyVersion));
        Map<String, Object> properties =
                Map.of(Constants.SERVICE_ID, 1L, DeviceAllocator.DEVICE_PROPERTY, HOST.toString());
        return proxy(ServiceReference.class, (self, method, arguments) -> switch (method.getName()) {
            case "getBundle" -> bundle;
            case "getProperty" -> properties.get((String) arguments[0]);
            case "isAssignableTo" -> true;
            default -> throw new UnsupportedOperationException(method.toString());
        });
    }

    /** Deploys the host VMM allocator as its component does, with a granule and what is default otherwise. */
    static DeviceAllocator hostVmm(String granule) {
        var registered = new DeviceAllocator[1];
        var context = proxy(BundleContext.class, (self, method, arguments) -> {
            registered[0] = (DeviceAllocator) arguments[1];
            return answering(ServiceRegistration.class, Map.of());
        });
        try {
            var type = Class.forName(HostVmm.class.getName() + "$Settings");
            var settings = proxy(
                    type,
                    (self, method, arguments) ->
                            "granule".equals(method.getName()) ? granule : method.getDefaultValue());
            HostVmm.class.getConstructor(BundleContext.class, type).newInstance(context, settings);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return registered[0];
    }

    private static <T> T answering(Class<T> type, Map<String, Object> answers) {
        return proxy(type, (self, method, arguments) -> answers.get(method.getName()));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
