package org.granule.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceInspection;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.VirtualBacking;

/** Stands before an allocator and its facets: counts what they are asked, and answers in their place on request. */
final class Watch {

    /** The call that was about to be made. */
    @FunctionalInterface
    interface Call {
        Object proceed() throws Throwable;
    }

    /** What happens in place of a call. */
    @FunctionalInterface
    interface Instead {
        Object answer(Call call) throws Throwable;
    }

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final Map<String, Instead> next = new ConcurrentHashMap<>();
    private final Map<Object, Object> facets = new IdentityHashMap<>();
    private final DeviceAllocator allocator;

    Watch(DeviceAllocator target) {
        allocator = watch(DeviceAllocator.class, target);
    }

    DeviceAllocator allocator() {
        return allocator;
    }

    /** Lets something else happen at the next call of a method, once. */
    void atNext(String method, Instead instead) {
        next.put(method, instead);
    }

    /** Lets the next call of a method throw. */
    void throwAtNext(String method, Throwable thrown) {
        atNext(method, call -> {
            throw thrown;
        });
    }

    /** Whether what was set for a method has not happened yet. */
    boolean isSet(String method) {
        return next.containsKey(method);
    }

    long calls(String method) {
        var count = counts.get(method);
        return count == null ? 0 : count.sum();
    }

    long calls() {
        return counts.values().stream().mapToLong(LongAdder::sum).sum();
    }

    private <T> T watch(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                Watch.class.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> on(target, method, args)));
    }

    private Object on(Object target, Method method, Object[] args) throws Throwable {
        counts.computeIfAbsent(method.getName(), name -> new LongAdder()).increment();
        var instead = next.remove(method.getName());
        return instead == null ? pass(target, method, args) : instead.answer(() -> pass(target, method, args));
    }

    private Object pass(Object target, Method method, Object[] args) throws Throwable {
        try {
            return watched(method.invoke(target, args));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Object watched(Object answer) {
        if (answer instanceof Optional<?> optional && optional.isPresent()) {
            synchronized (facets) {
                return Optional.of(facets.computeIfAbsent(optional.get(), this::facet));
            }
        }
        return answer;
    }

    private Object facet(Object facet) {
        return switch (facet) {
            case VirtualBacking backing -> watch(VirtualBacking.class, backing);
            case SharedMapping sharing -> watch(SharedMapping.class, sharing);
            case Transfer transfer -> watch(Transfer.class, transfer);
            case DeviceInspection inspection -> watch(DeviceInspection.class, inspection);
            default -> throw new IllegalArgumentException(facet.getClass() + " is no facet");
        };
    }
}
