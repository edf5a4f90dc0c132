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

    /**
     * Numbers of services that are being unregistered, and may be listed by the framework until that is done. Not
     * their references: one that is kept may keep the classes of its bundle.
     */
    private final Set<Long> leaving = ConcurrentHashMap.newKeySet();

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
            leaving.add(id(event.getServiceReference()));
        }
        changed.run();
    }

    /** What is there now, best first. */
    List<ServiceReference<DeviceAllocator>> present() {
        try {
            var listed = context.getServiceReferences(DeviceAllocator.class, filter.toString());
            leaving.retainAll(listed.stream().map(Candidates::id).toList());
            return listed.stream()
                    .filter(reference -> !leaving.contains(id(reference)))
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
                : "oldest of " + sorted.size() + " matches with ranking " + best + ": service " + id(sorted.get(0))
                        + " before " + id(sorted.get(1));
    }

    /** The framework's number of a service, never used again in its run. */
    static Long id(ServiceReference<?> reference) {
        return (Long) reference.getProperty(Constants.SERVICE_ID);
    }

    private static int ranking(ServiceReference<?> reference) {
        return reference.getProperty(Constants.SERVICE_RANKING) instanceof Integer ranking ? ranking : 0;
    }
}
