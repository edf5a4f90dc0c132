package org.granule.vmm.strict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.vmm.strict.StrictDriver.Call;
import org.junit.jupiter.api.Test;

/** What the strict driver does beside the rules that it shares with a real one: work, violations, a lost device. */
class StrictDriverTest {

    private static final long G = 4096;

    private final StrictDriver driver = new StrictDriver(G, 16 * G);
    private final long range = driver.reserve(8 * G);

    private long map(long address, long bytes) {
        long handle = driver.create(bytes);
        driver.map(address, bytes, handle);
        driver.protect(address, bytes, Access.READ_WRITE);
        return handle;
    }

    private static void checkLost(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(DriverFaultException.class, e -> {
            assertThat(e.kind()).isEqualTo(Kind.DEVICE_LOST);
            assertThat(e).hasMessageEndingWith("(700)");
        });
    }

    @Test
    void queuedWorkWritesWhenItRuns() {
        map(range, G);
        map(range + G, 2 * G);
        var work = driver.queue(range + 1, 2 * G, (byte) 7);
        assertThat(driver.read(range + 1)).isZero();
        work.run();
        assertThat(driver.read(range)).isZero();
        assertThat(driver.read(range + 1)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 2 * G)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 2 * G + 1)).isZero();
        assertThatThrownBy(work::run).isInstanceOf(IllegalStateException.class);
        assertThat(driver.violations()).isEmpty();
    }

    @Test
    void anUnmapUnderQueuedWorkIsNotedAndEndsTheDeviceWhenTheWorkRuns() {
        long handle = map(range, G);
        var work = driver.queue(range, G, (byte) 7);
        var later = driver.queue(range, G, (byte) 8);
        driver.unmap(range, G);
        assertThat(driver.violations()).singleElement().asString().contains("unmap", "queued work");
        driver.map(range + G, G, handle);
        driver.protect(range + G, G, Access.READ_WRITE);

        work.run();
        later.run();
        checkLost(() -> driver.reserve(G));
        assertThat(driver.violations()).as("the first caller could not know").hasSize(1);
        checkLost(() -> driver.free(range, 8 * G));
        checkLost(() -> driver.create(G));
        checkLost(() -> driver.map(range, G, handle));
        checkLost(() -> driver.protect(range + G, G, Access.READ));
        checkLost(() -> driver.unmap(range + G, G));
        checkLost(() -> driver.release(handle, G));
        checkLost(() -> driver.scrub(range + G, G));
        checkLost(() -> driver.copy(range + G, range, G));
        checkLost(() -> driver.queue(range + G, G, (byte) 9));
        assertThatThrownBy(() -> driver.write(range + G, (byte) 1)).isInstanceOf(IllegalStateException.class);
        assertThat(driver.violations()).as("the others should have known").hasSize(9);
    }

    @Test
    void workThatMeetsReadOnlyMemoryEndsTheDevice() {
        map(range, 2 * G);
        var work = driver.queue(range + G, G, (byte) 7);
        driver.protect(range, 2 * G, Access.READ);
        assertThat(driver.violations()).singleElement().asString().contains("write protection", "queued work");
        work.run();
        checkLost(() -> driver.create(G));
    }

    @Test
    void workOnARangeThatIsMappedAgainWritesTheNewMemory() {
        long old = map(range, G);
        var work = driver.queue(range, G, (byte) 7);
        driver.unmap(range, G);
        map(range, G);
        work.run();
        assertThat(driver.read(range)).isEqualTo((byte) 7);
        driver.map(range + G, G, old);
        driver.protect(range + G, G, Access.READ);
        assertThat(driver.read(range + G)).isZero();
        assertThat(driver.violations()).as("that it went well was luck").hasSize(1);
    }

    @Test
    void unmapBesideQueuedWorkIsFine() {
        map(range, G);
        map(range + G, G);
        map(range + 2 * G, G);
        var work = driver.queue(range + G, G, (byte) 7);
        driver.unmap(range, G);
        driver.unmap(range + 2 * G, G);
        work.run();
        driver.unmap(range + G, G);
        assertThat(driver.violations()).isEmpty();
    }

    @Test
    void scrubAndCopyTakePartsOfHandlesAndRunsOverSeveral() {
        map(range, 2 * G);
        map(range + 2 * G, G);
        map(range + 4 * G, G);
        map(range + 5 * G, 2 * G);
        driver.queue(range, 3 * G, (byte) 7).run();
        driver.copy(range + 4 * G, range + G / 2, 2 * G);
        assertThat(driver.read(range + 4 * G)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 6 * G - 1)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 6 * G)).isZero();
        driver.scrub(range + 2 * G - 1, 2);
        assertThat(driver.read(range + 2 * G - 2)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 2 * G - 1)).isZero();
        assertThat(driver.read(range + 2 * G)).isZero();
        assertThat(driver.read(range + 2 * G + 1)).isEqualTo((byte) 7);
    }

    @Test
    void scrubAndCopyBeyondWhatIsMappedHaveNoEffect() {
        map(range, G);
        map(range + 2 * G, 2 * G);
        driver.queue(range, G, (byte) 7).run();
        assertThatThrownBy(() -> driver.scrub(range, 2 * G)).hasMessageEndingWith("(1)");
        assertThatThrownBy(() -> driver.copy(range + 2 * G, range, 2 * G)).hasMessageEndingWith("(1)");
        assertThatThrownBy(() -> driver.copy(range, range + 2 * G, 2 * G)).hasMessageEndingWith("(1)");
        assertThat(driver.read(range)).isEqualTo((byte) 7);
        assertThat(driver.read(range + 2 * G)).isZero();
    }

    @Test
    void aCallThatIsToldToLoseTheDeviceTellsItAtOnce() {
        driver.fail(Call.CREATE, 1, Kind.DEVICE_LOST);
        assertThatThrownBy(() -> driver.create(G)).isInstanceOf(DriverFaultException.class);
        assertThat(driver.violations()).isEmpty();
        checkLost(() -> driver.create(G));
        assertThat(driver.violations()).hasSize(1);
    }
}
