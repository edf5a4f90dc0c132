package org.granule.conformance;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.osgi.framework.Bundle;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.Version;

/** Service references as a framework would give them, without a framework. */
final class Services {

    private static final AtomicLong IDS = new AtomicLong(100);

    /** Inside a framework allocators are of the bundle that these tests are in. */
    private static final long BUNDLE = Optional.ofNullable(FrameworkUtil.getBundle(Services.class))
            .map(Bundle::getBundleId)
            .orElse(7L);

    private Services() {}

    /** Makes the reference of an allocator service that was just registered. */
    @SuppressWarnings("unchecked")
    static ServiceReference<DeviceAllocator> reference(DeviceKey device) {
        Map<String, Object> properties =
                Map.of(Constants.SERVICE_ID, IDS.incrementAndGet(), DeviceAllocator.DEVICE_PROPERTY, device.toString());
        var bundle = (Bundle) proxy(
                Bundle.class,
                Map.of(
                        "getBundleId",
                        BUNDLE,
                        "getSymbolicName",
                        "org.granule.subject",
                        "getVersion",
                        new Version(1, 2, 3)));
        return (ServiceReference<DeviceAllocator>) Proxy.newProxyInstance(
                ServiceReference.class.getClassLoader(),
                new Class<?>[] {ServiceReference.class},
                (self, method, args) -> switch (method.getName()) {
                    case "getBundle" -> bundle;
                    case "getProperty" -> properties.get((String) args[0]);
                    case "isAssignableTo" -> true;
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == args[0];
                    case "toString" -> "reference of " + device;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private static Object proxy(Class<?> type, Map<String, Object> answers) {
        InvocationHandler handler = (self, method, args) -> {
            var answer = answers.get(method.getName());
            if (answer == null) {
                throw new UnsupportedOperationException(method.getName());
            }
            return answer;
        };
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }
}
