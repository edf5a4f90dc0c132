package org.granule.cuda.vmm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;

/**
 * The virtual memory calls of the CUDA driver. JCuda 12.6.0 cannot create physical memory, so these go to the driver
 * library directly; handles and addresses are plain numbers. Each method returns the driver's result code, 0 for
 * success; what a call answers lies in {@link #answer()} of the calling thread.
 *
 * <p>They are made in the device's context, see {@link CudaContext#in}. Structures are those of the driver's header for 64-bit systems: the
 * properties of an allocation have 32 bytes of which the last 8 must be zero, an access description has 12.
 */
@SuppressWarnings("restricted")
final class DriverLibrary {

    static final String NAME = "libcuda.so.1";

    /** No handle can be exported. */
    static final int NO_EXPORT = 0;
    /** {@code CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}. */
    static final int FILE_DESCRIPTOR = 1;

    /** {@code CU_MEM_ACCESS_FLAGS_PROT_READ}. */
    static final int READ = 1;
    /** {@code CU_MEM_ACCESS_FLAGS_PROT_READWRITE}. */
    static final int READ_WRITE = 3;

    private static final int PINNED = 1;
    private static final int ON_DEVICE = 1;
    private static final long PROPERTIES_BYTES = 32;
    private static final long TYPE_AT = 0;
    private static final long EXPORT_AT = 4;
    private static final long LOCATION_AT = 8;
    private static final long ORDINAL_AT = 12;
    private static final long ACCESS_BYTES = 12;

    private final MethodHandle version;
    private final MethodHandle granularity;
    private final MethodHandle create;
    private final MethodHandle release;
    private final MethodHandle reserve;
    private final MethodHandle free;
    private final MethodHandle map;
    private final MethodHandle unmap;
    private final MethodHandle setAccess;
    private final MethodHandle retain;
    private final MethodHandle properties;
    private final MethodHandle export;

    /** Where a thread's calls leave their answers. */
    private final ThreadLocal<MemorySegment> answers =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(PROPERTIES_BYTES, Long.BYTES));

    private final SymbolLookup library;

    /**
     * Opens the library.
     *
     * @throws IllegalArgumentException when there is none
     * @throws NoSuchElementException when it lacks one of the calls
     */
    DriverLibrary() {
        // Closed by the collector once nothing can call any more; until then late calls stay safe.
        library = SymbolLookup.libraryLookup(NAME, Arena.ofAuto());
        version = link("cuDriverGetVersion", ADDRESS);
        granularity = link("cuMemGetAllocationGranularity", ADDRESS, ADDRESS, JAVA_INT);
        create = link("cuMemCreate", ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
        release = link("cuMemRelease", JAVA_LONG);
        reserve = link("cuMemAddressReserve", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        free = link("cuMemAddressFree", JAVA_LONG, JAVA_LONG);
        map = link("cuMemMap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        unmap = link("cuMemUnmap", JAVA_LONG, JAVA_LONG);
        setAccess = link("cuMemSetAccess", JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
        retain = link("cuMemRetainAllocationHandle", ADDRESS, JAVA_LONG);
        properties = link("cuMemGetAllocationPropertiesFromHandle", ADDRESS, JAVA_LONG);
        export = link("cuMemExportToShareableHandle", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_LONG);
    }

    private MethodHandle link(String name, ValueLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    /** Describes pinned memory of a device, for {@link #create}. Kept as long as it is used. */
    static MemorySegment properties(int ordinal, int exportType) {
        var description = Arena.ofAuto().allocate(PROPERTIES_BYTES, Long.BYTES);
        description.set(JAVA_INT, TYPE_AT, PINNED);
        description.set(JAVA_INT, EXPORT_AT, exportType);
        description.set(JAVA_INT, LOCATION_AT, ON_DEVICE);
        description.set(JAVA_INT, ORDINAL_AT, ordinal);
        return description;
    }

    /** Describes what a device may do, for {@link #setAccess}. */
    static MemorySegment access(int ordinal, int rights) {
        var description = Arena.ofAuto().allocate(ACCESS_BYTES, Integer.BYTES);
        description.set(JAVA_INT, 0, ON_DEVICE);
        description.set(JAVA_INT, 4, ordinal);
        description.set(JAVA_INT, 8, rights);
        return description;
    }

    /** What this thread's last successful call answered: an address, a handle, a size. */
    long answer() {
        return answers.get().get(JAVA_LONG, 0);
    }

    /** The same for calls that answer with an {@code int}. */
    int intAnswer() {
        return answers.get().get(JAVA_INT, 0);
    }

    /** Answers with the version as 1000 × major + 10 × minor. */
    int version() {
        try {
            return (int) version.invokeExact(answers.get());
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Answers with the smallest piece that can be created. */
    int granularity(MemorySegment properties) {
        try {
            return (int) granularity.invokeExact(answers.get(), properties, 0);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Answers with a handle. */
    int create(long bytes, MemorySegment properties) {
        try {
            return (int) create.invokeExact(answers.get(), bytes, properties, 0L);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    int release(long handle) {
        try {
            return (int) release.invokeExact(handle);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Answers with an address. */
    int reserve(long bytes, long alignment) {
        try {
            return (int) reserve.invokeExact(answers.get(), bytes, alignment, 0L, 0L);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    int free(long address, long bytes) {
        try {
            return (int) free.invokeExact(address, bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    int map(long address, long bytes, long handle) {
        try {
            return (int) map.invokeExact(address, bytes, 0L, handle, 0L);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    int unmap(long address, long bytes) {
        try {
            return (int) unmap.invokeExact(address, bytes);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    int setAccess(long address, long bytes, MemorySegment access) {
        try {
            return (int) setAccess.invokeExact(address, bytes, access, 1L);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Answers with the handle that is mapped at an address; it must be released once more. */
    int retain(long address) {
        try {
            return (int) retain.invokeExact(answers.get(), address);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Succeeds for a handle that exists. */
    int properties(long handle) {
        try {
            return (int) properties.invokeExact(answers.get(), handle);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** Answers with a new file descriptor, an {@code int}. */
    int export(long handle) {
        try {
            return (int) export.invokeExact(answers.get(), handle, FILE_DESCRIPTOR, 0L);
        } catch (Throwable e) {
            throw rethrow(e);
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
