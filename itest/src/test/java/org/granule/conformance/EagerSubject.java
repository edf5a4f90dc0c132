package org.granule.conformance;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentSkipListMap;
import org.granule.host.HostAllocator;
import org.granule.memory.Account;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.ReleaseOutcome;

/**
 * The eager host allocator. The C library does not tell what it has handed out, so what stands between the platform
 * and the allocator notes it; there is no driver that could be made to fail.
 */
@SuppressWarnings("restricted")
final class EagerSubject implements Subject {

    private static final long PAGE = 4096;
    private static final long MOST_KEPT = 64 << 20;

    /** Notes what is outstanding, and that it is given back with the figures it was taken with. */
    private static final class Noting implements DeviceAllocator {

        private final DeviceAllocator allocator;
        private final ConcurrentSkipListMap<Long, Long> outstanding = new ConcurrentSkipListMap<>();

        Noting(DeviceAllocator allocator) {
            this.allocator = allocator;
        }

        @Override
        public DeviceKey device() {
            return allocator.device();
        }

        @Override
        public long allocate(long bytes, long alignment, Account account) {
            long address = allocator.allocate(bytes, alignment, account);
            var before = outstanding.putIfAbsent(address, bytes);
            assertThat(before).as("who had 0x%x already", address).isNull();
            return address;
        }

        @Override
        public ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
            assertThat(outstanding.remove(address, bytes))
                    .as("0x%x with %d bytes was handed out", address, bytes)
                    .isTrue();
            return allocator.release(address, bytes, alignment, account);
        }

        @Override
        public long trim(long bytes) {
            return allocator.trim(bytes);
        }
    }

    private final Noting allocator;

    EagerSubject(Keeping keeping) {
        allocator = new Noting(new HostAllocator(keeping == Keeping.NOTHING ? 0 : MOST_KEPT));
    }

    @Override
    public DeviceAllocator allocator() {
        return allocator;
    }

    @Override
    public boolean isLazy() {
        return false;
    }

    @Override
    public long unit() {
        return PAGE;
    }

    @Override
    public long physicalBytes() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }

    @Override
    public void checkDevice(long owned, long mapped, long idle) {
        long exists = allocator.outstanding.values().stream()
                .mapToLong(Long::longValue)
                .sum();
        assertThat(owned - idle)
                .as("owned bytes of the ledger, what is outstanding")
                .isEqualTo(exists);
        assertThat(mapped).as("mapped bytes of the ledger, what is outstanding").isEqualTo(exists);
        assertThat(idle).as("what is kept, charged in steps").isBetween(0L, 2 * MOST_KEPT);
    }

    @Override
    public GateDriver gate() {
        return null;
    }

    @Override
    public OptionalInt freeSpans() {
        return OptionalInt.empty();
    }

    @Override
    public boolean isWritable(long address) {
        var block = allocator.outstanding.floorEntry(address);
        return block != null && address < block.getKey() + block.getValue();
    }

    @Override
    public void touch(long address, byte value) {
        assertThat(isWritable(address))
                .as("0x%x can be written by work that is queued", address)
                .isTrue();
        MemorySegment.ofAddress(address).reinterpret(1).set(JAVA_BYTE, 0, value);
    }

    @Override
    public void settle() {
        // A C library takes everything back.
    }

    @Override
    public long endContext() {
        return 0;
    }

    @Override
    public void close() {
        allocator.trim(Long.MAX_VALUE);
    }
}
