package org.granule.cuda.vmm;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.JCudaDriver;
import org.granule.memory.ByteSize;
import org.granule.memory.DeviceKey;
import org.granule.memory.MemoryException;
import org.granule.vmm.VmmSettings;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.condition.Condition;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;
import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.Designate;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/**
 * Deploys an allocator on each CUDA device that can have one. A change of its configuration makes new allocators.
 */
@Component(
        name = CudaVmm.NAME,
        service = {},
        immediate = true)
@Designate(ocd = CudaVmm.Settings.class)
public final class CudaVmm {

    static final String NAME = "org.granule.cuda.vmm";

    /** Settings of the CUDA allocators, the same for all devices. */
    @ObjectClassDefinition(id = NAME, name = "Granule CUDA allocators")
    @interface Settings {
        /**
         * The bound of kept blocks.
         *
         * @return a size
         */
        @AttributeDefinition(
                name = "Kept mapped",
                description = "The most released memory that stays mapped for the next allocation of the same size."
                        + " No block larger than this is kept")
        String kept() default "4GiB";

        /**
         * The bound of idle handles.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Idle", description = "The most unmapped memory that is kept for the next commit")
        String idle() default "4GiB";

        /**
         * The arena.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Arena", description = "Addresses reserved at a time")
        String arena() default "1TiB";

        /**
         * The largest handle.
         *
         * @return a size
         */
        @AttributeDefinition(
                name = "Largest extent",
                description = "The largest single handle. The driver's calls cost by the handle, not by the byte")
        String maxExtent() default "1GiB";

        /**
         * Whether other processes can be given memory.
         *
         * @return false by default
         */
        @AttributeDefinition(
                name = "Exportable",
                description = "Create all memory so that it can be exported as a file descriptor")
        boolean exportable() default false;
    }

    private final Logger log;
    private final List<CudaUnit.Registered> units = new ArrayList<>();
    private final List<ServiceRegistration<?>> unavailable = new ArrayList<>();

    /**
     * Starts an engine on each device.
     *
     * @param context of this bundle
     * @param system the operating system that it needs
     * @param driver that one is installed
     * @param version that it is new enough
     * @param gpu that there is one
     * @param platform what was found
     * @param log for devices that cannot be used
     * @param settings from Configuration Admin
     */
    @Activate
    public CudaVmm(
            BundleContext context,
            @Reference(target = "(" + Condition.CONDITION_ID + "=" + CudaPlatform.SYSTEM + ")") Condition system,
            @Reference(target = "(" + Condition.CONDITION_ID + "=" + CudaPlatform.DRIVER + ")") Condition driver,
            @Reference(target = "(" + Condition.CONDITION_ID + "=" + CudaPlatform.VERSION + ")") Condition version,
            @Reference(target = "(" + Condition.CONDITION_ID + "=" + CudaPlatform.GPU + ")") Condition gpu,
            @Reference CudaPlatform platform,
            @Reference(service = LoggerFactory.class) Logger log,
            Settings settings) {
        this.log = log;
        try {
            for (int ordinal = 0; ordinal < platform.devices(); ordinal++) {
                deploy(context, platform, log, settings, ordinal);
            }
        } catch (RuntimeException | Error e) {
            // Nobody deactivates a component whose activation failed.
            deactivate();
            throw e;
        }
    }

    private void deploy(BundleContext context, CudaPlatform platform, Logger log, Settings settings, int ordinal) {
        var device = new DeviceKey(CudaUnit.CUDA, ordinal);
        var engine = new VmmSettings(
                device,
                ByteSize.parse(settings.arena()),
                bound(settings.kept(), settings),
                bound(settings.idle(), settings),
                ByteSize.parse(settings.maxExtent()));
        var name = nameOf(ordinal);
        String reason;
        try {
            if (hasVirtualMemory(ordinal)) {
                var unit = new CudaUnit(platform.library(), engine, settings.exportable());
                units.add(new CudaUnit.Registered(context, unit, name));
                return;
            }
            reason = "the device " + name + " has no virtual memory management; use another";
        } catch (MemoryException e) {
            reason = "the device " + name + " cannot be used: " + e.getMessage();
        }
        log.warn("No allocator for {}: {}", device, reason);
        unavailable.add(UnavailableCuda.register(context, device.toString(), reason));
    }

    /** Memory that another process may have mapped is not handed to a next user: nothing of it is kept. */
    private static long bound(String size, Settings settings) {
        long bytes = ByteSize.parse(size);
        return settings.exportable() ? 0 : bytes;
    }

    private static String nameOf(int ordinal) {
        var name = new byte[256];
        int code = CudaResult.of(() -> JCudaDriver.cuDeviceGetName(name, name.length, device(ordinal)));
        int end = 0;
        while (end < name.length && name[end] != 0) {
            end++;
        }
        return code == CudaResult.SUCCESS && end > 0
                ? new String(name, 0, end, StandardCharsets.US_ASCII)
                : "number " + ordinal;
    }

    private static boolean hasVirtualMemory(int ordinal) {
        int[] supported = new int[1];
        int code = CudaResult.of(() -> JCudaDriver.cuDeviceGetAttribute(
                supported,
                CUdevice_attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                device(ordinal)));
        CudaResult.require(code, "cuDeviceGetAttribute of device " + ordinal, 0, 0);
        return supported[0] != 0;
    }

    private static CUdevice device(int ordinal) {
        var device = new CUdevice();
        CudaResult.require(
                CudaResult.of(() -> JCudaDriver.cuDeviceGet(device, ordinal)), "cuDeviceGet " + ordinal, 0, 0);
        return device;
    }

    /** Ends all engines. A device that does not end well does not keep the others. */
    @Deactivate
    void deactivate() {
        for (var unit : units) {
            try {
                unit.close();
            } catch (RuntimeException e) {
                log.error("A CUDA allocator did not give everything back: {}", e.getMessage(), e);
            }
        }
        unavailable.forEach(ServiceRegistration::unregister);
    }
}
