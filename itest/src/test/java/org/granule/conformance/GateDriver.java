package org.granule.conformance;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.vmm.DriverTruth;
import org.granule.vmm.VmmDriver;
import org.granule.vmm.strict.StrictDriver.Call;

/**
 * Stands before a real driver: counts its calls, fails those that it is told to before they have an effect, and
 * watches for what must never come, such as a call after the device was lost or the reuse of what would not go.
 */
final class GateDriver implements VmmDriver {

    /** A contiguous range of addresses. */
    record Range(long address, long bytes) {
        boolean overlaps(long otherAddress, long otherBytes) {
            return address < otherAddress + otherBytes && otherAddress < address + bytes;
        }
    }

    private record Mapped(long bytes, long handle) {}

    private final VmmDriver driver;
    private final Map<Call, Long> counts = new EnumMap<>(Call.class);
    private final Map<Call, Map<Long, Kind>> faults = new EnumMap<>(Call.class);
    private final Map<Long, Long> reservations = new HashMap<>();
    private final Map<Long, Long> handles = new HashMap<>();
    private final TreeMap<Long, Mapped> mappings = new TreeMap<>();
    private final Set<Long> unreleased = new HashSet<>();
    private final Set<Range> notUnmapped = new HashSet<>();
    private final List<Range> unmapCalls = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private int fired;
    private boolean lost;
    private boolean hidesFailedUnmaps;
    private Runnable afterEnd;

    GateDriver(VmmDriver driver) {
        this.driver = driver;
        for (Call call : Call.values()) {
            counts.put(call, 0L);
            faults.put(call, new HashMap<>());
        }
    }

    /** Lets the n-th call of a kind from now on fail, 1 for the next. */
    synchronized void fail(Call call, int nth, Kind kind) {
        faults.get(call).put(counts.get(call) + nth, kind);
    }

    /** Lets everything succeed that has not failed yet. */
    synchronized void heal() {
        faults.values().forEach(Map::clear);
    }

    /** Returns how many calls failed on request. */
    synchronized int fired() {
        return fired;
    }

    synchronized Map<Call, Long> counts() {
        return new EnumMap<>(counts);
    }

    synchronized long calls(Call call) {
        return counts.get(call);
    }

    synchronized long calls() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the ranges of all unmap calls, failed ones included, in order. */
    synchronized List<Range> unmapCalls() {
        return List.copyOf(unmapCalls);
    }

    synchronized long liveBytes() {
        return handles.values().stream().mapToLong(Long::longValue).sum();
    }

    synchronized long mappedBytes() {
        return mappings.values().stream().mapToLong(Mapped::bytes).sum();
    }

    /** Tells of each mapping. */
    @FunctionalInterface
    interface MappingVisitor {
        void visit(long address, long bytes, long handle);
    }

    /** Visits the handles that exist, with their sizes. */
    synchronized void forEachHandle(BiConsumer<Long, Long> visitor) {
        handles.forEach(visitor);
    }

    /** Visits what is mapped. */
    synchronized void forEachMapping(MappingVisitor visitor) {
        mappings.forEach((address, mapping) -> visitor.visit(address, mapping.bytes, mapping.handle));
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** From now on unmaps that fail are answered as if they had succeeded: the gap that tests must see. */
    synchronized void hideFailedUnmaps() {
        hidesFailedUnmaps = true;
    }

    /** Does what the end of a context does: unmaps and releases everything, past whoever keeps books of it. */
    synchronized void destroyContext() {
        mappings.forEach((address, mapping) -> driver.unmap(address, mapping.bytes));
        mappings.clear();
        handles.forEach((handle, bytes) -> driver.release(handle, bytes));
        handles.clear();
        notUnmapped.clear();
        unreleased.clear();
    }

    /** Gives all addresses back, past whoever keeps books of them; what is mapped there went before. */
    synchronized void freeReservations() {
        reservations.forEach(driver::free);
        reservations.clear();
    }

    /** Returns what is behind the gate, for changes that whoever keeps books does not see. */
    VmmDriver raw() {
        return driver;
    }

    synchronized long handleAt(long address) {
        return mappings.get(address).handle;
    }

    /** Gives a handle back past whoever keeps books of it. */
    synchronized void releaseBehind(long handle) {
        driver.release(handle, handles.remove(handle));
    }

    /** Ends the context for good: whatever comes later is told to somebody and not done. */
    synchronized void endForGood(Runnable onLaterCall) {
        destroyContext();
        afterEnd = onLaterCall;
    }

    private synchronized void begin(Call call) {
        if (afterEnd != null) {
            afterEnd.run();
        }
        long number = counts.merge(call, 1L, Long::sum);
        if (lost) {
            violations.add(call + " was called after the device was lost");
            throw new DriverFaultException(Kind.DEVICE_LOST, call + ": the device is lost");
        }
        var fault = faults.get(call).remove(number);
        if (fault != null) {
            fired++;
            lost = fault == Kind.DEVICE_LOST;
            throw new DriverFaultException(fault, call + " number " + number + " fails on request");
        }
    }

    @Override
    public long granuleBytes() {
        return driver.granuleBytes();
    }

    @Override
    public boolean mapsWritable() {
        return driver.mapsWritable();
    }

    @Override
    public long reserve(long bytes) {
        begin(Call.RESERVE);
        long address = driver.reserve(bytes);
        synchronized (this) {
            reservations.put(address, bytes);
        }
        return address;
    }

    @Override
    public void free(long address, long bytes) {
        begin(Call.FREE);
        driver.free(address, bytes);
        synchronized (this) {
            reservations.remove(address);
        }
    }

    @Override
    public long create(long bytes) {
        begin(Call.CREATE);
        long handle = driver.create(bytes);
        synchronized (this) {
            handles.put(handle, bytes);
        }
        return handle;
    }

    @Override
    public void map(long address, long bytes, long handle) {
        begin(Call.MAP);
        driver.map(address, bytes, handle);
        synchronized (this) {
            if (unreleased.contains(handle)) {
                violations.add("handle " + handle + " was mapped again after its release had failed");
            }
            if (notUnmapped.stream().anyMatch(range -> range.overlaps(address, bytes))) {
                violations.add("0x" + Long.toHexString(address) + " was mapped again after its unmap had failed");
            }
            var below = mappings.lowerEntry(address + bytes);
            if (below != null && below.getKey() + below.getValue().bytes > address) {
                // Linux lays one over the other without a word.
                violations.add("0x" + Long.toHexString(address) + " was mapped over what was mapped there");
            }
            mappings.put(address, new Mapped(bytes, handle));
        }
    }

    @Override
    public void protect(long address, long bytes, Access access) {
        begin(Call.PROTECT);
        driver.protect(address, bytes, access);
    }

    @Override
    public void unmap(long address, long bytes) {
        var range = new Range(address, bytes);
        try {
            synchronized (this) {
                unmapCalls.add(range);
            }
            begin(Call.UNMAP);
        } catch (DriverFaultException e) {
            synchronized (this) {
                if (hidesFailedUnmaps && !lost) {
                    return;
                }
                notUnmapped.add(range);
            }
            throw e;
        }
        driver.unmap(address, bytes);
        synchronized (this) {
            mappings.subMap(address, address + bytes).clear();
            notUnmapped.removeIf(other -> other.overlaps(address, bytes));
        }
    }

    @Override
    public void release(long handle, long bytes) {
        try {
            begin(Call.RELEASE);
        } catch (DriverFaultException e) {
            synchronized (this) {
                unreleased.add(handle);
            }
            throw e;
        }
        driver.release(handle, bytes);
        synchronized (this) {
            if (mappings.values().stream().anyMatch(mapping -> mapping.handle == handle)) {
                violations.add("handle " + handle + " was released while it was mapped");
            }
            handles.remove(handle);
            unreleased.remove(handle);
        }
    }

    @Override
    public void scrub(long address, long bytes) {
        begin(Call.SCRUB);
        driver.scrub(address, bytes);
    }

    @Override
    public void copy(long target, long source, long bytes) {
        begin(Call.COPY);
        driver.copy(target, source, bytes);
    }

    @Override
    public DriverTruth truth() {
        look("truth");
        return driver.truth();
    }

    @Override
    public long totalBytes() {
        look("totalBytes");
        return driver.totalBytes();
    }

    @Override
    public long freeBytes() {
        look("freeBytes");
        return driver.freeBytes();
    }

    /** A question is no call that could be told to fail, but like a call it must not come to a lost device. */
    private synchronized void look(String question) {
        if (afterEnd != null) {
            afterEnd.run();
        }
        if (lost) {
            violations.add(question + " was asked after the device was lost");
            throw new DriverFaultException(Kind.DEVICE_LOST, question + ": the device is lost");
        }
    }
}
