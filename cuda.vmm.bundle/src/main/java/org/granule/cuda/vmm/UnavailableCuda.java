package org.granule.cuda.vmm;

import java.util.Hashtable;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.UnavailableAllocator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;

/** Stands in the list of allocators for a device, or for all of them, with the reason why there is none. */
final class UnavailableCuda implements UnavailableAllocator {

    private UnavailableCuda() {}

    static ServiceRegistration<UnavailableAllocator> register(BundleContext context, String device, String reason) {
        var properties = new Hashtable<String, Object>();
        properties.put(DeviceAllocator.DEVICE_PROPERTY, device);
        properties.put(DeviceAllocator.MECHANISM_PROPERTY, CudaPlatform.MECHANISM);
        properties.put(REASON_PROPERTY, reason);
        return context.registerService(UnavailableAllocator.class, new UnavailableCuda(), properties);
    }
}
