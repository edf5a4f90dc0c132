package org.granule.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.granule.memory.DriverFaultException;
import org.granule.memory.ReleaseOutcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Alignment, reuse and zeroing of the eager allocator. */
@SuppressWarnings("restricted")
class HostAllocatorTest {

    private final HostAllocator allocator = new HostAllocator(64 << 20);
    private final FreeAccount account = new FreeAccount();

    @AfterEach
    void nothingIsLeftOnTheIdleAccount() {
        allocator.deactivate();
        assertThat(account.idle().owned).isZero();
        assertThat(account.owned).as("the caller charges").isZero();
    }

    @Test
    void anyAlignment() {
        for (long alignment = 1; alignment <= 1 << 21; alignment <<= 1) {
            for (long bytes : new long[] {1, alignment - 1, alignment, alignment + 1, 3 * alignment}) {
                if (bytes > 0) {
                    long address = allocator.allocate(bytes, alignment, account);
                    assertThat(address % alignment).isZero();
                    at(address, bytes).fill((byte) 1);
                    assertThat(allocator.release(address, bytes, alignment, account))
                            .isEqualTo(ReleaseOutcome.Complete.NOTHING_UNMAPPED);
                }
            }
        }
    }

    @Test
    void theSameAccountGetsItsBlockBack() {
        long first = allocator.allocate(1000, 8, account);
        at(first, 1000).fill((byte) 7);
        allocator.release(first, 1000, 8, account);

        assertThat(allocator.allocate(1000, 8, account)).isEqualTo(first);
        allocator.release(first, 1000, 8, account);
    }

    @Test
    void anotherAccountNeverSeesTheBytes() {
        var other = new FreeAccount(account.idle());
        for (long bytes : new long[] {64, 4096, 1 << 20, 100 << 20}) {
            long first = allocator.allocate(bytes, 8, account);
            at(first, bytes).fill((byte) 7);
            allocator.release(first, bytes, 8, account);

            long second = allocator.allocate(bytes, 8, other);
            assertThat(at(second, bytes).mismatch(MemorySegment.ofArray(new byte[(int) bytes])))
                    .isEqualTo(-1);
            allocator.release(second, bytes, 8, other);
        }
    }

    @Test
    void moreThanThereIsIsRefusedWithTheFigures() {
        assertThatThrownBy(() -> allocator.allocate(1L << 60, 8, account))
                .isInstanceOf(DriverFaultException.class)
                .hasMessageContaining(String.valueOf(1L << 60));
    }

    private static MemorySegment at(long address, long bytes) {
        var segment = MemorySegment.ofAddress(address).reinterpret(bytes);
        assertThat(segment.get(ValueLayout.JAVA_BYTE, 0)).isNotNull();
        return segment;
    }
}
