package org.granule.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.InvalidRequestException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The driver against the kernel: what is mapped really is, and what is gone is gone. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the driver needs the system calls of Linux")
@SuppressWarnings("restricted")
class LinuxDriverTest {

    private static final long GRANULE = 64 << 10;

    private final LinuxDriver driver = new LinuxDriver(GRANULE, false);

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    void oneHandleAtTwoAddressesShowsTheSameBytes() {
        long range = driver.reserve(2 * GRANULE);
        long handle = driver.create(GRANULE);
        driver.map(range, GRANULE, handle);
        driver.map(range + GRANULE, GRANULE, handle);

        write(range + 5, (byte) 42);

        assertThat(read(range + GRANULE + 5)).isEqualTo((byte) 42);
        driver.unmap(range, 2 * GRANULE);
        driver.free(range, 2 * GRANULE);
    }

    @Test
    void theTruthIsTheKernels() {
        long range = driver.reserve(4 * GRANULE);
        long handle = driver.create(2 * GRANULE);
        long other = driver.create(GRANULE);
        assertThat(driver.truth().isMapped(range)).isFalse();
        driver.map(range, 2 * GRANULE, handle);
        driver.map(range + 2 * GRANULE, GRANULE, other);
        driver.protect(range + 2 * GRANULE, GRANULE, Access.READ);

        var truth = driver.truth();
        assertThat(truth.maps(range, 2 * GRANULE, handle)).isTrue();
        assertThat(truth.maps(range, 2 * GRANULE, other)).isFalse();
        assertThat(truth.maps(range + 2 * GRANULE, GRANULE, other)).isTrue();
        assertThat(truth.maps(range + GRANULE, 2 * GRANULE, handle)).isFalse();
        assertThat(truth.isMapped(range + GRANULE)).isTrue();
        assertThat(truth.isMapped(range + 3 * GRANULE)).isFalse();
        assertThat(truth.exists(handle, 2 * GRANULE)).isTrue();
        assertThat(truth.exists(handle, GRANULE)).isFalse();

        driver.unmap(range + GRANULE, 2 * GRANULE);
        driver.release(other, GRANULE);
        truth = driver.truth();
        assertThat(truth.maps(range, 2 * GRANULE, handle)).isFalse();
        assertThat(truth.isMapped(range)).isTrue();
        assertThat(truth.isMapped(range + GRANULE)).isFalse();
        assertThat(truth.exists(other, GRANULE)).isFalse();
        driver.unmap(range, GRANULE);
        driver.free(range, 4 * GRANULE);
    }

    @Test
    void theMappingsOfAnotherFileAreNotItsOwn() {
        try (var another = new LinuxDriver(GRANULE, false)) {
            long range = another.reserve(GRANULE);
            another.map(range, GRANULE, another.create(GRANULE));
            assertThat(another.truth().isMapped(range)).isTrue();
            assertThat(driver.truth().isMapped(range)).isFalse();
            another.free(range, GRANULE);
        }
    }

    @Test
    void theSystemHasMemory() {
        assertThat(driver.totalBytes()).isPositive();
        assertThat(driver.freeBytes()).isBetween(1L, driver.totalBytes());
    }

    @Test
    void reservationsAreAlignedToTheGranule() {
        for (int i = 0; i < 10; i++) {
            assertThat(driver.reserve(3 * GRANULE) % GRANULE).isZero();
        }
    }

    @Test
    void aNewHandleReadsAsZeroesAlsoAfterAnotherWasReleased() {
        long range = driver.reserve(GRANULE);
        long first = driver.create(GRANULE);
        driver.map(range, GRANULE, first);
        driver.scrub(range, GRANULE);
        write(range, (byte) 1);
        driver.unmap(range, GRANULE);
        driver.release(first, GRANULE);
        long second = driver.create(GRANULE);
        driver.map(range, GRANULE, second);

        assertThat(read(range)).isZero();
    }

    @Test
    void theKernelCountsTheBytesThatExist() throws IOException {
        long range = driver.reserve(2 * GRANULE);
        long handle = driver.create(2 * GRANULE);
        driver.map(range, 2 * GRANULE, handle);
        assertThat(physicalBytes()).isZero();

        driver.scrub(range, 2 * GRANULE);
        assertThat(physicalBytes()).isEqualTo(2 * GRANULE);

        driver.unmap(range, 2 * GRANULE);
        assertThat(physicalBytes()).as("unmapping keeps the memory").isEqualTo(2 * GRANULE);

        driver.release(handle, 2 * GRANULE);
        assertThat(physicalBytes()).isZero();
    }

    @Test
    void populatedMemoryExistsAtOnce() throws IOException {
        try (var populating = new LinuxDriver(GRANULE, true)) {
            populating.create(4 * GRANULE);

            assertThat(physicalBytes(populating)).isEqualTo(4 * GRANULE);
        }
    }

    @Test
    void protectionIsWhatTheKernelSays() throws IOException {
        long range = driver.reserve(GRANULE);
        driver.map(range, GRANULE, driver.create(GRANULE));
        assertThat(mapsLine(range)).contains("rw-s");

        driver.protect(range, GRANULE, Access.READ);
        assertThat(mapsLine(range)).contains("r--s");

        driver.unmap(range, GRANULE);
        assertThat(mapsLine(range)).contains("---p");
    }

    @Test
    void copyMovesBytes() {
        long range = driver.reserve(2 * GRANULE);
        driver.map(range, GRANULE, driver.create(GRANULE));
        driver.map(range + GRANULE, GRANULE, driver.create(GRANULE));
        write(range + 17, (byte) 9);

        driver.copy(range + GRANULE, range, GRANULE);

        assertThat(read(range + GRANULE + 17)).isEqualTo((byte) 9);
    }

    @Test
    void aRefusalNamesCallErrnoAndFigures() {
        assertThatThrownBy(() -> driver.protect(GRANULE, GRANULE, Access.READ))
                .isInstanceOf(DriverFaultException.class)
                .hasMessageContaining("mprotect failed with errno 12")
                .hasMessageContaining(String.valueOf(GRANULE));
    }

    @Test
    void aGranuleMustBeAPowerOfTwoOfPages() {
        assertThatThrownBy(() -> new LinuxDriver(3 * 4096, false))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("power of two");
        assertThatThrownBy(() -> new LinuxDriver(2048, false)).isInstanceOf(InvalidRequestException.class);
    }

    private long physicalBytes() throws IOException {
        return physicalBytes(driver);
    }

    private static long physicalBytes(LinuxDriver driver) throws IOException {
        var stat = new ProcessBuilder(
                        "stat",
                        "-L",
                        "-c",
                        "%b",
                        "/proc/" + ProcessHandle.current().pid() + "/fd/" + driver.file())
                .start();
        return 512 * Long.parseLong(new String(stat.getInputStream().readAllBytes()).strip());
    }

    private static String mapsLine(long address) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> {
                    var range = line.substring(0, line.indexOf(' ')).split("-");
                    return Long.parseUnsignedLong(range[0], 16) <= address
                            && address < Long.parseUnsignedLong(range[1], 16);
                })
                .findFirst()
                .orElseThrow();
    }

    private static byte read(long address) {
        return MemorySegment.ofAddress(address).reinterpret(1).get(ValueLayout.JAVA_BYTE, 0);
    }

    private static void write(long address, byte value) {
        MemorySegment.ofAddress(address).reinterpret(1).set(ValueLayout.JAVA_BYTE, 0, value);
    }
}
