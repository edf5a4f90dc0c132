package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.UnaryOperator;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.SharedMapping;
import org.granule.memory.VirtualBacking;
import org.granule.vmm.TestLedger.TestAccount;
import org.granule.vmm.strict.StrictDriver;
import org.granule.vmm.strict.StrictTransfer;

/** An engine over a strict device, with an exact ledger beside it, and the check that both agree. */
final class Rig {

    /** The granule. */
    static final long G = 4096;

    private static final long MARK = 1365;

    final StrictDriver driver;
    final TestLedger ledger = new TestLedger();
    final TestAccount anna = ledger.account("anna", Long.MAX_VALUE);
    final TestAccount bert = ledger.account("bert", Long.MAX_VALUE);
    final VmmAllocator allocator;
    final VirtualBacking backing;
    final SharedMapping sharing;
    final StrictTransfer transfer;

    Rig(Sizes sizes) {
        this(sizes, driver -> driver);
    }

    /** Puts something between the engine and its driver. */
    Rig(Sizes sizes, UnaryOperator<VmmDriver> between) {
        driver = new StrictDriver(sizes.granule, sizes.capacity);
        transfer = new StrictTransfer(driver);
        var settings = new VmmSettings(ledger.device, sizes.arena, sizes.kept, sizes.idle, sizes.extent);
        allocator = new VmmAllocator(between.apply(driver), settings, transfer);
        driver.refuseWhile(allocator::isLockedByCurrentThread);
        backing = allocator.virtualBacking().orElseThrow();
        sharing = allocator.sharedMapping().orElseThrow();
    }

    /**
     * How a rig is set up.
     *
     * @param granule of the device
     * @param capacity of the device
     * @param arena addresses at a time
     * @param kept bound of what stays mapped
     * @param idle bound of idle handles
     * @param extent the largest handle
     */
    record Sizes(long granule, long capacity, long arena, long kept, long idle, long extent) {

        /** Nothing is kept: everything that is given back goes to the driver. */
        static final Sizes BARE = new Sizes(G, 1024 * G, 4096 * G, 0, 0, 4 * G);

        /** Handles wait for the next commit. */
        static final Sizes POOLING = BARE.withIdle(256 * G);

        /** Released blocks stay mapped, and handles wait. */
        static final Sizes KEEPING = POOLING.withKept(4096 * G);

        Sizes withKept(long bytes) {
            return new Sizes(granule, capacity, arena, bytes, idle, extent);
        }

        Sizes withIdle(long bytes) {
            return new Sizes(granule, capacity, arena, kept, bytes, extent);
        }

        Sizes withCapacity(long bytes) {
            return new Sizes(granule, bytes, arena, kept, idle, extent);
        }

        Sizes withExtent(long bytes) {
            return new Sizes(granule, capacity, arena, kept, idle, bytes);
        }
    }

    /** The ledger is the driver: what must hold after every step. */
    void check() {
        assertThat(driver.violations())
                .as("what the driver would not have reported")
                .isEmpty();
        assertThat(ledger.violations())
                .as("what the ledger would have raised an alarm for")
                .isEmpty();
        assertThat(ledger.owned()).as("owned bytes").isEqualTo(driver.liveBytes());
        assertThat(ledger.mapped()).as("mapped bytes").isEqualTo(driver.mappedBytes());
    }

    /** Gives idle memory back and checks that nothing is left of anything. */
    void checkEmpty() {
        allocator.settle();
        allocator.trim(Long.MAX_VALUE);
        check();
        assertThat(ledger.owned()).as("owned bytes at the end").isZero();
        assertThat(ledger.mapped()).as("mapped bytes at the end").isZero();
        assertThat(ledger.quarantined()).as("quarantined bytes at the end").isZero();
        assertThat(allocator.quarantined())
                .as("entries in quarantine at the end")
                .isZero();
        assertThat(driver.liveHandles()).as("handles at the end").isZero();
        allocator.close();
        assertThat(driver.violations()).isEmpty();
    }

    /** Like {@link #checkEmpty}, where no address was lost to a failed unmap. */
    void checkSpotless() {
        checkEmpty();
        assertThat(driver.liveReservations()).as("reservations at the end").isZero();
    }

    long allocate(long bytes, TestAccount account) {
        return allocator.allocate(bytes, 1, account);
    }

    ReleaseOutcome release(long address, long bytes, TestAccount account) {
        return allocator.release(address, bytes, 1, account);
    }

    void releaseCompletely(long address, long bytes, TestAccount account) {
        assertThat(release(address, bytes, account)).isInstanceOf(Complete.class);
    }

    void fill(long address, long bytes, int value) {
        transfer.fill(address, bytes, (byte) value);
    }

    /** Writes a few bytes of each granule, where writing all would take long. */
    void mark(long address, long bytes, int value) {
        for (long at = address; at < address + bytes; at += MARK) {
            driver.write(at, (byte) value);
        }
    }

    /** Checks what {@link #mark} wrote. */
    void checkMarked(long address, long bytes, int value) {
        for (long at = address; at < address + bytes; at += MARK) {
            assertThat(driver.read(at)).as("byte %d of %d", at - address, bytes).isEqualTo((byte) value);
        }
    }

    /** Checks that a range holds one value. */
    void checkHolds(long address, long bytes, int value) {
        for (long at = address; at < address + bytes; at++) {
            if (driver.read(at) != (byte) value) {
                assertThat(driver.read(at))
                        .as("byte %d of %d", at - address, bytes)
                        .isEqualTo((byte) value);
            }
        }
    }
}
