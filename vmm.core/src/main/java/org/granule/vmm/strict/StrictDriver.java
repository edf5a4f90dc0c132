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
 * as a violation. Contents are real, so that leaks of bytes between users can be seen. A refusal ends with the code
 * that the CUDA driver answers with, in parentheses.
 *
 * <p>Work can be {@linkplain #queue queued}. As on a device, an unmap does not wait for it, and work that then finds
 * nothing to write ends the device for good.
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

    /** Work that was queued on the device: it writes a range, whatever is mapped there by then. */
    public final class Work implements Runnable {
        private final long address;
        private final long bytes;
        private final byte value;

        private Work(long address, long bytes, byte value) {
            this.address = address;
            this.bytes = bytes;
            this.value = value;
        }

        /**
         * Writes the range, or loses the device when not all of it is writable: every later call fails. Work of a
         * device that is already lost ends without an effect. As on a device, the work itself reports nothing.
         *
         * @throws IllegalStateException when it has run before
         */
        @Override
        public void run() {
            synchronized (StrictDriver.this) {
                if (!queued.remove(this)) {
                    throw new IllegalStateException("this work has run before");
                }
                if (isAccessible(address, bytes, Access.READ_WRITE)) {
                    fill(address, bytes, value);
                } else {
                    lost = true;
                }
            }
        }

        private boolean touches(long otherAddress, long otherBytes) {
            return address < otherAddress + otherBytes && otherAddress < address + bytes;
        }
    }

    private static final int INVALID_VALUE = 1;
    private static final int OUT_OF_MEMORY = 2;
    private static final int ILLEGAL_ADDRESS = 700;
    private static final int NOT_SUPPORTED = 801;

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
    private final List<Work> queued = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private final Map<Call, Long> counts = new EnumMap<>(Call.class);
    private final Map<Call, Map<Long, Kind>> faults = new EnumMap<>(Call.class);
    private BooleanSupplier lockHeld = () -> false;
    private long nextAddress = 0x7000_0000_0000L;
    private long nextHandle = 1;
    private boolean lost;
    /** Whether somebody was told, so that whoever makes another call should have known. */
    private boolean lossReported;

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
     * Reads a byte as a program would. It can also be read after the device was lost, for tests to see what is there.
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
        if (lost || place == null || place.getValue().access != Access.READ_WRITE) {
            throw new IllegalStateException("write of 0x" + Long.toHexString(address) + " faults");
        }
        place.getValue().handle.bytes[(int) (address - place.getKey())] = value;
    }

    /**
     * Queues work that writes a range when it {@linkplain Work#run runs}. To unmap the range before, or to make it
     * read-only, is accepted and noted as a violation.
     *
     * @param address any; what is mapped there matters only when the work runs
     * @param bytes how many, at least 1
     * @param value what to write
     * @return the work, for the caller to run
     * @throws DriverFaultException when the device is lost
     */
    public synchronized Work queue(long address, long bytes, byte value) {
        requireWorking("queue");
        var work = new Work(address, bytes, value);
        queued.add(work);
        return work;
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
                    "create of " + bytes + " bytes: " + liveBytes() + " of " + capacity + " exist (" + OUT_OF_MEMORY
                            + ")");
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
        if (bytes < physical.bytes.length) {
            throw refused("map of a part of a handle", address, bytes, NOT_SUPPORTED);
        }
        if (bytes > physical.bytes.length) {
            throw invalid("map of more than a handle", address, bytes);
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
        if (access != Access.READ_WRITE) {
            noteQueued("write protection", address, bytes);
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
        noteQueued("unmap", address, bytes);
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
            throw new DriverFaultException(
                    Kind.INVALID, "release of handle " + handle + " that does not exist (" + INVALID_VALUE + ")");
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
        require(Access.READ_WRITE, "scrub of a run that is not writable", address, bytes);
        fill(address, bytes, (byte) 0);
    }

    @Override
    public synchronized void copy(long target, long source, long bytes) {
        begin(Call.COPY);
        require(Access.READ_WRITE, "copy to a run that is not writable", target, bytes);
        require(Access.READ, "copy from a run that is not readable", source, bytes);
        for (long done = 0; done < bytes; ) {
            var to = place(target + done);
            var from = place(source + done);
            long part = Math.min(bytes - done, Math.min(rest(to, target + done), rest(from, source + done)));
            System.arraycopy(
                    from.getValue().handle.bytes,
                    (int) (source + done - from.getKey()),
                    to.getValue().handle.bytes,
                    (int) (target + done - to.getKey()),
                    (int) part);
            done += part;
        }
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
        if (lossReported) {
            note(question + " was asked after the device was lost");
        }
        requireWorking(question);
    }

    private void begin(Call call) {
        if (lockHeld.getAsBoolean()) {
            note(call + " was called while a lock was held");
        }
        long number = counts.merge(call, 1L, Long::sum);
        if (lossReported) {
            note(call + " was called after the device was lost");
        }
        requireWorking(call.toString());
        var fault = faults.get(call).remove(number);
        if (fault != null) {
            lost = fault == Kind.DEVICE_LOST;
            lossReported = lost;
            throw new DriverFaultException(fault, call + " number " + number + " fails on request");
        }
    }

    private void requireWorking(String call) {
        if (lost) {
            lossReported = true;
            throw new DriverFaultException(Kind.DEVICE_LOST, call + ": the device is lost (" + ILLEGAL_ADDRESS + ")");
        }
    }

    private Map.Entry<Long, Mapped> place(long address) {
        var place = mapped.floorEntry(address);
        return place != null && rest(place, address) > 0 ? place : null;
    }

    /** How much of a mapping lies at and behind an address. */
    private static long rest(Map.Entry<Long, Mapped> place, long address) {
        return place.getKey() + place.getValue().size() - address;
    }

    /** Whether the device works and every byte of a run allows this much. */
    private boolean isAccessible(long address, long bytes, Access least) {
        for (long at = address; at < address + bytes; ) {
            var place = place(at);
            if (place == null || place.getValue().access.compareTo(least) < 0) {
                return false;
            }
            at += rest(place, at);
        }
        return !lost;
    }

    private void require(Access least, String otherwise, long address, long bytes) {
        if (!isAccessible(address, bytes, least)) {
            throw invalid(otherwise, address, bytes);
        }
    }

    private void fill(long address, long bytes, byte value) {
        for (long at = address; at < address + bytes; ) {
            var place = place(at);
            int first = (int) (at - place.getKey());
            int part = (int) Math.min(address + bytes - at, rest(place, at));
            Arrays.fill(place.getValue().handle.bytes, first, first + part, value);
            at += part;
        }
    }

    private boolean overlapsMapped(long address, long bytes) {
        var last = mapped.lowerEntry(address + bytes);
        return last != null && last.getKey() + last.getValue().size() > address;
    }

    private void requireWhole(long bytes, String call) {
        if (bytes <= 0 || bytes % granuleBytes != 0) {
            throw new DriverFaultException(
                    Kind.INVALID,
                    call + " of " + bytes + " bytes, not a multiple of " + granuleBytes + " (" + INVALID_VALUE + ")");
        }
    }

    private void noteQueued(String change, long address, long bytes) {
        if (queued.stream().anyMatch(work -> work.touches(address, bytes))) {
            note(change + " of " + bytes + " bytes at 0x" + Long.toHexString(address) + " that queued work will write");
        }
    }

    private void note(String violation) {
        violations.add(violation);
    }

    private static DriverFaultException invalid(String what, long address, long bytes) {
        return refused(what, address, bytes, INVALID_VALUE);
    }

    private static DriverFaultException refused(String what, long address, long bytes, int code) {
        return new DriverFaultException(
                Kind.INVALID, what + ": " + bytes + " bytes at 0x" + Long.toHexString(address) + " (" + code + ")");
    }
}
