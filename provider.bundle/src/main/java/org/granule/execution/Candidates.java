package org.granule.execution;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.granule.memory.DeviceAllocator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.Filter;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceEvent;
import org.osgi.framework.ServiceListener;
import org.osgi.framework.ServiceReference;

/**
 * The allocators that a provider may bind, best first: by ranking, then by age, which is the order that the
 * framework gives references. It knows references only and gets no service.
 */
final class Candidates implements ServiceListener {

    private final BundleContext context;
    private final Filter filter;
    private final Runnable changed;

    /** Services that are being unregistered, and are listed by the framework until that is done. */
    private final Set<ServiceReference<?>> leaving = ConcurrentHashMap.newKeySet();

    Candidates(BundleContext context, Filter filter, Runnable changed) {
        this.context = context;
        this.filter = filter;
        this.changed = changed;
    }

    Filter filter() {
        return filter;
    }

    void open() {
        try {
            context.addServiceListener(this, filter.toString());
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    void close() {
        context.removeServiceListener(this);
    }

    @Override
    public void serviceChanged(ServiceEvent event) {
        if (event.getType() == ServiceEvent.UNREGISTERING) {
            leaving.removeIf(reference -> reference.getBundle() == null);
            leaving.add(event.getServiceReference());
        }
        changed.run();
    }

    /** What is there now, best first. */
    List<ServiceReference<DeviceAllocator>> present() {
        try {
            return context.getServiceReferences(DeviceAllocator.class, filter.toString()).stream()
                    .filter(reference -> !leaving.contains(reference))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Says why the first of several is the best. */
    static String reason(List<ServiceReference<DeviceAllocator>> sorted) {
        if (sorted.size() == 1) {
            return "the only match";
        }
        int best = ranking(sorted.get(0));
        int next = ranking(sorted.get(1));
        return best > next
                ? "best ranking of " + sorted.size() + " matches: " + best + " before " + next
                : "oldest of " + sorted.size() + " matches with ranking " + best + ": service "
                        + sorted.get(0).getProperty(Constants.SERVICE_ID) + " before "
                        + sorted.get(1).getProperty(Constants.SERVICE_ID);
    }

    private static int ranking(ServiceReference<?> reference) {
        return reference.getProperty(Constants.SERVICE_RANKING) instanceof Integer ranking ? ranking : 0;
    }
}
