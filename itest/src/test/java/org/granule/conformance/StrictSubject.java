package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.strict.StrictDriver;
import org.granule.vmm.strict.StrictTransfer;

/** The engine over the strict driver: a device in memory that refuses whatever a real one would not forgive. */
final class StrictSubject extends VmmSubject {

    private static final long GRANULE = 4096;
    private static final long CAPACITY = 512 << 20;
    private static final DeviceKey DEVICE = new DeviceKey("strict", 0);

    private final StrictDriver driver = new StrictDriver(GRANULE, CAPACITY);
    private final GateDriver gate = new GateDriver(driver);
    private final VmmAllocator engine;

    StrictSubject(Keeping keeping) {
        engine = new VmmAllocator(gate, settings(DEVICE, keeping), new StrictTransfer(driver));
        driver.refuseWhile(engine::isLockedByCurrentThread);
    }

    @Override
    VmmAllocator engine() {
        return engine;
    }

    @Override
    public GateDriver gate() {
        return gate;
    }

    @Override
    public long physicalBytes() {
        return CAPACITY;
    }

    @Override
    void checkKernel(long owned, long mapped) {
        assertThat(driver.violations())
                .as("what the device would not have reported")
                .isEmpty();
        assertThat(owned).as("owned bytes of the ledger, the device's handles").isEqualTo(driver.liveBytes());
        assertThat(mapped)
                .as("mapped bytes of the ledger, the device's mappings")
                .isEqualTo(driver.mappedBytes());
    }

    @Override
    public boolean isWritable(long address) {
        try {
            driver.write(address, driver.read(address));
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    @Override
    public void touch(long address, byte value) {
        driver.write(address, value);
    }
}
