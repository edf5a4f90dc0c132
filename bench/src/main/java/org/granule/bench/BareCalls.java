package org.granule.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** The system calls that a commit and a decommit consist of, and nothing around them. */
final class BareCalls {

    private static final int PROT_NONE = 0;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED_FIXED = 0x01 | 0x10;
    private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
    private static final int MAP_FIXED = 0x10;
    private static final int MFD_CLOEXEC = 1;

    private static final MethodHandle MMAP = link(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MEMFD_CREATE =
            link("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle FTRUNCATE =
            link("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));

    private final int file;
    private final long start;

    /** Reserves addresses and makes a file of the same size. */
    BareCalls(long bytes) throws Throwable {
        try (var arena = Arena.ofConfined()) {
            file = (int) MEMFD_CREATE.invokeExact(arena.allocateFrom("bench"), MFD_CLOEXEC);
        }
        require(file >= 0 && (int) FTRUNCATE.invokeExact(file, bytes) == 0);
        start = map(0, 2 * bytes, PROT_NONE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0) + bytes - 1 & -bytes;
    }

    void commit(long offset, long bytes) throws Throwable {
        map(start + offset, bytes, PROT_READ_WRITE, MAP_SHARED_FIXED, file, offset);
    }

    void decommit(long offset, long bytes) throws Throwable {
        map(start + offset, bytes, PROT_NONE, MAP_PRIVATE_ANONYMOUS_NORESERVE | MAP_FIXED, -1, 0);
    }

    private static long map(long address, long bytes, int protection, int flags, int file, long offset)
            throws Throwable {
        long at = (long) MMAP.invokeExact(address, bytes, protection, flags, file, offset);
        require(at != -1);
        return at;
    }

    private static MethodHandle link(String name, FunctionDescriptor type) {
        return Memory.link(Linker.nativeLinker().defaultLookup(), name, type);
    }

    private static void require(boolean succeeded) {
        if (!succeeded) {
            throw new IllegalStateException("a system call failed");
        }
    }
}
