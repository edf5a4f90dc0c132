package org.granule.itest.allocator;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.granule.itest.probe.Probe;
import org.granule.memory.DeviceInspection;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.VirtualBacking;
import org.osgi.framework.Bundle;

/** Tells the probe about every call of an allocator and its facets. */
final class Watch implements InvocationHandler {

    private static final Map<String, Class<?>> FACETS = Map.of(
            "virtualBacking", VirtualBacking.class,
            "sharedMapping", SharedMapping.class,
            "transfer", Transfer.class,
            "inspection", DeviceInspection.class);

    private final Object target;
    private final Probe probe;
    private final Bundle bundle;
    private final Map<String, Optional<Object>> facets = new ConcurrentHashMap<>();

    private Watch(Object target, Probe probe, Bundle bundle) {
        this.target = target;
        this.probe = probe;
        this.bundle = bundle;
    }

    static <T> T over(Class<T> type, Object target, Probe probe, Bundle bundle) {
        return type.cast(Proxy.newProxyInstance(
                Watch.class.getClassLoader(), new Class<?>[] {type}, new Watch(target, probe, bundle)));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        var name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return "equals".equals(name) ? proxy == arguments[0] : method.invoke(target, arguments);
        }
        probe.entered(name, (bundle.getState() & (Bundle.STARTING | Bundle.ACTIVE | Bundle.STOPPING)) != 0);
        try {
            var answer = method.invoke(target, arguments);
            return probe.left(name, FACETS.containsKey(name) ? watched(name, (Optional<?>) answer) : answer);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Optional<Object> watched(String name, Optional<?> facet) {
        return facets.computeIfAbsent(name, key -> facet.map(it -> over(FACETS.get(name), it, probe, bundle)));
    }
}
