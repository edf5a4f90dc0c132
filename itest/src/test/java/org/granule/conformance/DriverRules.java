package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.vmm.VmmDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * What a device for virtual memory was measured to accept and to refuse, one rule a test. The strict driver and a real
 * card run the same ones, so that what is tested over the strict driver means something on the card.
 *
 * <p>Nothing here reads or writes memory while work runs that was started and not finished: on a card that may wait for
 * the work.
 */
@TestMethodOrder(OrderAnnotation.class)
@Timeout(value = 2, unit = TimeUnit.MINUTES)
abstract class DriverRules {

    private static final long MUCH = 64L << 40;
    private static final byte ONE = 0x41;
    private static final byte OTHER = 0x42;

    /** Work that was started on the device and is held back. */
    interface Work {
        /** Lets it write, and waits until it has ended, well or not. How it ended shows in later calls only. */
        void finish();
    }

    private final Map<Long, Long> reservations = new HashMap<>();
    private final List<String> expected = new ArrayList<>();
    private GateDriver driver;
    private long granule;
    private boolean lost;

    /** Returns the driver under test, of a device that works; the same throughout a test. */
    abstract VmmDriver driver();

    /** Returns the granule that the device is known to have. */
    abstract long knownGranuleBytes();

    /** Returns how much memory the device has in all, rounded up to granules. */
    abstract long physicalBytes();

    /** Reads a byte of the device. */
    abstract byte read(long address);

    /** Writes a byte of the device and waits; any unchecked exception when the device refuses. */
    abstract void write(long address, byte value);

    /** Writes a range of the device and waits. */
    abstract void fill(long address, long bytes, byte value);

    /** Starts work that writes a range once it is let go; empty when work cannot be held back here. */
    abstract Optional<Work> startWork(long address, long bytes, byte value);

    /** Returns what the driver noted that the device does not report; empty for one that keeps no such notes. */
    abstract Optional<List<String>> violations();

    /** Returns whether new memory is known to read as zeroes. */
    abstract boolean zeroesNewMemory();

    /** Returns whether the device may be lost for good here; the test that does it comes last. */
    abstract boolean mayLoseDevice();

    @BeforeEach
    final void prepare() {
        driver = new GateDriver(driver());
        granule = driver.granuleBytes();
    }

    @AfterEach
    final void nothingIsLeft() {
        if (!lost) {
            driver.destroyContext();
            reservations.forEach(driver::free);
        }
        violations().ifPresent(noted -> {
            assertThat(noted).as("violations that were noted").hasSameSizeAs(expected);
            for (int i = 0; i < noted.size(); i++) {
                assertThat(noted.get(i)).contains(expected.get(i));
            }
        });
    }

    /** The device accepts it silently; a driver that keeps notes has noted it. */
    private void expectNoted(String part) {
        expected.add(part);
    }

    private long reserve(long granules) {
        long address = driver.reserve(granules * granule);
        reservations.put(address, granules * granule);
        return address;
    }

    private long create(long granules) {
        return driver.create(granules * granule);
    }

    private void map(long address, long handle, long granules) {
        map(address, handle, granules, Access.READ_WRITE);
    }

    private void map(long address, long handle, long granules, Access access) {
        driver.map(address, granules * granule, handle);
        driver.protect(address, granules * granule, access);
    }

    private Work start(long address, long bytes, byte value) {
        var work = startWork(address, bytes, value);
        assumeTrue(work.isPresent(), "work cannot be held back here");
        return work.orElseThrow();
    }

    private static void checkRefused(ThrowingCallable call, int code) {
        checkRefused(call, Kind.INVALID, code);
    }

    private static void checkRefused(ThrowingCallable call, Kind kind, int code) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DriverFaultException.class,
                        e -> assertThat(e.kind()).as("kind of %s", e).isEqualTo(kind))
                .hasMessageContaining("(" + code + ")");
    }

    private void checkUnmapped(long address) {
        checkRefused(() -> driver.protect(address, granule, Access.READ_WRITE), 1);
    }

    @Test
    @DisplayName("the granule is what the device is known to have, a power of two")
    void granularity() {
        assertThat(granule).isEqualTo(knownGranuleBytes());
        assertThat(Long.bitCount(granule)).isEqualTo(1);
    }

    @Test
    @DisplayName("64 TiB of addresses can be reserved")
    void reserveMuch() {
        long address = driver.reserve(MUCH);
        assertThat(address).isNotZero();
        driver.free(address, MUCH);
    }

    @Test
    @DisplayName("map over a mapped granule is refused (1)")
    void mapOverMapped() {
        long address = reserve(4);
        long first = create(2);
        map(address + granule, first, 2);
        long second = create(1);
        long large = create(2);
        checkRefused(() -> driver.map(address + granule, granule, second), 1);
        checkRefused(() -> driver.map(address + 2 * granule, granule, second), 1);
        checkRefused(() -> driver.map(address, 2 * granule, large), 1);
        write(address + granule, ONE);
        assertThat(read(address + granule)).isEqualTo(ONE);
    }

    @Test
    @DisplayName("map of half a handle is not supported (801)")
    void mapHalf() {
        long address = reserve(2);
        long handle = create(2);
        checkRefused(() -> driver.map(address, granule, handle), 801);
        map(address, handle, 2);
    }

    @Test
    @DisplayName("set access on a range that is not mapped is refused (1)")
    void protectUnmapped() {
        long address = reserve(1);
        checkRefused(() -> driver.protect(address, granule, Access.READ_WRITE), 1);
        checkRefused(() -> driver.protect(address, granule, Access.READ), 1);
    }

    @Test
    @DisplayName("unmap of half a mapped handle is refused (1)")
    void unmapHalf() {
        long address = reserve(2);
        long handle = create(2);
        map(address, handle, 2);
        fill(address, 2 * granule, ONE);
        checkRefused(() -> driver.unmap(address, granule), 1);
        checkRefused(() -> driver.unmap(address + granule, granule), 1);
        assertThat(read(address)).isEqualTo(ONE);
        assertThat(read(address + 2 * granule - 1)).isEqualTo(ONE);
    }

    @Test
    @DisplayName("unmap of a range that is not mapped succeeds: nothing tells of a double unmap")
    void unmapUnmapped() {
        long address = reserve(2);
        long handle = create(1);
        driver.unmap(address + granule, granule);
        expectNoted("found 0 mapped");
        map(address, handle, 1);
        driver.unmap(address, granule);
        driver.unmap(address, granule);
        expectNoted("found 0 mapped");
        checkUnmapped(address);
    }

    @Test
    @DisplayName("one unmap over a range with several handles and holes unmaps them all")
    void unmapWithHoles() {
        long address = reserve(6);
        map(address, create(1), 1);
        map(address + 2 * granule, create(2), 2);
        map(address + 5 * granule, create(1), 1);
        driver.unmap(address, 6 * granule);
        expectNoted("found " + 4 * granule + " mapped");
        for (int i = 0; i < 6; i++) {
            checkUnmapped(address + i * granule);
        }
    }

    @Test
    @DisplayName("one unmap over two aliases of one handle unmaps both")
    void unmapAliases() {
        long address = reserve(2);
        long handle = create(1);
        map(address, handle, 1);
        map(address + granule, handle, 1);
        driver.unmap(address, 2 * granule);
        checkUnmapped(address);
        checkUnmapped(address + granule);
        map(address, handle, 1);
    }

    @Test
    @DisplayName("release of a mapped handle succeeds; its memory stays until it is unmapped")
    void releaseMapped() {
        long address = reserve(1);
        long handle = create(1);
        map(address, handle, 1);
        write(address, ONE);
        driver.release(handle, granule);
        expectNoted("with 1 mappings");
        assertThat(read(address)).isEqualTo(ONE);
        write(address, OTHER);
        assertThat(read(address)).isEqualTo(OTHER);
        driver.unmap(address, granule);
        checkUnmapped(address);
    }

    @Test
    @DisplayName("a second release of a handle is refused (1)")
    void releaseTwice() {
        long handle = create(1);
        driver.release(handle, granule);
        checkRefused(() -> driver.release(handle, granule), 1);
    }

    @Test
    @DisplayName("free of a part of a reservation, or of more than it, is refused (1)")
    void freePart() {
        long address = reserve(4);
        checkRefused(() -> driver.free(address, 2 * granule), 1);
        checkRefused(() -> driver.free(address + 2 * granule, 2 * granule), 1);
        checkRefused(() -> driver.free(address, 5 * granule), 1);
        map(address + 3 * granule, create(1), 1);
    }

    @Test
    @DisplayName("create of more than the device has is out of memory (2)")
    void createTooMuch() {
        checkRefused(() -> driver.create(physicalBytes() + granule), Kind.OUT_OF_MEMORY, 2);
        create(1);
    }

    @Test
    @DisplayName("create of a size that is not a multiple of the granule is refused (1)")
    void createUneven() {
        checkRefused(() -> driver.create(granule / 2), 1);
        checkRefused(() -> driver.create(granule + granule / 2), 1);
        checkRefused(() -> driver.create(granule + 1), 1);
    }

    @Test
    @DisplayName("new memory reads as zeroes, also where memory with contents was released before")
    void newMemory() {
        assumeTrue(zeroesNewMemory(), "what new memory holds is not known of this device");
        long address = reserve(2);
        for (int round = 0; round < 3; round++) {
            long handle = create(2);
            map(address, handle, 2);
            for (long offset : new long[] {0, granule - 1, granule, 2 * granule - 1}) {
                assertThat(read(address + offset)).as("byte %d", offset).isZero();
            }
            fill(address, 2 * granule, ONE);
            driver.unmap(address, 2 * granule);
            driver.release(handle, 2 * granule);
        }
    }

    @Test
    @DisplayName("two mappings of one handle show the same bytes")
    void aliases() {
        long address = reserve(4);
        long handle = create(2);
        map(address, handle, 2);
        map(address + 2 * granule, handle, 2);
        fill(address, 2 * granule, ONE);
        assertThat(read(address + 2 * granule)).isEqualTo(ONE);
        assertThat(read(address + 4 * granule - 1)).isEqualTo(ONE);
        write(address + 3 * granule, OTHER);
        assertThat(read(address + granule)).isEqualTo(OTHER);
        driver.unmap(address, 2 * granule);
        assertThat(read(address + 3 * granule)).isEqualTo(OTHER);
    }

    @Test
    @DisplayName("a write through a read-only mapping is refused at once (1), and the device stays usable")
    void writeToReadOnly() {
        long address = reserve(2);
        long handle = create(1);
        map(address, handle, 1);
        map(address + granule, handle, 1, Access.READ);
        write(address, ONE);
        checkRefused(() -> driver.scrub(address + granule, granule), 1);
        assertThatThrownBy(() -> write(address + granule, OTHER)).isInstanceOf(RuntimeException.class);
        assertThat(read(address + granule)).isEqualTo(ONE);
        driver.scrub(address, granule);
        assertThat(read(address + granule)).isZero();
    }

    @Test
    @DisplayName("an address that gets another handle: work before and after sees the memory of its time")
    void remap() {
        long address = reserve(2);
        long first = create(1);
        long second = create(1);
        map(address, first, 1);
        start(address, granule, ONE).finish();
        driver.unmap(address, granule);
        map(address, second, 1);
        start(address, granule, OTHER).finish();
        map(address + granule, first, 1);
        for (long offset : new long[] {0, granule - 1}) {
            assertThat(read(address + offset)).isEqualTo(OTHER);
            assertThat(read(address + granule + offset)).isEqualTo(ONE);
        }
    }

    @Test
    @DisplayName("mapping, protecting, unmapping, creating and releasing elsewhere succeed while work runs")
    void changesBesideRunningWork() {
        long address = reserve(4);
        long beside = reserve(2);
        map(address + granule, create(2), 2);
        long leaving = create(1);
        map(address, leaving, 1);
        var work = start(address + granule, 2 * granule, ONE);
        try {
            long handle = create(1);
            map(address + 3 * granule, handle, 1);
            map(beside, handle, 1, Access.READ);
            driver.protect(beside, granule, Access.READ_WRITE);
            driver.unmap(beside, granule);
            driver.unmap(address + 3 * granule, granule);
            driver.release(handle, granule);
            driver.unmap(address, granule);
            driver.release(leaving, granule);
            driver.free(driver.reserve(granule), granule);
        } finally {
            work.finish();
        }
        assertThat(read(address + granule)).isEqualTo(ONE);
        assertThat(read(address + 3 * granule - 1)).isEqualTo(ONE);
    }

    @Test
    @Order(Integer.MAX_VALUE)
    @DisplayName("a range is unmapped before the work queued on it runs: accepted, and the device is lost for good")
    void unmapUnderQueuedWork() {
        assumeTrue(mayLoseDevice(), "the device would be lost for whatever runs after this");
        long address = reserve(2);
        map(address, create(1), 1);
        map(address + granule, create(1), 1);
        var work = start(address, granule, ONE);
        assertThatCode(() -> driver.unmap(address, granule)).doesNotThrowAnyException();
        expectNoted("that queued work will write");
        lost = true;
        work.finish();
        // Two of the calls that must go through the context; others may only be refused by the driver's own books.
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> driver.scrub(address + granule, granule))
                    .isInstanceOfSatisfying(DriverFaultException.class, e -> assertThat(e.kind())
                            .isEqualTo(Kind.DEVICE_LOST));
        }
        expectNoted("SCRUB was called after the device was lost");
    }
}
