package org.granule.registry;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.granule.memory.DeviceAllocator;
import org.osgi.framework.Bundle;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.Version;

/** What a framework would hand out. */
final class Fakes {

    private Fakes() {}

    static Bundle bundle(long id, String name) {
        return proxy(Bundle.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "getBundleId" -> id;
            case "getSymbolicName" -> name;
            case "getVersion" -> new Version(1, 2, 3);
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            default -> null;
        });
    }

    static Map<String, Object> properties(long serviceId) {
        var properties = new HashMap<String, Object>();
        properties.put("service.id", serviceId);
        properties.put(DeviceAllocator.DEVICE_PROPERTY, "fake:0");
        return properties;
    }

    /** A reference of a bundle; null for a service that is gone. */
    static ServiceReference<DeviceAllocator> reference(Map<String, Object> properties, Bundle bundle) {
        @SuppressWarnings("unchecked")
        ServiceReference<DeviceAllocator> reference =
                proxy(ServiceReference.class, (proxy, method, arguments) -> switch (method.getName()) {
                    case "getProperty" -> properties.get((String) arguments[0]);
                    case "getBundle" -> bundle;
                    case "isAssignableTo" -> true;
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == arguments[0];
                    default -> null;
                });
        return reference;
    }

    static ServiceReference<DeviceAllocator> reference(long serviceId) {
        return reference(properties(serviceId), bundle(7, "fake.allocator"));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
