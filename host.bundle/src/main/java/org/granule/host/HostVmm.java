package org.granule.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Hashtable;
import org.granule.memory.ByteSize;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmSettings;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.Designate;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/**
 * Deploys the engine over Linux memory. The allocator is registered once it works, so that a system without the
 * calls it needs has a component that failed, with the reason, and no allocator service. A change of its
 * configuration makes a new allocator.
 */
@Component(
        name = HostVmm.NAME,
        service = {},
        immediate = true)
@Designate(ocd = HostVmm.Settings.class)
public final class HostVmm {

    static final String NAME = "org.granule.host.vmm";
    private static final long LARGEST_EXTENT = 1L << 30;
    private static final Path HUGE_PAGES = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");

    /** Settings of the host VMM allocator. */
    @ObjectClassDefinition(id = NAME, name = "Granule host VMM allocator")
    @interface Settings {
        /**
         * The granule.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Granule", description = "Smallest piece that is mapped: a power of two from 4KiB")
        String granule() default "2MiB";

        /**
         * The bound of kept blocks.
         *
         * @return a size
         */
        @AttributeDefinition(
                name = "Kept mapped",
                description = "The most released memory that stays mapped for the next allocation of the same size")
        String kept() default "256MiB";

        /**
         * The bound of idle handles.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Idle", description = "The most unmapped memory that is kept for the next commit")
        String idle() default "1GiB";

        /**
         * The arena.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Arena", description = "Addresses reserved at a time")
        String arena() default "1TiB";

        /**
         * Whether memory exists from its creation.
         *
         * @return false by default
         */
        @AttributeDefinition(
                name = "Populate",
                description = "Make memory exist when it is charged, not when it is first touched. Commits take"
                        + " milliseconds, and a system without memory refuses in place of ending processes")
        boolean populate() default false;
    }

    private final LinuxDriver driver;
    private final VmmAllocator allocator;
    private final ServiceRegistration<DeviceAllocator> registration;

    /**
     * Starts the engine.
     *
     * @param context of this bundle
     * @param settings from Configuration Admin
     * @throws UnsupportedOperationException when this system is not Linux
     */
    @Activate
    public HostVmm(BundleContext context, Settings settings) {
        var system = System.getProperty("os.name");
        if (!"Linux".equals(system)) {
            throw new UnsupportedOperationException(
                    "the host VMM allocator needs Linux, this is " + system + "; use the allocator host-eager");
        }
        long granule = ByteSize.parse(settings.granule());
        var device = new DeviceKey(DeviceKey.HOST, 0);
        var engine = new VmmSettings(
                device,
                ByteSize.parse(settings.arena()),
                ByteSize.parse(settings.kept()),
                ByteSize.parse(settings.idle()),
                LARGEST_EXTENT);
        driver = new LinuxDriver(granule, settings.populate());
        allocator = new VmmAllocator(driver, engine);
        var properties = new Hashtable<String, Object>();
        properties.put(DeviceAllocator.DEVICE_PROPERTY, device.toString());
        properties.put(DeviceAllocator.DEVICE_NAME_PROPERTY, "host memory");
        properties.put(DeviceAllocator.MECHANISM_PROPERTY, "host-vmm");
        properties.put(
                DeviceAllocator.FACETS_PROPERTY, new String[] {"virtual-backing", "shared-mapping", "inspection"});
        properties.put("granule.bytes", granule);
        properties.put("granule.pages", pages());
        registration = context.registerService(DeviceAllocator.class, allocator, properties);
    }

    /** Which pages the kernel gives such memory: huge ones only where shared memory is allowed to have them. */
    private static String pages() {
        try {
            return "transparent_hugepage/shmem_enabled: "
                    + Files.readString(HUGE_PAGES).strip();
        } catch (IOException e) {
            return "small; " + HUGE_PAGES + " cannot be read";
        }
    }

    /** Lets providers give everything back while the engine still works, then ends it. */
    @Deactivate
    void deactivate() {
        registration.unregister();
        allocator.close();
        driver.close();
    }
}
