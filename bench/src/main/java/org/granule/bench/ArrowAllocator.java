package org.granule.bench;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Arrow's allocators, with as many levels and limits as the ledger has. */
@State(Scope.Benchmark)
public class ArrowAllocator {

    private RootAllocator device;
    private BufferAllocator tenant;
    BufferAllocator role;

    /** Makes the three levels. */
    @Setup(Level.Trial)
    public void open() {
        device = new RootAllocator(16L << 30);
        tenant = device.newChildAllocator("tenant", 0, 12L << 30);
        role = tenant.newChildAllocator("role", 0, 8L << 30);
    }

    /** Closes them; Arrow fails when something is left. */
    @TearDown(Level.Trial)
    public void close() {
        role.close();
        tenant.close();
        device.close();
    }
}
