package org.granule.conformance;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.granule.cuda.vmm.CudaRig;
import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmDriver;
import org.granule.vmm.VmmSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;

/** The rules on a card, against which the strict driver is checked. */
@DisplayName("What the driver of a card accepts and refuses")
public class CudaDriverRules extends DriverRules {

    private final CudaRig rig = new CudaRig(VmmSettings.of(new DeviceKey("cuda", 0)), driver -> driver);
    private CudaWork work;

    @Override
    VmmDriver driver() {
        return rig.driver();
    }

    @Override
    long knownGranuleBytes() {
        return 2 << 20;
    }

    @Override
    long physicalBytes() {
        long granule = knownGranuleBytes();
        return (rig.driver().totalBytes() + granule - 1) / granule * granule;
    }

    @Override
    byte read(long address) {
        var one = MemorySegment.ofArray(new byte[1]);
        rig.transfer().copyOut(one, address);
        return one.get(JAVA_BYTE, 0);
    }

    @Override
    void write(long address, byte value) {
        rig.transfer().fill(address, 1, value);
    }

    @Override
    void fill(long address, long bytes, byte value) {
        rig.transfer().fill(address, bytes, value);
    }

    @Override
    Optional<Work> startWork(long address, long bytes, byte value) {
        if (work == null) {
            work = new CudaWork();
        }
        work.hold().fill(address, bytes, value);
        return Optional.of(() -> {
            work.letGo();
            work.await();
        });
    }

    /** The card keeps no notes. */
    @Override
    Optional<List<String>> violations() {
        return Optional.empty();
    }

    @Override
    boolean zeroesNewMemory() {
        return true;
    }

    /** Everything after it in this process would fail. */
    @Override
    boolean mayLoseDevice() {
        return false;
    }

    @AfterEach
    void endWork() {
        if (work != null) {
            work.close();
        }
        rig.close();
    }
}
