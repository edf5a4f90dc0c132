package org.granule.host;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import org.granule.memory.Account;
import org.granule.memory.ByteSize;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.memory.ReleaseOutcome;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.Designate;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/**
 * Eager memory of the host, from the C library, kept by size class after its release.
 *
 * <p><b>Zeroing.</b> Memory reads as zeroes, unless the same account had it before: then it holds what was left
 * there. The caller charges the length that was asked for; what is kept is charged to the idle account.
 */
@Component(
        name = HostAllocator.NAME,
        service = DeviceAllocator.class,
        property = {
            "granule.device=host:0",
            "granule.device.name=host memory",
            "granule.mechanism=host-eager",
            "granule.facets="
        })
@Designate(ocd = HostAllocator.Settings.class)
@SuppressWarnings("restricted")
public final class HostAllocator implements DeviceAllocator {

    static final String NAME = "org.granule.host.eager";

    private static final DeviceKey DEVICE = new DeviceKey(DeviceKey.HOST, 0);
    private static final long CACHE_LINE = 64;
    private static final long PAGE = 4096;

    /** Settings of the eager host allocator. */
    @ObjectClassDefinition(id = NAME, name = "Granule eager host allocator")
    @interface Settings {
        /**
         * The bound of the pool.
         *
         * @return a size
         */
        @AttributeDefinition(name = "Kept", description = "The most released memory that is kept for reuse")
        String kept() default "256MiB";
    }

    /** The C library's functions; linked when the first allocator is made, and constant for the compiler. */
    private static final class Library {
        static final MethodHandle ALIGNED_ALLOC = NativeCalls.link(
                "aligned_alloc", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
        static final MethodHandle FREE =
                NativeCalls.link("free", FunctionDescriptor.ofVoid(JAVA_LONG), Linker.Option.critical(false));

        /** Links both, or says what is missing. */
        static void require() {
            try {
                MethodHandles.lookup().ensureInitialized(Library.class);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            } catch (ExceptionInInitializerError e) {
                throw new UnsupportedOperationException(e.getCause().getMessage(), e);
            }
        }
    }

    private final BlockPool pool;

    /**
     * Starts with an empty pool.
     *
     * @param settings from Configuration Admin
     * @throws UnsupportedOperationException when this system's C library lacks {@code aligned_alloc}
     */
    @Activate
    public HostAllocator(Settings settings) {
        this(ByteSize.parse(settings.kept()));
    }

    /**
     * Starts with an empty pool.
     *
     * @param keptBytes the most that is kept, at least 0
     * @throws UnsupportedOperationException when this system's C library lacks {@code aligned_alloc}
     */
    public HostAllocator(long keptBytes) {
        Library.require();
        pool = new BlockPool(keptBytes, 2 * Runtime.getRuntime().availableProcessors(), this::free);
    }

    @Override
    public DeviceKey device() {
        return DEVICE;
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        if (!isPooled(bytes, alignment)) {
            return fresh(roundUp(bytes, alignment), alignment);
        }
        int sizeClass = SizeClasses.of(bytes);
        long block = pool.take(sizeClass, account);
        if (block > 0) {
            return block;
        }
        if (block == 0) {
            long size = SizeClasses.bytes(sizeClass);
            return fresh(size, naturalAlignment(size));
        }
        zero(-block, SizeClasses.bytes(sizeClass));
        return -block;
    }

    @Override
    public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        if (!isPooled(bytes, alignment) || !pool.offer(address, SizeClasses.of(bytes), account)) {
            free(address);
        }
        return ReleaseOutcome.Complete.NOTHING_UNMAPPED;
    }

    @Override
    public long trim(long bytes) {
        return pool.trim(bytes);
    }

    /** Gives the kept memory back. */
    @Deactivate
    void deactivate() {
        pool.trim(Long.MAX_VALUE);
    }

    private static boolean isPooled(long bytes, long alignment) {
        return bytes <= SizeClasses.LARGEST && alignment <= naturalAlignment(bytes);
    }

    /** The alignment that every block of a size has. */
    private static long naturalAlignment(long bytes) {
        return bytes >= PAGE ? PAGE : CACHE_LINE;
    }

    /** Memory from the C library may show what another account gave back to it, so it is zeroed. */
    private long fresh(long bytes, long alignment) {
        long address;
        try {
            address = (long)
                    Library.ALIGNED_ALLOC.invokeExact(Math.max(alignment, CACHE_LINE), roundUp(bytes, CACHE_LINE));
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        if (address == 0) {
            throw new DriverFaultException(
                    Kind.OUT_OF_MEMORY,
                    "aligned_alloc of " + bytes + " bytes aligned to " + alignment + " answered null");
        }
        zero(address, bytes);
        return address;
    }

    private void free(long address) {
        try {
            Library.FREE.invokeExact(address);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static void zero(long address, long bytes) {
        MemorySegment.ofAddress(address).reinterpret(bytes).fill((byte) 0);
    }

    private static long roundUp(long bytes, long alignment) {
        return (bytes + alignment - 1) & -alignment;
    }
}
