package org.granule.vmm;

import java.util.function.LongSupplier;
import org.granule.memory.DeviceInspection;
import org.granule.memory.DeviceStateDTO;
import org.granule.memory.DriverFaultException;
import org.granule.memory.ReconciliationDTO;

/** What the engine's books say, and whether the device says the same. */
final class VmmInspection implements DeviceInspection {

    private final Engine engine;
    private final KeptBlocks kept;
    private final VmmSharing sharing;

    VmmInspection(Engine engine, KeptBlocks kept, VmmSharing sharing) {
        this.engine = engine;
        this.kept = kept;
        this.sharing = sharing;
    }

    @Override
    public DeviceStateDTO state() {
        var dto = new DeviceStateDTO();
        dto.totalBytes = orUnknown(engine.driver::totalBytes);
        dto.freeBytes = orUnknown(engine.driver::freeBytes);
        dto.changes = engine.memory.changes();
        dto.ownedBytes = engine.memory.ownedBytes();
        dto.mappedBytes = engine.mapper.mappedBytes();
        dto.pooledBytes = kept.bytes() + engine.pool.bytes();
        dto.quarantinedBytes = engine.residues.bytes();
        dto.changing = engine.memory.changing();
        return dto;
    }

    /** A device that is lost or refuses to answer cannot say; the books still can. */
    private static long orUnknown(LongSupplier question) {
        try {
            return question.getAsLong();
        } catch (DriverFaultException e) {
            return -1;
        }
    }

    @Override
    public ReconciliationDTO reconcile() {
        return new Reconciliation(engine, sharing).run();
    }
}
