package org.granule.registry;

import java.lang.foreign.MemorySegment;
import org.granule.memory.Transfer;

/** Moves bytes in memory that Java can address, for allocators of such memory that bring no transfer of their own. */
@SuppressWarnings("restricted")
final class HostTransfer implements Transfer {

    @Override
    public void fill(long address, long bytes, byte value) {
        at(address, bytes).fill(value);
    }

    @Override
    public void copy(long target, long source, long bytes) {
        MemorySegment.copy(at(source, bytes), 0, at(target, bytes), 0, bytes);
    }

    @Override
    public void copyIn(long target, MemorySegment source) {
        MemorySegment.copy(source, 0, at(target, source.byteSize()), 0, source.byteSize());
    }

    @Override
    public void copyOut(MemorySegment target, long source) {
        MemorySegment.copy(at(source, target.byteSize()), 0, target, 0, target.byteSize());
    }

    @Override
    public void synchronise() {
        // Every call has finished when it returns.
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
