package org.granule.vmm;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/**
 * The engine's way to its driver. It counts calls, contains what a driver must not throw, and after the device
 * is lost keeps every call from the driver: whatever would need the device fails, until the device's context is
 * known to be gone. From then on giving back succeeds without a call, since there is nothing left to give.
 */
final class GuardedDriver {

    private enum State {
        WORKING,
        LOST,
        GONE
    }

    private final VmmDriver driver;
    private final LongAdder calls = new LongAdder();
    private volatile State state = State.WORKING;

    GuardedDriver(VmmDriver driver) {
        this.driver = driver;
    }

    long calls() {
        return calls.sum();
    }

    boolean isLost() {
        return state != State.WORKING;
    }

    /** Whether nothing can be given back now, though there may be something to give. */
    boolean isOutOfReach() {
        return state == State.LOST;
    }

    /** Notes that the device was found lost, here or by somebody else who works on it. */
    synchronized void lose() {
        if (state == State.WORKING) {
            state = State.LOST;
        }
    }

    /** Declares the device's context gone. Only a lost device can be gone. */
    synchronized void gone() {
        if (state == State.LOST) {
            state = State.GONE;
        }
    }

    long reserve(long bytes) {
        requireDevice("reserve");
        try {
            return driver.reserve(bytes);
        } catch (RuntimeException | Error e) {
            throw fault("reserve", e);
        }
    }

    void free(long address, long bytes) {
        if (mayGiveBack("free")) {
            try {
                driver.free(address, bytes);
            } catch (RuntimeException | Error e) {
                throw fault("free", e);
            }
        }
    }

    long create(long bytes) {
        requireDevice("create");
        try {
            return driver.create(bytes);
        } catch (RuntimeException | Error e) {
            throw fault("create", e);
        }
    }

    void map(long address, long bytes, long handle) {
        requireDevice("map");
        try {
            driver.map(address, bytes, handle);
        } catch (RuntimeException | Error e) {
            throw fault("map", e);
        }
    }

    /** Makes a freshly mapped run accessible; no call where mapping did it already. */
    void open(long address, long bytes, Access access) {
        if (access == Access.READ_WRITE && driver.mapsWritable()) {
            return;
        }
        requireDevice("protect");
        try {
            driver.protect(address, bytes, access);
        } catch (RuntimeException | Error e) {
            throw fault("protect", e);
        }
    }

    void unmap(long address, long bytes) {
        if (mayGiveBack("unmap")) {
            try {
                driver.unmap(address, bytes);
            } catch (RuntimeException | Error e) {
                throw fault("unmap", e);
            }
        }
    }

    void release(long handle, long bytes) {
        if (mayGiveBack("release")) {
            try {
                driver.release(handle, bytes);
            } catch (RuntimeException | Error e) {
                throw fault("release", e);
            }
        }
    }

    void scrub(long address, long bytes) {
        requireDevice("scrub");
        try {
            driver.scrub(address, bytes);
        } catch (RuntimeException | Error e) {
            throw fault("scrub", e);
        }
    }

    void copy(long target, long source, long bytes) {
        requireDevice("copy");
        try {
            driver.copy(target, source, bytes);
        } catch (RuntimeException | Error e) {
            throw fault("copy", e);
        }
    }

    /** Asks the device for what it has. These calls are not counted: they do nothing for an allocation. */
    DriverTruth truth() {
        var truth = ask("truth", driver::truth);
        return new DriverTruth() {
            @Override
            public boolean exists(long handle, long bytes) {
                return ask("exists", () -> truth.exists(handle, bytes));
            }

            @Override
            public boolean maps(long address, long bytes, long handle) {
                return ask("maps", () -> truth.maps(address, bytes, handle));
            }

            @Override
            public boolean isMapped(long address) {
                return ask("isMapped", () -> truth.isMapped(address));
            }
        };
    }

    long totalBytes() {
        return ask("totalBytes", driver::totalBytes);
    }

    long freeBytes() {
        return ask("freeBytes", driver::freeBytes);
    }

    private <T> T ask(String call, Supplier<T> question) {
        requireWorking(call);
        try {
            return question.get();
        } catch (RuntimeException | Error e) {
            throw fault(call, e);
        }
    }

    /** Refuses what would need the device, before anything is done for it. */
    void requireWorking(String what) {
        if (state != State.WORKING) {
            throw lost(what);
        }
    }

    private void requireDevice(String call) {
        requireWorking(call);
        calls.increment();
    }

    private boolean mayGiveBack(String call) {
        if (state == State.GONE) {
            return false;
        }
        requireDevice(call);
        return true;
    }

    private DriverFaultException fault(String call, Throwable e) {
        if (e instanceof DriverFaultException fault) {
            if (fault.kind() == Kind.DEVICE_LOST) {
                lose();
            }
            return fault;
        }
        var fault = new DriverFaultException(Kind.INVALID, call + ": the driver threw " + e);
        fault.initCause(e);
        return fault;
    }

    private static DriverFaultException lost(String call) {
        return new DriverFaultException(
                Kind.DEVICE_LOST,
                call + ": the device is lost; it was not called. Memory settles when its context is gone");
    }
}
