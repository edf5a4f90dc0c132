package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmSettings;

/** The engine over some driver, with a gate before it. */
abstract class VmmSubject implements Subject {

    private static final long MIB = 1 << 20;
    private static final long ARENA = 1L << 36;
    private static final long LARGEST_EXTENT = 256 * MIB;

    private boolean ended;

    /** Returns the engine. */
    abstract VmmAllocator engine();

    /** Asserts that the device itself says the same. */
    abstract void checkKernel(long owned, long mapped);

    static VmmSettings settings(DeviceKey device, Keeping keeping) {
        long kept = keeping == Keeping.NOTHING ? 0 : 64 * MIB;
        return new VmmSettings(device, ARENA, kept, kept, LARGEST_EXTENT);
    }

    @Override
    public DeviceAllocator allocator() {
        return engine();
    }

    @Override
    public boolean isLazy() {
        return true;
    }

    @Override
    public long unit() {
        return gate().granuleBytes();
    }

    @Override
    public void checkDevice(long owned, long mapped, long idle) {
        assertThat(gate().violations()).as("what a driver must never be asked").isEmpty();
        // Once the context is gone only the books are left to settle.
        if (!ended) {
            assertThat(owned)
                    .as("owned bytes of the ledger, handles that exist")
                    .isEqualTo(gate().liveBytes());
            assertThat(mapped).as("mapped bytes of the ledger, mappings").isEqualTo(gate().mappedBytes());
            checkKernel(owned, mapped);
        }
    }

    @Override
    public OptionalInt freeSpans() {
        return OptionalInt.of(engine().freeSpans());
    }

    @Override
    public void settle() {
        engine().settle();
    }

    @Override
    public long endContext() {
        ended = true;
        gate().destroyContext();
        return engine().deviceGone();
    }

    @Override
    public void close() {
        gate().heal();
        gate().destroyContext();
    }
}
