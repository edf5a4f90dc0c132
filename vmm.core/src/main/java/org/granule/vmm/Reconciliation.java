package org.granule.vmm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.granule.memory.Account;
import org.granule.memory.FindingDTO;
import org.granule.memory.ReconciliationDTO;

/**
 * One comparison of the engine's books with its device. Everything is compared twice. The first look holds nothing
 * while the device is asked, so what changes meanwhile looks wrong. Only what looks wrong is looked at again, with
 * the books kept still: a reservation by its turn, free addresses by taking them, a handle by finding it in the books
 * before and after. What still looks wrong is a finding.
 *
 * <p>What is in quarantine is not compared: nobody knows whether an unmap or a release that failed had an effect.
 */
final class Reconciliation {

    /**
     * The most granules without memory that are looked at in one reservation or free range. Those of a reservation
     * far above the device's memory would take minutes.
     */
    private static final int MOST_EMPTY = 1 << 16;

    private final Engine engine;
    private final VmmSharing sharing;
    private final ReconciliationDTO result = new ReconciliationDTO();

    /** The handles that were met, each with whether it was there. */
    private final Map<Extent, Boolean> handles = new IdentityHashMap<>();

    private final Set<Extent> missing = Collections.newSetFromMap(new IdentityHashMap<>());

    /** As of the last closer look; older than the books that it is compared with. */
    private DriverTruth truth;

    Reconciliation(Engine engine, VmmSharing sharing) {
        this.engine = engine;
        this.sharing = sharing;
    }

    ReconciliationDTO run() {
        lookAnew();
        result.device = engine.settings.device().toString();
        result.quarantinedBytes = engine.residues.bytes();
        engine.addresses.reservations().forEach(this::reconcile);
        sharing.all().forEach(this::reconcile);
        for (var extent : looksMissing(engine.pool.all())) {
            requireExists(extent, extent.owner(), () -> engine.pool.contains(extent));
        }
        reconcileFree();
        return result;
    }

    private void lookAnew() {
        truth = engine.driver.truth();
    }

    // Reservations

    private void reconcile(Reservation reservation) {
        List<Mapping> mappings;
        reservation.turn.lock();
        try {
            if (!isNoted(reservation)) {
                return;
            }
            mappings = mappings(reservation);
        } finally {
            reservation.turn.unlock();
        }
        var wrong = new ArrayList<Mapping>();
        for (var mapping : mappings) {
            result.mappingsChecked++;
            if (looksMissing(mapping.extent()) || !maps(reservation, mapping)) {
                wrong.add(mapping);
            }
        }
        var unknown = mappedAlthoughEmpty(reservation);
        if (!wrong.isEmpty() || !unknown.isEmpty()) {
            lookAgain(reservation, wrong, unknown);
        }
    }

    /** Whether its addresses are still its own. They are as long as it can be found and its turn is held. */
    private boolean isNoted(Reservation reservation) {
        return engine.addresses.find(reservation.address) == reservation;
    }

    private List<Mapping> mappings(Reservation reservation) {
        return engine.mapped(reservation, 0, granules(reservation));
    }

    private static long granules(Reservation reservation) {
        return reservation.endGranule(0, reservation.span);
    }

    /** Finds the granules in which something is mapped while the books have nothing there. */
    private List<Long> mappedAlthoughEmpty(Reservation reservation) {
        var found = new ArrayList<Long>();
        long looked = 0;
        long granules = granules(reservation);
        for (long granule = 0; granule < granules; ) {
            long from = granule;
            long to = emptyUntil(reservation, from, Math.min(granules, from + MOST_EMPTY - looked));
            for (; granule < to; granule++) {
                if (truth.isMapped(reservation.addressOf(granule))) {
                    found.add(granule);
                }
            }
            looked += to - from;
            if (looked == MOST_EMPTY) {
                result.uncheckedBytes += emptyBytes(reservation, granule, granules);
                break;
            }
            granule = Math.max(granule, nextEmpty(reservation, granule, granules));
        }
        return found;
    }

    private static long emptyUntil(Reservation reservation, long from, long to) {
        reservation.turn.lock();
        try {
            var next = reservation.table.next(from, to);
            return next == null ? to : Math.max(from, next.first());
        } finally {
            reservation.turn.unlock();
        }
    }

    private static long nextEmpty(Reservation reservation, long from, long to) {
        reservation.turn.lock();
        try {
            long granule = from;
            for (Mapping there; granule < to && (there = reservation.table.get(granule)) != null; ) {
                granule = there.end();
            }
            return granule;
        } finally {
            reservation.turn.unlock();
        }
    }

    private static long emptyBytes(Reservation reservation, long from, long to) {
        reservation.turn.lock();
        try {
            long empty = to - from;
            for (var next = reservation.table.next(from, to);
                    next != null;
                    next = reservation.table.next(next.end(), to)) {
                empty -= Math.min(to, next.end()) - Math.max(from, next.first());
            }
            return reservation.sizeOf(empty);
        } finally {
            reservation.turn.unlock();
        }
    }

    private void lookAgain(Reservation reservation, List<Mapping> wrong, List<Long> unknown) {
        reservation.turn.lock();
        try {
            if (!isNoted(reservation)) {
                return;
            }
            lookAnew();
            for (var mapping : wrong) {
                if (reservation.table.get(mapping.first()) == mapping) {
                    requireExists(
                            mapping.extent(),
                            charged(reservation, mapping.extent().owner()),
                            () -> true);
                    requireMapped(reservation, mapping);
                }
            }
            unknown.removeIf(granule ->
                    reservation.table.get(granule) != null || !truth.isMapped(reservation.addressOf(granule)));
            findRuns(
                    unknown.stream().map(reservation::addressOf).toList(), charged(reservation, reservation.account()));
        } finally {
            reservation.turn.unlock();
        }
    }

    /** A block that is kept still knows who had it last, but is charged as idle. */
    private static Account charged(Reservation reservation, Account account) {
        return reservation.isLive() ? account : account.idle();
    }

    private boolean maps(Reservation reservation, Mapping mapping) {
        var extent = mapping.extent();
        return truth.maps(reservation.addressOf(mapping.first()), extent.bytes, extent.handle);
    }

    private void requireMapped(Reservation reservation, Mapping mapping) {
        if (maps(reservation, mapping)) {
            return;
        }
        long gone = 0;
        for (long granule = mapping.first(); granule < mapping.end(); granule++) {
            gone += truth.isMapped(reservation.addressOf(granule)) ? 0 : engine.granuleBytes;
        }
        find(
                gone > 0 ? FindingDTO.MAPPING_MISSING : FindingDTO.OTHER_HANDLE,
                reservation.addressOf(mapping.first()),
                mapping.extent().handle,
                gone > 0 ? gone : mapping.extent().bytes,
                charged(reservation, reservation.account()));
    }

    // Handles

    private void reconcile(Prefix prefix) {
        for (var extent : looksMissing(prefix.extents())) {
            requireExists(extent, extent.owner(), () -> !prefix.isRetired());
        }
    }

    /** Finds handles that were not there; from now on the device is seen as it is after they were in the books. */
    private List<Extent> looksMissing(List<Extent> extents) {
        var found = extents.stream().filter(this::looksMissing).toList();
        if (!found.isEmpty()) {
            lookAnew();
        }
        return found;
    }

    /** Counts a handle when it is met first. One that was there is not asked for again. */
    private boolean looksMissing(Extent extent) {
        if (Boolean.TRUE.equals(handles.get(extent))) {
            return false;
        }
        boolean there = exists(extent);
        if (handles.put(extent, there) == null) {
            result.handlesChecked++;
        }
        return !there;
    }

    private boolean exists(Extent extent) {
        return truth.exists(extent.handle, extent.bytes);
    }

    /** Reports a handle that was in the books before the last look. If it is there still, it was at that time. */
    private void requireExists(Extent extent, Account account, BooleanSupplier stillInBooks) {
        if (!exists(extent) && stillInBooks.getAsBoolean() && missing.add(extent)) {
            find(FindingDTO.HANDLE_MISSING, 0, extent.handle, extent.bytes, account);
        }
    }

    // Free addresses

    private void reconcileFree() {
        var mapped = new ArrayList<Long>();
        for (var range : engine.addresses.freeRanges()) {
            long bytes = Math.min(range.bytes(), MOST_EMPTY * engine.granuleBytes);
            for (long at = range.start(); at < range.start() + bytes; at += engine.granuleBytes) {
                if (truth.isMapped(at)) {
                    mapped.add(at);
                }
            }
            result.uncheckedBytes += range.bytes() - bytes;
        }
        mapped.removeIf(address -> !engine.addresses.hold(address, engine.granuleBytes));
        try {
            if (!mapped.isEmpty()) {
                lookAnew();
                findRuns(mapped.stream().filter(truth::isMapped).toList(), null);
            }
        } finally {
            mapped.forEach(address -> engine.addresses.give(address, engine.granuleBytes));
        }
    }

    // Findings

    /** Reports unknown mappings, each run of granules as one. */
    private void findRuns(List<Long> addresses, Account account) {
        for (int i = 0, end; i < addresses.size(); i = end) {
            end = i + 1;
            while (end < addresses.size() && addresses.get(end) - addresses.get(end - 1) == engine.granuleBytes) {
                end++;
            }
            find(FindingDTO.UNKNOWN_MAPPING, addresses.get(i), -1, (end - i) * engine.granuleBytes, account);
        }
    }

    private void find(String kind, long address, long handle, long bytes, Account account) {
        result.findingCount++;
        result.differenceBytes += bytes;
        if (result.findings.size() < ReconciliationDTO.MOST_FINDINGS) {
            var finding = new FindingDTO();
            finding.kind = kind;
            finding.address = address;
            finding.handle = handle;
            finding.bytes = bytes;
            finding.account = account == null ? null : account.path();
            result.findings.add(finding);
        }
    }
}
