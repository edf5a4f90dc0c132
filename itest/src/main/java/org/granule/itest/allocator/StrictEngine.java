package org.granule.itest.allocator;

import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmSettings;
import org.granule.vmm.strict.StrictDriver;
import org.granule.vmm.strict.StrictTransfer;

/** The engine on a device in Java memory; its classes are only in the bundles that ask for it. */
final class StrictEngine {

    private static final long GRANULE = 4096;
    private static final long CAPACITY = 1024 * GRANULE;

    private StrictEngine() {}

    static Mechanism of(DeviceKey device) {
        var driver = new StrictDriver(GRANULE, CAPACITY);
        var settings = new VmmSettings(device, 4 * CAPACITY, CAPACITY / 8, CAPACITY / 8, CAPACITY);
        var engine = new VmmAllocator(driver, settings, new StrictTransfer(driver));
        return new Mechanism(engine, () -> leftover(driver), engine::close);
    }

    private static String leftover(StrictDriver driver) {
        var found = driver.liveBytes() == 0 ? "nothing" : driver.liveBytes() + " bytes";
        return driver.violations().isEmpty() ? found : found + ", violations: " + driver.violations();
    }
}
