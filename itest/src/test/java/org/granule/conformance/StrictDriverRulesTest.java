package org.granule.conformance;

import java.util.List;
import java.util.Optional;
import org.granule.vmm.VmmDriver;
import org.granule.vmm.strict.StrictDriver;
import org.granule.vmm.strict.StrictTransfer;
import org.junit.jupiter.api.DisplayName;

/** The rules on the strict driver: a device of its own for each. */
@DisplayName("What the strict driver accepts and refuses")
class StrictDriverRulesTest extends DriverRules {

    private static final long GRANULE = 4096;
    private static final long CAPACITY = 64 * GRANULE;

    private final StrictDriver driver = new StrictDriver(GRANULE, CAPACITY);
    private final StrictTransfer transfer = new StrictTransfer(driver);

    @Override
    VmmDriver driver() {
        return driver;
    }

    @Override
    long knownGranuleBytes() {
        return GRANULE;
    }

    @Override
    long physicalBytes() {
        return CAPACITY;
    }

    @Override
    byte read(long address) {
        return driver.read(address);
    }

    @Override
    void write(long address, byte value) {
        driver.write(address, value);
    }

    @Override
    void fill(long address, long bytes, byte value) {
        transfer.fill(address, bytes, value);
    }

    @Override
    Optional<Work> startWork(long address, long bytes, byte value) {
        return Optional.of(driver.queue(address, bytes, value)::run);
    }

    @Override
    Optional<List<String>> violations() {
        return Optional.of(driver.violations());
    }

    @Override
    boolean zeroesNewMemory() {
        return true;
    }

    @Override
    boolean mayLoseDevice() {
        return true;
    }
}
