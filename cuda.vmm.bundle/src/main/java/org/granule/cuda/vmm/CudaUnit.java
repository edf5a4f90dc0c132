package org.granule.cuda.vmm;

import java.util.Hashtable;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import org.granule.cuda.CudaDevice;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.memory.Fence;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.provider.MemorySession;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmSettings;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;

/** One device with its context, its allocator, and both services. */
final class CudaUnit implements CudaDevice, AutoCloseable {

    static final String CUDA = "cuda";

    private final DeviceKey device;
    private final boolean exportable;
    private final DriverLibrary library;
    private final CudaContext context;
    private final CudaStreams streams;
    private final CudaFences fences;
    private final VmmAllocator allocator;
    private final long granuleBytes;

    /**
     * Starts the engine on a device.
     *
     * @throws org.granule.memory.DriverFaultException when the driver refuses the device
     */
    CudaUnit(DriverLibrary library, VmmSettings settings, boolean exportable) {
        this.library = library;
        this.device = settings.device();
        this.exportable = exportable;
        context = new CudaContext(device.ordinal());
        try {
            streams = new CudaStreams(context);
            fences = new CudaFences(context);
            var driver = new CudaDriver(
                    library, context, streams, exportable ? DriverLibrary.FILE_DESCRIPTOR : DriverLibrary.NO_EXPORT);
            granuleBytes = driver.granuleBytes();
            allocator = new VmmAllocator(driver, settings, new CudaTransfer(streams));
        } catch (RuntimeException | Error e) {
            context.close();
            throw e;
        }
        context.onLost(allocator::deviceLost);
    }

    @Override
    public DeviceKey device() {
        return device;
    }

    @Override
    public CUcontext context() {
        return context.handle();
    }

    @Override
    public Fence fence(CUstream stream) {
        return fences.fence(stream);
    }

    @Override
    public CUdeviceptr pointer(MemorySession session, long token, long offset) {
        return CudaPointers.to(addressOf(session, token, offset));
    }

    @Override
    public int export(MemorySession session, long token, long offset) {
        if (!exportable) {
            throw new NotSupportedException("memory of " + device + " is not exportable; set exportable=true in the"
                    + " configuration " + CudaVmm.NAME + " before it is allocated");
        }
        context.requireWorking("export");
        long address = addressOf(session, token, offset);
        CudaResult.require(context.in(() -> library.retain(address)), "cuMemRetainAllocationHandle", address, 0);
        long handle = library.answer();
        try {
            // It was not released before the handle was held, so it is that allocation's.
            addressOf(session, token, offset);
            CudaResult.require(
                    context.in(() -> library.export(handle)), "cuMemExportToShareableHandle of " + handle, address, 0);
            return library.intAnswer();
        } finally {
            context.in(() -> library.release(handle));
        }
    }

    private long addressOf(MemorySession session, long token, long offset) {
        if (!session.account().startsWith(device + "/")) {
            throw new InvalidRequestException("the session is charged to " + session.account() + ", this is " + device);
        }
        long bytes = session.bytes(token);
        if (offset < 0 || offset >= bytes) {
            throw new InvalidRequestException("offset " + offset + " is outside the allocation of " + bytes + " bytes");
        }
        long address = session.address(token);
        if (address == 0) {
            throw new InvalidRequestException("token " + token + " has no address; attach the prefix, and use that");
        }
        return address + offset;
    }

    /**
     * Gives everything back that the device has of us. A lost device gives nothing back by calls: its context is ended
     * with all that is in it, and once that is confirmed the books settle.
     */
    @Override
    public void close() {
        try {
            giveBack();
            if (context.isLost()) {
                CudaResult.require(context.reset(), "cuDevicePrimaryCtxReset of the lost device " + device, 0, 0);
                allocator.deviceGone();
                allocator.close();
            }
        } finally {
            context.close();
        }
    }

    private void giveBack() {
        try {
            if (!context.isLost()) {
                allocator.close();
                fences.close();
                streams.close();
            }
        } catch (DriverFaultException e) {
            // A loss that is found only now is treated like one that was known.
            if (!context.isLost()) {
                throw e;
            }
        }
    }

    /** A device that is there for providers and users. */
    static final class Registered implements AutoCloseable {

        private final CudaUnit unit;
        private final ServiceRegistration<CudaDevice> face;
        private final ServiceRegistration<DeviceAllocator> allocator;

        Registered(BundleContext context, CudaUnit unit, String name) {
            this.unit = unit;
            var properties = new Hashtable<String, Object>();
            properties.put(DeviceAllocator.DEVICE_PROPERTY, unit.device.toString());
            properties.put(DeviceAllocator.DEVICE_NAME_PROPERTY, name);
            face = context.registerService(CudaDevice.class, unit, properties);
            properties.put(DeviceAllocator.MECHANISM_PROPERTY, CudaPlatform.MECHANISM);
            properties.put(
                    DeviceAllocator.FACETS_PROPERTY,
                    new String[] {"virtual-backing", "shared-mapping", "transfer", "inspection"});
            properties.put("granule.bytes", unit.granuleBytes);
            properties.put("granule.exportable", unit.exportable);
            allocator = context.registerService(DeviceAllocator.class, unit.allocator, properties);
        }

        /** Lets providers give everything back while the engine still works, then ends it. */
        @Override
        public void close() {
            allocator.unregister();
            face.unregister();
            unit.close();
        }
    }
}
