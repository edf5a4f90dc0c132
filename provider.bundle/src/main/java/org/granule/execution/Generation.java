package org.granule.execution;

import java.time.Duration;
import java.util.Hashtable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.Binding;
import org.granule.memory.BindingRefusedException;
import org.granule.memory.DeviceAllocator;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.ProviderStatus;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceFactory;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;

/**
 * One provider's life with one allocator. It gets the service once, for a reference that it never changes, and
 * ends when that very service is unregistered: the event comes while the allocator still works, so everything is
 * given back before it goes.
 */
final class Generation implements ServiceFactory<ExecutionProvider> {

    private final BundleContext context;
    private final ProviderPlan plan;
    private final ProviderStatus status;
    private final ServiceReference<DeviceAllocator> reference;
    private final ServiceListener loss;
    private final Binding binding;
    private final AllocatorDTO allocator;
    private final AtomicBoolean ending = new AtomicBoolean();
    private final ServiceRegistration<?> registration;

    /**
     * Binds the allocator and registers the provider's service.
     *
     * @param lost told when the allocator goes; must call {@link #end}
     * @throws RuntimeException when the allocator cannot be bound; nothing is left behind
     */
    Generation(
            BundleContext context,
            AllocationRegistry registry,
            ProviderPlan plan,
            ProviderStatus status,
            long number,
            ServiceReference<DeviceAllocator> reference,
            Runnable lost) {
        this.context = context;
        this.plan = plan;
        this.status = status;
        this.reference = reference;
        this.loss = event -> {
            if (event.getType() == ServiceEvent.UNREGISTERING) {
                lost.run();
            }
        };
        // Listening comes before getting the service, so that no loss goes unnoticed in between.
        listen();
        Binding bound = null;
        try {
            allocator = registry.describe(reference);
            bound = registry.bind(plan.name(), number, reference, serviceOf(), plan.device());
            binding = bound;
            registration = register(number);
        } catch (RuntimeException e) {
            if (bound != null) {
                bound.close(plan.drain());
            }
            letGo();
            throw e;
        }
    }

    private void listen() {
        try {
            context.addServiceListener(
                    loss, "(" + Constants.SERVICE_ID + "=" + reference.getProperty(Constants.SERVICE_ID) + ")");
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private DeviceAllocator serviceOf() {
        var service = context.getService(reference);
        if (service == null) {
            throw new BindingRefusedException("allocator " + reference.getProperty(Constants.SERVICE_ID)
                    + " went away, or failed to start, before it was bound; another is chosen when one is there");
        }
        return service;
    }

    private ServiceRegistration<?> register(long number) {
        var properties = new Hashtable<String, Object>();
        properties.put(ExecutionProvider.NAME_PROPERTY, plan.name());
        properties.put(ExecutionProvider.GENERATION_PROPERTY, number);
        properties.put(ExecutionProvider.TENANT_PROPERTY, plan.tenant());
        properties.put(DeviceAllocator.DEVICE_PROPERTY, plan.device().toString());
        if (allocator.mechanism != null) {
            properties.put(DeviceAllocator.MECHANISM_PROPERTY, allocator.mechanism);
        }
        properties.put("granule.allocator.service.id", allocator.serviceId);
        return context.registerService(ExecutionProvider.class.getName(), this, properties);
    }

    /**
     * Gives everything back and lets the allocator go; what cannot be given back is in quarantine then.
     *
     * @param drain how long to wait for operations and fences
     */
    long end(Duration drain) {
        if (!ending.compareAndSet(false, true)) {
            // Somebody else ends it; wait until the memory is given back, since the allocator may be leaving.
            return binding.close(drain);
        }
        try {
            registration.unregister();
        } catch (IllegalStateException e) {
            // The framework did it already, because this bundle is stopping.
        }
        long left = binding.close(drain);
        letGo();
        return left;
    }

    private void letGo() {
        try {
            context.removeServiceListener(loss);
            context.ungetService(reference);
        } catch (IllegalStateException e) {
            // This bundle has stopped, and the framework has let go of both.
        }
    }

    boolean isEnding() {
        return ending.get();
    }

    boolean isOf(ServiceReference<?> other) {
        return reference.equals(other);
    }

    boolean isAllocatorGone() {
        return reference.getBundle() == null;
    }

    Binding binding() {
        return binding;
    }

    AllocatorDTO allocator() {
        return allocator;
    }

    @Override
    public ExecutionProvider getService(Bundle bundle, ServiceRegistration<ExecutionProvider> registration) {
        return new BundleProvider(binding, plan.tenant(), status);
    }

    @Override
    public void ungetService(
            Bundle bundle, ServiceRegistration<ExecutionProvider> registration, ExecutionProvider service) {
        ((BundleProvider) service).close();
    }
}
