package org.granule.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/**
 * The system calls of Linux that virtual memory is made of. Constants are those of the kernel's headers for all
 * architectures that Java 25 runs on.
 */
@SuppressWarnings("restricted")
final class LinuxMemory {

    static final int PROT_NONE = 0;
    static final int PROT_READ = 1;
    static final int PROT_READ_WRITE = 3;

    private static final int MAP_SHARED = 0x01;
    private static final int MAP_PRIVATE = 0x02;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MFD_CLOEXEC = 1;
    private static final int FALLOC_KEEP_SIZE_AND_PUNCH_HOLE = 1 | 2;
    private static final int FALLOC_KEEP_SIZE = 1;
    private static final int ENOMEM = 12;
    private static final int ENOSPC = 28;

    private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    /** Where a thread's calls leave their error. An arena for each call would cost as much as a fast call does. */
    private static final ThreadLocal<MemorySegment> ERRORS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

    private static final MethodHandle MEMFD_CREATE =
            link("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE =
            link("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle FALLOCATE =
            link("fallocate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MMAP = link(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MPROTECT =
            link("mprotect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle MUNMAP = link("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle CLOSE = link("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static MethodHandle link(String name, FunctionDescriptor type) {
        return NativeCalls.link(name, type, Linker.Option.captureCallState("errno"));
    }

    /** Makes a file in memory, of a size that costs nothing until it is written. */
    int file(String name, long bytes) {
        try (var arena = Arena.ofConfined()) {
            var state = ERRORS.get();
            int file = (int) MEMFD_CREATE.invokeExact(state, arena.allocateFrom(name), MFD_CLOEXEC);
            require(file >= 0, "memfd_create", state, 0, 0);
            require((int) FTRUNCATE.invokeExact(state, file, bytes) == 0, "ftruncate", state, 0, bytes);
            return file;
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    void close(int file) {
        try {
            var state = ERRORS.get();
            require((int) CLOSE.invokeExact(state, file) == 0, "close", state, 0, 0);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Takes addresses anywhere, with nothing behind them. */
    long reserve(long bytes) {
        return map(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }

    /** Gives addresses up for good. */
    void free(long address, long bytes) {
        try {
            var state = ERRORS.get();
            require((int) MUNMAP.invokeExact(state, address, bytes) == 0, "munmap", state, address, bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Puts a part of a file at an address, readable and writable. */
    void mapFile(long address, long bytes, int file, long offset) {
        map(address, bytes, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED, file, offset);
    }

    /**
     * Takes away what is at an address and keeps the address: another mapping is laid over it. A plain unmap would
     * leave a hole that anybody's next mapping may take.
     */
    void cover(long address, long bytes) {
        map(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }

    private long map(long address, long bytes, int protection, int flags, int file, long offset) {
        try {
            var state = ERRORS.get();
            long at = (long) MMAP.invokeExact(state, address, bytes, protection, flags, file, offset);
            require(at != -1, "mmap", state, address, bytes);
            return at;
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    void protect(long address, long bytes, int protection) {
        try {
            var state = ERRORS.get();
            require(
                    (int) MPROTECT.invokeExact(state, address, bytes, protection) == 0,
                    "mprotect",
                    state,
                    address,
                    bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Makes the memory of a part of a file exist now. */
    void populate(int file, long offset, long bytes) {
        fallocate(file, FALLOC_KEEP_SIZE, offset, bytes);
    }

    /** Gives the memory of a part of a file back; it reads as zeroes from now on. */
    void punch(int file, long offset, long bytes) {
        fallocate(file, FALLOC_KEEP_SIZE_AND_PUNCH_HOLE, offset, bytes);
    }

    private void fallocate(int file, int mode, long offset, long bytes) {
        try {
            var state = ERRORS.get();
            require(
                    (int) FALLOCATE.invokeExact(state, file, mode, offset, bytes) == 0,
                    "fallocate",
                    state,
                    offset,
                    bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    private static void require(boolean succeeded, String call, MemorySegment state, long address, long bytes) {
        if (!succeeded) {
            int errno = (int) ERRNO.get(state, 0L);
            boolean full = errno == ENOMEM || errno == ENOSPC;
            throw new DriverFaultException(
                    full ? Kind.OUT_OF_MEMORY : Kind.INVALID,
                    call + " failed with errno " + errno + ": " + bytes + " bytes at 0x" + Long.toHexString(address)
                            + (errno == ENOMEM && !"fallocate".equals(call)
                                    ? "; memory, or the mappings of a process (vm.max_map_count), may be exhausted"
                                    : ""));
        }
    }

    private static RuntimeException rethrow(Throwable e) {
        return switch (e) {
            case RuntimeException unchecked -> unchecked;
            case Error error -> throw error;
            default -> new IllegalStateException(e);
        };
    }
}
