package org.granule.conformance;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.granule.host.LinuxVmm;
import org.granule.memory.DeviceKey;
import org.granule.vmm.VmmAllocator;

/** The engine over Linux memory; the kernel says what exists and what is mapped. */
@SuppressWarnings("restricted")
final class LinuxSubject extends VmmSubject {

    private static final long GRANULE = 64 << 10;
    private static final long BLOCK = 512;
    private static final DeviceKey DEVICE = new DeviceKey(DeviceKey.HOST, 0);
    private static final Path HUGE_PAGES = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    private static final Pattern WHOLE_PAGES = Pattern.compile("\\[(never|advise|deny)]");
    private static final Pattern MAPPING =
            Pattern.compile("([0-9a-f]+)-([0-9a-f]+) (\\S{4}) \\S+ \\S+ ([0-9]+) +/memfd:.*");

    /** The kernel's structure has the inode number and the count of blocks there on every 64-bit architecture. */
    private static final long STAT_BYTES = 256;

    private static final long INODE_AT = 8;
    private static final long BLOCKS_AT = 64;

    private static final MethodHandle FSTAT = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("fstat"),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    private static final String NAME = "/memfd:";

    private record Mapping(long start, long end, String rights, long inode) {}

    private GateDriver gate;
    private final LinuxVmm vmm;
    private final long inode;

    LinuxSubject(Keeping keeping) {
        vmm = new LinuxVmm(GRANULE, settings(DEVICE, keeping), driver -> gate = new GateDriver(driver));
        inode = stat(INODE_AT);
    }

    @Override
    VmmAllocator engine() {
        return vmm.allocator();
    }

    @Override
    public GateDriver gate() {
        return gate;
    }

    @Override
    public long physicalBytes() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }

    @Override
    void checkKernel(long owned, long mapped) {
        long exists = stat(BLOCKS_AT) * BLOCK;
        if (hasWholePagesOnly()) {
            assertThat(owned)
                    .as("owned bytes of the ledger, blocks of the file")
                    .isEqualTo(exists);
        } else {
            // A huge page may stand for a part of itself.
            assertThat(owned)
                    .as("owned bytes of the ledger, blocks of the file")
                    .isLessThanOrEqualTo(exists);
        }
        long reachable = mappings().stream()
                .mapToLong(mapping -> mapping.end - mapping.start)
                .sum();
        assertThat(mapped)
                .as("mapped bytes of the ledger, mappings of the process")
                .isEqualTo(reachable);
    }

    @Override
    public boolean isWritable(long address) {
        return mappings().stream()
                .anyMatch(mapping ->
                        mapping.start <= address && address < mapping.end && mapping.rights.startsWith("rw"));
    }

    @Override
    public void touch(long address, byte value) {
        // A fault would end the process and with it the report of what went wrong.
        assertThat(isWritable(address))
                .as("0x%x can be written by work that is queued", address)
                .isTrue();
        MemorySegment.ofAddress(address).reinterpret(1).set(JAVA_BYTE, 0, value);
    }

    @Override
    public void close() {
        super.close();
        vmm.close();
    }

    private List<Mapping> mappings() {
        try {
            return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(NAME))
                    .map(MAPPING::matcher)
                    .filter(Matcher::matches)
                    .map(line -> new Mapping(
                            Long.parseUnsignedLong(line.group(1), 16),
                            Long.parseUnsignedLong(line.group(2), 16),
                            line.group(3),
                            Long.parseLong(line.group(4))))
                    .filter(mapping -> mapping.inode == inode)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long stat(long at) {
        try (var arena = Arena.ofConfined()) {
            var result = arena.allocate(STAT_BYTES, Long.BYTES);
            int error = (int) FSTAT.invokeExact(vmm.file(), result);
            assertThat(error).as("fstat").isZero();
            return result.get(JAVA_LONG, at);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean hasWholePagesOnly() {
        try {
            return !Files.exists(HUGE_PAGES)
                    || WHOLE_PAGES.matcher(Files.readString(HUGE_PAGES)).find();
        } catch (IOException e) {
            return false;
        }
    }
}
