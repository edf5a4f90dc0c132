package org.granule.host;

import java.util.function.UnaryOperator;
import org.granule.vmm.VmmAllocator;
import org.granule.vmm.VmmDriver;
import org.granule.vmm.VmmSettings;

/** The engine over Linux memory, as the host bundle makes it, for tests of other packages. */
public final class LinuxVmm implements AutoCloseable {

    private final LinuxDriver driver;
    private final VmmAllocator allocator;

    /**
     * Opens a file of its own. Memory exists from its creation, so that the kernel can be asked how much there is.
     *
     * @param granuleBytes the granule
     * @param settings of the engine
     * @param between puts something between the engine and its driver
     */
    public LinuxVmm(long granuleBytes, VmmSettings settings, UnaryOperator<VmmDriver> between) {
        driver = new LinuxDriver(granuleBytes, true);
        allocator = new VmmAllocator(between.apply(driver), settings);
    }

    /** Returns the engine. */
    public VmmAllocator allocator() {
        return allocator;
    }

    /** Returns the descriptor of the file that all its memory is a part of. */
    public int file() {
        return driver.file();
    }

    @Override
    public void close() {
        driver.close();
    }
}
