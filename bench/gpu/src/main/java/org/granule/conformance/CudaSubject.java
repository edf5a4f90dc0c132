package org.granule.conformance;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.granule.cuda.vmm.CudaRig;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmSettings;

/** The engine on a card. */
final class CudaSubject extends VmmSubject {

    private static final DeviceKey DEVICE = new DeviceKey("cuda", 0);

    private static final long LARGEST_EXTENT = 1L << 30;

    private GateDriver gate;
    private final CudaRig rig;

    CudaSubject(Keeping keeping) {
        var settings = settings(DEVICE, keeping);
        rig = new CudaRig(
                new VmmSettings(
                        DEVICE, settings.arenaBytes(), settings.keptBytes(), settings.idleBytes(), LARGEST_EXTENT),
                driver -> gate = new GateDriver(driver));
    }

    CudaRig rig() {
        return rig;
    }

    @Override
    VmmAllocator engine() {
        return rig.allocator();
    }

    @Override
    public GateDriver gate() {
        return gate;
    }

    @Override
    public long physicalBytes() {
        return rig.driver().totalBytes();
    }

    @Override
    void checkKernel(long owned, long mapped) {
        var truth = rig.driver().truth();
        gate.forEachHandle((handle, bytes) -> assertThat(truth.exists(handle, bytes))
                .as("handle %d of the books", handle)
                .isTrue());
        gate.forEachMapping((address, bytes, handle) -> assertThat(truth.maps(address, bytes, handle))
                .as("mapping of the books at 0x%x", address)
                .isTrue());
    }

    @Override
    public boolean isWritable(long address) {
        var one = MemorySegment.ofArray(new byte[1]);
        try {
            rig.transfer().copyOut(one, address);
            // The one write of which it is known that a read-only mapping refuses it at once.
            rig.transfer().fill(address, 1, one.get(JAVA_BYTE, 0));
            return true;
        } catch (DriverFaultException e) {
            return false;
        }
    }

    @Override
    public void touch(long address, byte value) {
        rig.transfer().fill(address, 1, value);
    }

    @Override
    public void close() {
        super.close();
        gate.freeReservations();
        rig.close();
    }
}
