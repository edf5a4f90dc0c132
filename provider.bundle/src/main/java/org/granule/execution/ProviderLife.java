package org.granule.execution;

import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.AllocatorDTO;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.log.Logger;

/**
 * A provider whose configuration is sound, for as long as that is there. It has a generation whenever there is an
 * allocator, and opens the next one when that goes.
 *
 * <p>It has no reference to an allocator that the component runtime could rebind: a generation pins its service
 * itself. Decisions are taken by one thread at a time without a lock: whoever finds another at it leaves a note, and
 * the other looks again.
 */
final class ProviderLife implements ProviderStatus {

    private static final long PAUSE_NANOS = 100_000;
    private static final long PATIENCE_NANOS = 4_000_000_000L;

    private final BundleContext context;
    private final AllocationRegistry registry;
    private final Logger logger;
    private final ServiceRegistration<?> registration;
    private final AtomicInteger notes = new AtomicInteger();

    private volatile ProviderPlan plan;
    private volatile Candidates candidates;
    private volatile Generation generation;
    private volatile ServiceReference<?> opening;
    private volatile Thread opener;
    /** The number of the service that could not be bound: a reference may keep its bundle's classes. */
    private volatile Long refused;

    private volatile long number;
    private volatile String state = "WAITING";
    private volatile String reason = "";
    private volatile boolean stopped;

    /** Looks for an allocator. */
    ProviderLife(BundleContext context, AllocationRegistry registry, Logger logger, ProviderPlan plan) {
        this.context = context;
        this.registry = registry;
        this.logger = logger;
        this.plan = plan;
        this.candidates = new Candidates(context, plan.filter(), this::reconsider);
        var properties = new Hashtable<String, Object>();
        properties.put(ExecutionProvider.NAME_PROPERTY, plan.name());
        registration = context.registerService(ProviderStatus.class, this, properties);
        candidates.open();
        reconsider();
    }

    /** Takes over what may change while a generation lives; anything else is refused and the old stays. */
    void modify(ProviderSettings settings) {
        ProviderPlan next;
        try {
            next = ProviderPlan.of(settings);
            if (!next.name().equals(plan.name())
                    || !next.device().equals(plan.device())
                    || !next.tenant().equals(plan.tenant())) {
                throw new InvalidRequestException("name, device and tenant of a provider are for life; delete the"
                        + " configuration and make another");
            }
        } catch (MemoryException e) {
            logger.error(
                    "provider {}: the change is refused, the old configuration stays: {}", plan.name(), e.getMessage());
            return;
        }
        var before = candidates;
        plan = next;
        if (!next.filter().equals(before.filter())) {
            candidates = new Candidates(context, next.filter(), this::reconsider);
            candidates.open();
            before.close();
        }
        refused = null;
        reconsider();
    }

    /** Ends the generation while its allocator still works. */
    void end() {
        stopped = true;
        candidates.close();
        awaitOpening();
        end("ENDED", "the provider's configuration or bundle is gone");
        registration.unregister();
    }

    /** Looks whether there is something to bind, or leaves a note for the thread that is looking. */
    private void reconsider() {
        if (notes.getAndIncrement() == 0) {
            int seen;
            do {
                seen = notes.get();
                if (!stopped && generation == null) {
                    open();
                }
            } while (notes.addAndGet(-seen) != 0);
        }
    }

    private void open() {
        var present = candidates.present();
        if (present.isEmpty()) {
            become("WAITING", "waits for an allocator service that matches " + plan.filter());
            return;
        }
        var best = present.getFirst();
        if (Candidates.id(best).equals(refused)) {
            return;
        }
        opener = Thread.currentThread();
        opening = best;
        try {
            var next = new Generation(context, registry, plan, this, number + 1, best, () -> lost(best));
            number++;
            generation = next;
            refused = null;
            become(
                    "BOUND",
                    "bound service " + best.getProperty(Constants.SERVICE_ID) + ", " + Candidates.reason(present));
            if (next.isAllocatorGone()) {
                lost(best);
            }
        } catch (RuntimeException e) {
            refused = Candidates.id(best);
            become("FAILED", e.getMessage());
        } finally {
            opening = null;
            opener = null;
        }
    }

    /** The bound allocator is going; it works until this returns. */
    private void lost(ServiceReference<?> reference) {
        if (reference.equals(opening) && Thread.currentThread() != opener) {
            awaitOpening();
        }
        var current = generation;
        if (current != null && current.isOf(reference)) {
            end("WAITING", "its allocator, service " + reference.getProperty(Constants.SERVICE_ID) + ", is gone");
            reconsider();
        }
    }

    private void awaitOpening() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (opening != null && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void end(String next, String why) {
        var current = generation;
        if (current == null) {
            become(next, why);
            return;
        }
        become("DRAINING", why);
        long left = current.end(plan.drain());
        generation = null;
        become(next, left == 0 ? why : why + "; " + left + " bytes of generation " + number + " are in quarantine");
    }

    private void become(String next, String why) {
        boolean news = !next.equals(state) || !why.equals(reason);
        state = next;
        reason = why;
        if (news && "FAILED".equals(next)) {
            logger.error("provider {} {}: {}", plan.name(), next, why);
        } else if (news) {
            logger.info("provider {} {}: {}", plan.name(), next, why);
        }
    }

    @Override
    public ProviderDTO describe() {
        var dto = new ProviderDTO();
        var current = generation;
        dto.name = plan.name();
        dto.device = plan.device().toString();
        dto.tenant = plan.tenant();
        dto.filter = plan.filter().toString();
        dto.state = state;
        dto.reason = reason;
        dto.generation = number;
        dto.health = "OK";
        if (!stopped) {
            dto.candidates = candidatesBut(current);
        }
        if (current != null) {
            describe(current, dto);
        }
        if ("FAILED".equals(dto.state)) {
            degrade(dto, dto.reason);
        }
        var quarantined = registry.allocations().stream()
                .filter(allocation -> AllocationDTO.QUARANTINED.equals(allocation.state)
                        && plan.name().equals(allocation.provider))
                .toList();
        if (!quarantined.isEmpty()) {
            long bytes = quarantined.stream()
                    .mapToLong(allocation -> allocation.ownedBytes)
                    .sum();
            degrade(
                    dto,
                    quarantined.size() + " allocations with " + bytes
                            + " bytes are in quarantine; granule:quarantine lists them");
        }
        return dto;
    }

    private List<AllocatorDTO> candidatesBut(Generation current) {
        List<AllocatorDTO> others = new ArrayList<>();
        for (ServiceReference<DeviceAllocator> reference : candidates.present()) {
            if (current == null || !current.isOf(reference)) {
                others.add(registry.describe(reference));
            }
        }
        return others;
    }

    private void describe(Generation current, ProviderDTO dto) {
        var binding = current.binding().describe();
        dto.allocator = current.allocator();
        dto.liveAllocations = binding.liveAllocations;
        dto.sessions = binding.sessions;
        dto.pendingReleases = binding.pendingReleases;
        dto.oldestPendingNanos = binding.oldestPendingNanos;
        if (binding.oldestPendingNanos > plan.fenceDeadline().toNanos()) {
            degrade(
                    dto,
                    binding.pendingReleases + " releases wait for fences, the oldest for "
                            + binding.oldestPendingNanos / 1_000_000 + " ms");
        }
        if (binding.faults > 0) {
            degrade(
                    dto,
                    "the allocator broke its contract " + binding.faults + " times, last: it " + binding.lastFault);
        }
    }

    private static void degrade(ProviderDTO dto, String why) {
        dto.health = "DEGRADED";
        dto.healthReasons.add(why);
    }
}
