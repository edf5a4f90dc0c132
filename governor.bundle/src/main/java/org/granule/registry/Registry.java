package org.granule.registry;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.Binding;
import org.granule.governor.BindingDTO;
import org.granule.governor.DeviceDTO;
import org.granule.ledger.Ledger;
import org.granule.memory.AllocatorFaultException;
import org.granule.memory.BindingRefusedException;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DeviceMismatchException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.UnavailableAllocator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;
import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.Designate;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** The bindings that are open, and the numbers that identities are made of. */
@Component(name = "org.granule.registry", service = AllocationRegistry.class)
@Designate(ocd = Registry.Settings.class)
public final class Registry implements AllocationRegistry, AutoCloseable {

    private static final String IMPORTED = "service.imported";
    /** Those that serve, and those that say why they cannot. */
    private static final String ALLOCATORS = "(|(objectClass=" + DeviceAllocator.class.getName() + ")(objectClass="
            + UnavailableAllocator.class.getName() + "))";

    private static final int SPARE_GENERATIONS = Token.MAX_GENERATION / 2;

    /** Settings of the registry. */
    @ObjectClassDefinition(id = "org.granule.registry", name = "Granule allocation registry")
    @interface Settings {
        /**
         * Whether each allocation notes where in the program it was made.
         *
         * @return false by default
         */
        @AttributeDefinition(
                name = "Record sites",
                description =
                        "Note for each allocation where in the program it was made. Costs about a microsecond each.")
        boolean recordSites() default false;
    }

    /** What a binding is told of itself. */
    record Identity(
            int number,
            int firstGeneration,
            long serial,
            String holder,
            long generation,
            long serviceId,
            String allocatorName,
            DeviceKey device,
            AllocatorDTO description) {}

    private record Number(int number, int firstGeneration) {}

    private final Ledger ledger;
    private final Supplier<Collection<ServiceReference<?>>> services;
    private final Consumer<String> reports;
    private final Ticker ticker = new Ticker();
    private final Cleaner cleaner = Cleaner.create();
    private final CopyOnWriteArrayList<BoundAllocator> bindings = new CopyOnWriteArrayList<>();
    private final CopyOnWriteArrayList<AllocationDTO> left = new CopyOnWriteArrayList<>();
    private final Devices devices;
    private final ConcurrentHashMap<Long, String> unhealthy = new ConcurrentHashMap<>();
    private final ArrayDeque<Number> returned = new ArrayDeque<>();
    private int numbers;
    private long serials;
    private volatile boolean recordsSites;

    /**
     * Makes the registry of a framework.
     *
     * @param context of this bundle
     * @param ledger where everything is charged
     * @param logger where reports go
     * @param settings from Configuration Admin
     */
    @Activate
    public Registry(
            BundleContext context,
            @Reference Ledger ledger,
            @Reference(service = LoggerFactory.class) Logger logger,
            Settings settings) {
        this(ledger, () -> allocatorsOf(context), logger::warn);
        recordSites(settings.recordSites());
    }

    /**
     * Makes a registry without bindings.
     *
     * @param ledger where everything is charged
     * @param services lists all allocator services of the framework, those included that this bundle cannot use
     * @param reports told, one line each, what an operator should know
     */
    public Registry(Ledger ledger, Supplier<Collection<ServiceReference<?>>> services, Consumer<String> reports) {
        this.ledger = ledger;
        this.services = services;
        this.reports = reports;
        this.devices = new Devices(ledger, bindings, this::left);
    }

    private static Collection<ServiceReference<?>> allocatorsOf(BundleContext context) {
        try {
            var found = context.getAllServiceReferences(null, ALLOCATORS);
            return found == null ? List.of() : List.of(found);
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Modified
    void modified(Settings settings) {
        recordSites(settings.recordSites());
    }

    /**
     * Turns the recording of allocation sites on or off. It costs each allocation about a microsecond.
     *
     * @param record whether to record
     */
    public void recordSites(boolean record) {
        recordsSites = record;
    }

    @Override
    public Binding bind(
            String holder,
            long generation,
            ServiceReference<DeviceAllocator> reference,
            DeviceAllocator allocator,
            DeviceKey device) {
        Objects.requireNonNull(allocator, "allocator");
        requireVouchedFor(reference, allocator);
        Number number;
        long serial;
        synchronized (this) {
            requireUnbound(holder, generation, reference);
            number = nextNumber();
            serial = ++serials;
        }
        try {
            var served = deviceOf(reference, allocator);
            if (!served.equals(device)) {
                throw new DeviceMismatchException(
                        "provider " + holder + " is configured for device " + device + ", but " + nameOf(reference)
                                + " serves " + served + "; correct the provider's device or its allocator filter");
            }
            var description = describe(reference);
            description.state = "BOUND";
            var identity = new Identity(
                    number.number,
                    number.firstGeneration,
                    serial,
                    holder,
                    generation,
                    description.serviceId,
                    nameOf(reference),
                    device,
                    description);
            var binding = new BoundAllocator(this, identity, allocator);
            synchronized (this) {
                requireUnbound(holder, generation, reference);
                bindings.add(binding);
            }
            return binding;
        } catch (RuntimeException e) {
            synchronized (this) {
                returned.addFirst(number);
            }
            throw e;
        }
    }

    private void requireVouchedFor(ServiceReference<DeviceAllocator> reference, DeviceAllocator allocator) {
        var bundle = reference.getBundle();
        if (bundle == null) {
            throw new BindingRefusedException("the allocator service " + reference.getProperty(Constants.SERVICE_ID)
                    + " is gone; another is chosen when one is there");
        }
        if (reference.getProperty(IMPORTED) != null) {
            throw new BindingRefusedException(nameOf(reference)
                    + " is a remote service; its addresses mean nothing here. Deploy the allocator locally");
        }
        var maker = FrameworkUtil.getBundle(allocator.getClass());
        if (maker != null && maker.getBundleId() != bundle.getBundleId()) {
            throw new BindingRefusedException(nameOf(reference) + " is an object of bundle " + maker.getSymbolicName()
                    + ", registered by another; only the bundle whose code it is may register it");
        }
    }

    private void requireUnbound(String holder, long generation, ServiceReference<?> reference) {
        for (var binding : bindings) {
            if (binding.identity().holder().equals(holder) && binding.identity().generation() == generation) {
                throw new BindingRefusedException("provider " + holder + " generation " + generation
                        + " has bound an allocator for life; " + nameOf(reference)
                        + " was not touched. It can serve a next generation");
            }
        }
    }

    private Number nextNumber() {
        if (numbers < Token.MAX_BINDING) {
            return new Number(++numbers, 0);
        }
        var again = returned.pollFirst();
        if (again == null) {
            throw new BindingRefusedException(
                    "all " + Token.MAX_BINDING
                            + " binding numbers of this run are in use or used up; end other providers, or restart the framework");
        }
        return again;
    }

    private static DeviceKey deviceOf(ServiceReference<?> reference, DeviceAllocator allocator) {
        DeviceKey device;
        try {
            device = allocator.device();
        } catch (RuntimeException | Error e) {
            throw Faults.threw(nameOf(reference), "device", e);
        }
        if (device == null) {
            throw new AllocatorFaultException(
                    nameOf(reference) + " answered null from device. Report it to the allocator's author", null);
        }
        return device;
    }

    @Override
    public AllocatorDTO describe(ServiceReference<?> reference) {
        var dto = new AllocatorDTO();
        var bundle = reference.getBundle();
        dto.serviceId = (Long) reference.getProperty(Constants.SERVICE_ID);
        dto.bundleId = bundle == null ? -1 : bundle.getBundleId();
        dto.bundle = bundle == null ? null : bundle.getSymbolicName();
        dto.version = bundle == null ? null : String.valueOf(bundle.getVersion());
        dto.device = text(reference.getProperty(DeviceAllocator.DEVICE_PROPERTY));
        dto.deviceName = text(reference.getProperty(DeviceAllocator.DEVICE_NAME_PROPERTY));
        dto.mechanism = text(reference.getProperty(DeviceAllocator.MECHANISM_PROPERTY));
        dto.facets = text(reference.getProperty(DeviceAllocator.FACETS_PROPERTY));
        dto.ranking = reference.getProperty(Constants.SERVICE_RANKING) instanceof Integer ranking ? ranking : 0;
        judge(reference, dto);
        return dto;
    }

    private void judge(ServiceReference<?> reference, AllocatorDTO dto) {
        var holders = bindings.stream()
                .filter(binding -> binding.identity().serviceId() == dto.serviceId)
                .map(binding -> binding.identity().holder() + " generation "
                        + binding.identity().generation())
                .toList();
        var fault = unhealthy.get(dto.serviceId);
        var own = FrameworkUtil.getBundle(Registry.class);
        if (dto.bundleId < 0) {
            dto.state = "REFUSED";
            dto.reason = "the service is gone";
        } else if (isUnavailable(reference)) {
            dto.state = "UNAVAILABLE";
            dto.reason = text(reference.getProperty(UnavailableAllocator.REASON_PROPERTY));
        } else if (own != null && !reference.isAssignableTo(own, DeviceAllocator.class.getName())) {
            dto.state = "INVISIBLE";
            dto.reason = "other class space: the bundle brings its own copy of org.granule.memory; import it instead";
        } else if (reference.getProperty(IMPORTED) != null) {
            dto.state = "REFUSED";
            dto.reason = "a remote service; deploy the allocator locally";
        } else if (fault != null) {
            dto.state = "UNHEALTHY";
            dto.reason = fault;
        } else {
            dto.state = holders.isEmpty() ? "AVAILABLE" : "BOUND";
            dto.reason = holders.isEmpty() ? "" : "by " + String.join(", ", holders);
        }
    }

    private static boolean isUnavailable(ServiceReference<?> reference) {
        return reference.getProperty(Constants.OBJECTCLASS) instanceof String[] names
                && List.of(names).contains(UnavailableAllocator.class.getName());
    }

    @Override
    public List<AllocatorDTO> allocators() {
        return services.get().stream()
                .map(this::describe)
                .sorted(Comparator.comparingInt((AllocatorDTO dto) -> -dto.ranking)
                        .thenComparingLong(dto -> dto.serviceId))
                .toList();
    }

    @Override
    public List<BindingDTO> bindings() {
        return bindings.stream().map(BoundAllocator::describe).toList();
    }

    @Override
    public List<AllocationDTO> allocations() {
        var all = new ArrayList<AllocationDTO>();
        bindings.forEach(binding -> binding.list(all));
        all.addAll(left());
        return all;
    }

    @Override
    public ReleaseOutcome settle(long token) {
        for (var binding : bindings) {
            if (binding.identity().number() == Token.binding(token)) {
                return binding.settle(token);
            }
        }
        if (left().stream().anyMatch(allocation -> allocation.token == token)) {
            throw new NotSupportedException(
                    "token " + token + ": its allocator is gone, so its memory cannot be released; it stays charged");
        }
        throw Faults.stale(token);
    }

    @Override
    public long trim(DeviceKey device, long bytes) {
        long trimmed = 0;
        var asked = new ArrayList<BoundAllocator>();
        for (var binding : bindings) {
            if (trimmed < bytes
                    && binding.device().equals(device)
                    && asked.stream().noneMatch(binding::sharesAllocatorWith)) {
                asked.add(binding);
                trimmed += binding.trim(bytes - trimmed);
            }
        }
        return trimmed;
    }

    @Override
    public List<DeviceDTO> devices() {
        return devices.keys().stream().map(devices::describe).toList();
    }

    @Override
    public List<ReconciliationDTO> reconcile() {
        return devices.keys().stream().map(devices::reconcile).toList();
    }

    @Override
    public ReconciliationDTO reconcile(DeviceKey device) {
        if (!devices.keys().contains(device)) {
            throw new InvalidRequestException("no allocator of device " + device + " is bound; granule:devices lists"
                    + " the devices that have one");
        }
        return devices.reconcile(device);
    }

    /**
     * What ended bindings left in quarantine, without what has settled since: an allocator whose device is gone settles
     * with the ledger, and has nobody else to tell.
     */
    private List<AllocationDTO> left() {
        if (!left.isEmpty()) {
            var quarantined = ledger.ledger().stream()
                    .filter(row -> row.quarantinedBytes > 0)
                    .map(row -> row.path)
                    .collect(Collectors.toSet());
            left.removeIf(allocation -> !quarantined.contains(allocation.account));
        }
        return left;
    }

    /** Ends all bindings that are left, without waiting for anybody. */
    @Override
    @Deactivate
    public void close() {
        bindings.forEach(binding -> binding.close(Duration.ZERO));
        ticker.close();
    }

    // What bindings need

    Ledger ledger() {
        return ledger;
    }

    Cleaner cleaner() {
        return cleaner;
    }

    long ticks() {
        return ticker.ticks();
    }

    long nanosSince(long ticks) {
        return ticker.nanosSince(ticks);
    }

    boolean recordsSites() {
        return recordsSites;
    }

    void report(String line) {
        reports.accept(line);
    }

    void unhealthy(long serviceId, String fault) {
        if (unhealthy.put(serviceId, fault) == null) {
            report(fault);
        }
    }

    /** Whether no other binding has the same allocator. */
    boolean isLast(BoundAllocator binding) {
        return bindings.stream().noneMatch(other -> other != binding && other.sharesAllocatorWith(binding));
    }

    /** Takes a closed binding off the list; what it left in quarantine stays listed. */
    synchronized void closed(BoundAllocator binding, int reachedGeneration, List<AllocationDTO> quarantined) {
        bindings.remove(binding);
        left.addAll(quarantined);
        if (reachedGeneration < SPARE_GENERATIONS) {
            returned.addLast(new Number(binding.identity().number(), reachedGeneration));
        }
    }

    private static String nameOf(ServiceReference<?> reference) {
        var bundle = reference.getBundle();
        return "allocator " + reference.getProperty(Constants.SERVICE_ID)
                + (bundle == null ? "" : " of " + bundle.getSymbolicName() + " " + bundle.getVersion());
    }

    private static String text(Object property) {
        return switch (property) {
            case null -> null;
            case String[] several -> String.join(",", several);
            default -> property.toString();
        };
    }
}
