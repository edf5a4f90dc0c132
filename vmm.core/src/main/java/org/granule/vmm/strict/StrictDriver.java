package org.granule.vmm.strict;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.granule.memory.Access;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.granule.vmm.DriverTruth;
import org.granule.vmm.VmmDriver;

/**
 * A device in Java memory that follows the rules which the CUDA driver was measured to have: what it refuses is
 * refused, and what it silently accepts, such as the unmap of a range that is not mapped, is accepted and noted
 * as a violation. Contents are real, so that leaks of bytes between users can be seen.
 *
 * <p>Thread-safe. Every call first checks that no lock of the engine is held, then whether it shall fail.
 */
public final class StrictDriver implements VmmDriver {

    /** The kinds of calls. */
    public enum Call {
        /** {@link VmmDriver#reserve}. */
        RESERVE,
        /** {@link VmmDriver#free}. */
        FREE,
        /** {@link VmmDriver#create}. */
        CREATE,
        /** {@link VmmDriver#map}. */
        MAP,
        /** {@link VmmDriver#protect}. */
        PROTECT,
        /** {@link VmmDriver#unmap}. */
        UNMAP,
        /** {@link VmmDriver#release}. */
        RELEASE,
        /** {@link VmmDriver#scrub}. */
        SCRUB,
        /** {@link VmmDriver#copy}. */
        COPY
    }

    private static final class Handle {
        final long number;
        final byte[] bytes;
        boolean released;
        int mappings;

        Handle(long number, long size) {
            this.number = number;
            bytes = new byte[Math.toIntExact(size)];
        }
    }

    private static final class Mapped {
        final Handle handle;
        Access access = Access.NONE;

        Mapped(Handle handle) {
            this.handle = handle;
        }

        long size() {
            return handle.bytes.length;
        }
    }

    /** The device at one moment, which is as old as an answer may be. */
    private record Snapshot(TreeMap<Long, Mapped> mapped, Map<Long, Handle> handles) implements DriverTruth {

        @Override
        public boolean exists(long handle, long bytes) {
            var physical = handles.get(handle);
            return physical != null && physical.bytes.length == bytes;
        }

        @Override
        public boolean maps(long address, long bytes, long handle) {
            var mapping = mapped.get(address);
            return mapping != null && mapping.size() == bytes && mapping.handle.number == handle;
        }

        @Override
        public boolean isMapped(long address) {
            var place = mapped.floorEntry(address);
            return place != null && address < place.getKey() + place.getValue().size();
        }
    }

    private final long granuleBytes;
    private final long capacity;
    private final TreeMap<Long, Long> reservations = new TreeMap<>();
    private final TreeMap<Long, Mapped> mapped = new TreeMap<>();
    private final Map<Long, Handle> handles = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private final Map<Call, Long> counts = new EnumMap<>(Call.class);
    private final Map<Call, Map<Long, Kind>> faults = new EnumMap<>(Call.class);
    private BooleanSupplier lockHeld = () -> false;
    private long nextAddress = 0x7000_0000_0000L;
    private long nextHandle = 1;
    private boolean lost;

    /**
     * Makes a device.
     *
     * @param granuleBytes its granule, a power of two; a small one keeps tests quick
     * @param capacity physical bytes that can be created
     */
    public StrictDriver(long granuleBytes, long capacity) {
        this.granuleBytes = granuleBytes;
        this.capacity = capacity;
        for (Call call : Call.values()) {
            counts.put(call, 0L);
            faults.put(call, new HashMap<>());
        }
    }

    /**
     * Refuses calls that are made while a lock is held.
     *
     * @param held tells whether the calling thread holds a lock that another allocation needs
     */
    public synchronized void refuseWhile(BooleanSupplier held) {
        lockHeld = held;
    }

    /**
     * Lets a call fail.
     *
     * @param call which kind
     * @param nth which from now on, 1 for the next
     * @param kind how
     */
    public synchronized void fail(Call call, int nth, Kind kind) {
        faults.get(call).put(counts.get(call) + nth, kind);
    }

    /** Lets every call succeed again that has not failed yet. A lost device stays lost. */
    public synchronized void heal() {
        faults.values().forEach(Map::clear);
    }

    /**
     * Counts calls.
     *
     * @param call which kind
     * @return calls since the start, failed ones included
     */
    public synchronized long calls(Call call) {
        return counts.get(call);
    }

    /**
     * Counts calls of all kinds.
     *
     * @return calls since the start, failed ones included
     */
    public synchronized long calls() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Returns the physical memory that exists.
     *
     * @return bytes of handles that are not released, or released and still mapped
     */
    public synchronized long liveBytes() {
        return handles.values().stream()
                .mapToLong(handle -> handle.bytes.length)
                .sum();
    }

    /**
     * Returns what is mapped, each mapping counted.
     *
     * @return bytes
     */
    public synchronized long mappedBytes() {
        return mapped.values().stream().mapToLong(Mapped::size).sum();
    }

    /**
     * Counts handles that exist.
     *
     * @return a count
     */
    public synchronized int liveHandles() {
        return handles.size();
    }

    /**
     * Counts reservations that exist.
     *
     * @return a count
     */
    public synchronized int liveReservations() {
        return reservations.size();
    }

    /**
     * Returns what a real driver would not have reported, and every use of it that is a defect.
     *
     * @return one line for each
     */
    public synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /**
     * Reads a byte as a program would.
     *
     * @param address any
     * @return the byte
     * @throws IllegalStateException where a real access would fault
     */
    public synchronized byte read(long address) {
        var place = place(address);
        if (place == null || place.getValue().access == Access.NONE) {
            throw new IllegalStateException("read of 0x" + Long.toHexString(address) + " faults");
        }
        return place.getValue().handle.bytes[(int) (address - place.getKey())];
    }

    /**
     * Writes a byte as a program would.
     *
     * @param address any
     * @param value what
     * @throws IllegalStateException where a real access would fault
     */
    public synchronized void write(long address, byte value) {
        var place = place(address);
        if (place == null || place.getValue().access != Access.READ_WRITE) {
            throw new IllegalStateException("write of 0x" + Long.toHexString(address) + " faults");
        }
        place.getValue().handle.bytes[(int) (address - place.getKey())] = value;
    }

    @Override
    public long granuleBytes() {
        return granuleBytes;
    }

    @Override
    public boolean mapsWritable() {
        return false;
    }

    @Override
    public synchronized long reserve(long bytes) {
        begin(Call.RESERVE);
        requireWhole(bytes, "reserve");
        long address = nextAddress;
        nextAddress += bytes + granuleBytes;
        reservations.put(address, bytes);
        return address;
    }

    @Override
    public synchronized void free(long address, long bytes) {
        begin(Call.FREE);
        if (!Long.valueOf(bytes).equals(reservations.get(address))) {
            throw invalid("free of a part of a reservation, or more than it", address, bytes);
        }
        if (!mapped.subMap(address, address + bytes).isEmpty()) {
            throw invalid("free of a reservation with mappings", address, bytes);
        }
        reservations.remove(address);
    }

    @Override
    public synchronized long create(long bytes) {
        begin(Call.CREATE);
        requireWhole(bytes, "create");
        if (bytes > capacity - liveBytes()) {
            throw new DriverFaultException(
                    Kind.OUT_OF_MEMORY,
                    "create of " + bytes + " bytes: " + liveBytes() + " of " + capacity + " exist (2)");
        }
        long handle = nextHandle++;
        handles.put(handle, new Handle(handle, bytes));
        return handle;
    }

    @Override
    public synchronized void map(long address, long bytes, long handle) {
        begin(Call.MAP);
        var physical = handles.get(handle);
        if (physical == null || physical.released) {
            throw invalid("map of a handle that does not exist", address, bytes);
        }
        if (bytes != physical.bytes.length) {
            throw invalid("map of a part of a handle", address, bytes);
        }
        var reservation = reservations.floorEntry(address);
        if (address % granuleBytes != 0
                || reservation == null
                || address + bytes > reservation.getKey() + reservation.getValue()) {
            throw invalid("map outside a reservation", address, bytes);
        }
        if (overlapsMapped(address, bytes)) {
            throw invalid("map over a mapped granule", address, bytes);
        }
        physical.mappings++;
        mapped.put(address, new Mapped(physical));
    }

    @Override
    public synchronized void protect(long address, long bytes, Access access) {
        begin(Call.PROTECT);
        for (long at = address; at < address + bytes; ) {
            var mapping = mapped.get(at);
            if (mapping == null || at + mapping.size() > address + bytes) {
                throw invalid("set access on a range that is not wholly mapped", address, bytes);
            }
            at += mapping.size();
        }
        mapped.subMap(address, address + bytes).values().forEach(mapping -> mapping.access = access);
    }

    @Override
    public synchronized void unmap(long address, long bytes) {
        begin(Call.UNMAP);
        var below = mapped.lowerEntry(address);
        var last = mapped.lowerEntry(address + bytes);
        if (below != null && below.getKey() + below.getValue().size() > address
                || last != null
                        && last.getKey() >= address
                        && last.getKey() + last.getValue().size() > address + bytes) {
            throw invalid("unmap of a part of a handle", address, bytes);
        }
        var leaving = mapped.subMap(address, address + bytes);
        long found = leaving.values().stream().mapToLong(Mapped::size).sum();
        if (found != bytes) {
            note("unmap of " + bytes + " bytes at 0x" + Long.toHexString(address) + " found " + found + " mapped");
        }
        for (Mapped mapping : leaving.values()) {
            mapping.handle.mappings--;
        }
        leaving.clear();
        handles.values().removeIf(handle -> handle.released && handle.mappings == 0);
    }

    @Override
    public synchronized void release(long handle, long bytes) {
        begin(Call.RELEASE);
        var physical = handles.get(handle);
        if (physical == null || physical.released) {
            throw new DriverFaultException(Kind.INVALID, "release of handle " + handle + " that does not exist (1)");
        }
        if (physical.bytes.length != bytes) {
            note("release of handle " + handle + " with " + bytes + " bytes, it has " + physical.bytes.length);
        }
        if (physical.mappings > 0) {
            note("release of handle " + handle + " with " + physical.mappings + " mappings");
            physical.released = true;
        } else {
            handles.remove(handle);
        }
    }

    @Override
    public synchronized void scrub(long address, long bytes) {
        begin(Call.SCRUB);
        for (long at = address; at < address + bytes; ) {
            var mapping = writable(at, "scrub");
            Arrays.fill(mapping.handle.bytes, (byte) 0);
            at += mapping.size();
        }
    }

    @Override
    public synchronized void copy(long target, long source, long bytes) {
        begin(Call.COPY);
        var to = writable(target, "copy");
        var from = mapped.get(source);
        if (from == null || from.access == Access.NONE || from.size() != bytes || to.size() != bytes) {
            throw invalid("copy from a run that is not readable", source, bytes);
        }
        System.arraycopy(from.handle.bytes, 0, to.handle.bytes, 0, (int) bytes);
    }

    @Override
    public synchronized DriverTruth truth() {
        look("truth");
        return new Snapshot(new TreeMap<>(mapped), existing());
    }

    private Map<Long, Handle> existing() {
        var existing = new HashMap<>(handles);
        existing.values().removeIf(handle -> handle.released);
        return existing;
    }

    @Override
    public synchronized long totalBytes() {
        look("totalBytes");
        return capacity;
    }

    @Override
    public synchronized long freeBytes() {
        look("freeBytes");
        return capacity - liveBytes();
    }

    /** Questions have no effect and are not counted; a lock and a lost device forbid them like any call. */
    private void look(String question) {
        if (lockHeld.getAsBoolean()) {
            note(question + " was asked while a lock was held");
        }
        if (lost) {
            note(question + " was asked after the device was lost");
            throw new DriverFaultException(Kind.DEVICE_LOST, question + ": the device is lost");
        }
    }

    private void begin(Call call) {
        if (lockHeld.getAsBoolean()) {
            note(call + " was called while a lock was held");
        }
        long number = counts.merge(call, 1L, Long::sum);
        if (lost) {
            note(call + " was called after the device was lost");
            throw new DriverFaultException(Kind.DEVICE_LOST, call + ": the device is lost");
        }
        var fault = faults.get(call).remove(number);
        if (fault != null) {
            lost = fault == Kind.DEVICE_LOST;
            throw new DriverFaultException(fault, call + " number " + number + " fails on request");
        }
    }

    private Map.Entry<Long, Mapped> place(long address) {
        var place = mapped.floorEntry(address);
        return place != null && address < place.getKey() + place.getValue().size() ? place : null;
    }

    private Mapped writable(long address, String call) {
        var mapping = mapped.get(address);
        if (mapping == null || mapping.access != Access.READ_WRITE) {
            throw invalid(call + " of a run that is not writable", address, granuleBytes);
        }
        return mapping;
    }

    private boolean overlapsMapped(long address, long bytes) {
        var last = mapped.lowerEntry(address + bytes);
        return last != null && last.getKey() + last.getValue().size() > address;
    }

    private void requireWhole(long bytes, String call) {
        if (bytes <= 0 || bytes % granuleBytes != 0) {
            throw new DriverFaultException(
                    Kind.INVALID, call + " of " + bytes + " bytes, not a multiple of " + granuleBytes + " (1)");
        }
    }

    private void note(String violation) {
        violations.add(violation);
    }

    private static DriverFaultException invalid(String what, long address, long bytes) {
        return new DriverFaultException(
                Kind.INVALID, what + ": " + bytes + " bytes at 0x" + Long.toHexString(address) + " (1)");
    }
}
