package org.granule.vmm.strict;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.granule.memory.Transfer;

/** Moves bytes on a {@link StrictDriver}, one by one, each access checked as a device would. */
public final class StrictTransfer implements Transfer {

    private final StrictDriver driver;

    /**
     * Makes the facet.
     *
     * @param driver the device
     */
    public StrictTransfer(StrictDriver driver) {
        this.driver = driver;
    }

    @Override
    public void fill(long address, long bytes, byte value) {
        for (long i = 0; i < bytes; i++) {
            driver.write(address + i, value);
        }
    }

    @Override
    public void copy(long target, long source, long bytes) {
        var between = new byte[Math.toIntExact(bytes)];
        for (int i = 0; i < between.length; i++) {
            between[i] = driver.read(source + i);
        }
        for (int i = 0; i < between.length; i++) {
            driver.write(target + i, between[i]);
        }
    }

    @Override
    public void copyIn(long target, MemorySegment source) {
        for (long i = 0; i < source.byteSize(); i++) {
            driver.write(target + i, source.get(ValueLayout.JAVA_BYTE, i));
        }
    }

    @Override
    public void copyOut(MemorySegment target, long source) {
        for (long i = 0; i < target.byteSize(); i++) {
            target.set(ValueLayout.JAVA_BYTE, i, driver.read(source + i));
        }
    }

    @Override
    public void synchronise() {
        // Every call has finished when it returns.
    }
}
