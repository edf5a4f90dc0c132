package org.granule.host;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.memory.Access;
import org.granule.memory.InvalidRequestException;
import org.granule.vmm.DriverTruth;
import org.granule.vmm.VmmDriver;

/**
 * Virtual memory of the host: physical memory is a part of one file in memory, named by its offset, and can be
 * mapped at any number of addresses. Offsets are never used twice; a file has 2^62 of them.
 */
@SuppressWarnings("restricted")
final class LinuxDriver implements VmmDriver, AutoCloseable {

    private static final long FILE_BYTES = 1L << 62;
    private static final long PAGE = 4096;

    private final LinuxMemory memory = new LinuxMemory();
    private final long granuleBytes;
    private final boolean populates;
    private final int file;
    private final AtomicLong nextOffset = new AtomicLong();

    /**
     * The parts of the file that are handles, each with its size. The kernel tells a part that was given back from one
     * that nobody has written yet only by the memory behind it, which both do not have.
     */
    private final ConcurrentHashMap<Long, Long> handles = new ConcurrentHashMap<>();

    /**
     * Opens the file.
     *
     * @param granuleBytes a power of two, at least a page
     * @param populates whether memory exists from its creation, or from its first touch
     */
    LinuxDriver(long granuleBytes, boolean populates) {
        if (granuleBytes < PAGE || Long.bitCount(granuleBytes) != 1) {
            throw new InvalidRequestException(
                    "granule of " + granuleBytes + " bytes is not a power of two from " + PAGE);
        }
        this.granuleBytes = granuleBytes;
        this.populates = populates;
        this.file = memory.file("granule", FILE_BYTES);
    }

    @Override
    public long granuleBytes() {
        return granuleBytes;
    }

    @Override
    public boolean mapsWritable() {
        return true;
    }

    @Override
    public long reserve(long bytes) {
        long room = bytes + granuleBytes;
        long start = memory.reserve(room);
        long aligned = (start + granuleBytes - 1) & -granuleBytes;
        if (aligned > start) {
            memory.free(start, aligned - start);
        }
        if (aligned + bytes < start + room) {
            memory.free(aligned + bytes, start + room - aligned - bytes);
        }
        return aligned;
    }

    @Override
    public void free(long address, long bytes) {
        memory.free(address, bytes);
    }

    @Override
    public long create(long bytes) {
        long offset = nextOffset.getAndAdd(bytes);
        if (populates) {
            memory.populate(file, offset, bytes);
        }
        handles.put(offset, bytes);
        return offset;
    }

    @Override
    public void map(long address, long bytes, long handle) {
        memory.mapFile(address, bytes, file, handle);
    }

    @Override
    public void protect(long address, long bytes, Access access) {
        memory.protect(
                address,
                bytes,
                switch (access) {
                    case NONE -> LinuxMemory.PROT_NONE;
                    case READ -> LinuxMemory.PROT_READ;
                    case READ_WRITE -> LinuxMemory.PROT_READ_WRITE;
                });
    }

    @Override
    public void unmap(long address, long bytes) {
        memory.cover(address, bytes);
    }

    @Override
    public void release(long handle, long bytes) {
        memory.punch(file, handle, bytes);
        handles.remove(handle);
    }

    @Override
    public void scrub(long address, long bytes) {
        at(address, bytes).fill((byte) 0);
    }

    @Override
    public void copy(long target, long source, long bytes) {
        at(target, bytes).copyFrom(at(source, bytes));
    }

    @Override
    public DriverTruth truth() {
        var mappings = FileMappings.of(file);
        return new DriverTruth() {
            @Override
            public boolean exists(long handle, long bytes) {
                return Long.valueOf(bytes).equals(handles.get(handle));
            }

            @Override
            public boolean maps(long address, long bytes, long handle) {
                return mappings.show(address, bytes, handle);
            }

            @Override
            public boolean isMapped(long address) {
                return mappings.touch(address, granuleBytes);
            }
        };
    }

    @Override
    public long totalBytes() {
        return SystemMemory.bytes("MemTotal");
    }

    @Override
    public long freeBytes() {
        return SystemMemory.bytes("MemAvailable");
    }

    /** Closes the file. What is still mapped stays readable until the process ends. */
    @Override
    public void close() {
        memory.close(file);
    }

    /** The file's descriptor, for those who want to ask the kernel about it. */
    int file() {
        return file;
    }

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
