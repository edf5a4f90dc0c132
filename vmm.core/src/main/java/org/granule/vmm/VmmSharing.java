package org.granule.vmm;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.granule.memory.Access;
import org.granule.memory.Account;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.SharedMapping;
import org.granule.memory.StaleTokenException;
import org.granule.memory.UndoFailedException;

/** Prefixes: handles that outlive the reservation that wrote them, mapped read-only by others. */
final class VmmSharing implements SharedMapping {

    private final Engine engine;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentHashMap<Long, Prefix> prefixes = new ConcurrentHashMap<>();

    VmmSharing(Engine engine) {
        this.engine = engine;
    }

    @Override
    public long share(long address, long offset, long length) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.requireWholeGranules(offset, length);
            if (reservation.extents != Extents.PIECES) {
                throw new InvalidRequestException(
                        "only a reservation that is cut in pieces can be shared; reserve it with Extents.PIECES");
            }
            long from = reservation.firstGranule(offset);
            long to = reservation.endGranule(offset, length);
            var mappings = engine.mapped(reservation, from, to);
            if (mappings.size() != to - from) {
                throw new InvalidRequestException(
                        "offset " + offset + " with " + length + " bytes: only " + mappings.size() + " of "
                                + (to - from) + " granules are committed; commit and write them first");
            }
            var extents = mappings.stream().map(Mapping::extent).toList();
            extents.forEach(Extent::use);
            long prefix = numbers.incrementAndGet();
            prefixes.put(prefix, new Prefix(prefix, extents, reservation.account()));
            return prefix;
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public long price(long prefix, Account account) {
        requireMappable(find(prefix), account);
        return 0;
    }

    @Override
    public void map(long prefix, long address, long offset) {
        var shared = find(prefix);
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            reservation.requireLive();
            requireMappable(shared, reservation.account());
            long length = reservation.sizeOf(shared.extents().size());
            reservation.requireWholeGranules(offset, length);
            long first = reservation.firstGranule(offset);
            if (reservation.table.next(first, first + shared.extents().size()) != null) {
                throw new InvalidRequestException(
                        "offset " + offset + " with " + length + " bytes is committed in part; decommit it first");
            }
            if (!shared.use()) {
                throw ended(prefix);
            }
            reservation.attached();
            var mappings = new ArrayList<Mapping>(shared.extents().size());
            for (var extent : shared.extents()) {
                mappings.add(new Mapping(extent, first + mappings.size(), 1, shared, false));
            }
            try {
                engine.mapper.map(reservation, mappings, Access.READ);
            } catch (RuntimeException e) {
                for (Mapping mapping : mappings) {
                    if (reservation.table.get(mapping.first()) == null
                            && mapping.extent().dropUse()) {
                        engine.memory.give(mapping.extent());
                    }
                }
                throw e;
            }
            reservation.committed.add(offset, offset + length);
        } finally {
            reservation.turn.unlock();
        }
    }

    @Override
    public ReleaseOutcome unmap(long prefix, long address, long offset) {
        try {
            var reservation = engine.live(address);
            reservation.turn.lock();
            try {
                reservation.requireLive();
                var mappings = mappingsOf(prefix, reservation, offset);
                var outcome = engine.mapper.unmap(reservation, mappings, true);
                if (!(outcome instanceof ReleaseOutcome.Failed)) {
                    // Granule by granule: what was privatised between them stays.
                    for (Mapping mapping : mappings) {
                        reservation.committed.remove(
                                reservation.sizeOf(mapping.first()), reservation.sizeOf(mapping.end()));
                    }
                }
                return outcome;
            } finally {
                reservation.turn.unlock();
            }
        } catch (MemoryException e) {
            return new ReleaseOutcome.Failed(e);
        }
    }

    /** Finds the mappings of one attachment; they all came together and go together. */
    private List<Mapping> mappingsOf(long prefix, Reservation reservation, long offset) {
        reservation.requireWholeGranules(offset, engine.granuleBytes);
        long first = reservation.firstGranule(offset);
        var start = reservation.table.get(first);
        if (start == null
                || start.prefix() == null
                || start.prefix().number() != prefix
                || start.extent() != start.prefix().extents().getFirst()) {
            throw new InvalidRequestException("prefix " + prefix + " is not mapped at offset " + offset);
        }
        var mappings = engine.mapped(
                reservation, first, first + start.prefix().extents().size());
        mappings.removeIf(mapping -> mapping.prefix() != start.prefix());
        return mappings;
    }

    @Override
    public ReleaseOutcome retire(long prefix) {
        var shared = prefixes.get(prefix);
        if (shared == null || !shared.retire()) {
            return new ReleaseOutcome.Failed(ended(prefix));
        }
        prefixes.remove(prefix);
        long left = 0;
        MemoryException cause = null;
        for (var extent : shared.extents()) {
            var error = extent.dropUse() ? engine.memory.give(extent) : null;
            if (error != null) {
                left += extent.bytes;
                cause = cause == null ? error : cause;
            }
        }
        return left == 0 ? ReleaseOutcome.Complete.NOTHING_UNMAPPED : new ReleaseOutcome.Quarantined(0, left, cause);
    }

    @Override
    public void privatise(long address, long offset, long length) {
        var reservation = engine.live(address);
        reservation.turn.lock();
        try {
            reservation.requireLive();
            reservation.requireWholeGranules(offset, length);
            var shared = engine.mapped(
                    reservation, reservation.firstGranule(offset), reservation.endGranule(offset, length));
            shared.removeIf(mapping -> !mapping.isReadOnly());
            if (!shared.isEmpty()) {
                privatise(reservation, shared);
            }
        } finally {
            reservation.turn.unlock();
        }
    }

    /** Copies beside the place first, so that the granules are missing only between the last two steps. */
    private void privatise(Reservation reservation, List<Mapping> shared) {
        var own = new ArrayList<Mapping>(shared.size());
        shared.forEach(mapping -> mapping.extent().use());
        try {
            for (Mapping mapping : shared) {
                var copy = engine.memory.take(mapping.extent().bytes, reservation.account());
                own.add(new Mapping(copy, mapping.first(), mapping.count(), null, false));
                copyBeside(reservation.account(), copy, reservation.addressOf(mapping.first()));
            }
            replace(reservation, shared, own);
        } catch (RuntimeException e) {
            throw Engine.notUndone(giveUp(reservation, own), e);
        } finally {
            shared.forEach(mapping -> drop(mapping.extent()));
        }
    }

    /** Gives copies up that are not in their places; returns bytes that could not be given back. */
    private long giveUp(Reservation reservation, List<Mapping> copies) {
        long left = 0;
        for (Mapping mapping : copies) {
            var copy = mapping.extent();
            var there = reservation.table.get(mapping.first());
            // What could not be unmapped beside its place has a use of its own, and goes when that is settled.
            if (there == null || there.extent() != copy) {
                boolean gone = copy.dropUse() && engine.memory.untake(copy, copy.isFresh()) == null;
                left += gone ? 0 : copy.bytes;
            }
        }
        return left;
    }

    /** Puts copies in the places of shared granules, all or none. */
    private void replace(Reservation reservation, List<Mapping> shared, List<Mapping> own) {
        MemoryException error;
        switch (engine.mapper.unmap(reservation, shared, true)) {
            case ReleaseOutcome.Failed failed -> throw failed.cause();
            case ReleaseOutcome.Quarantined left -> error = left.cause();
            case ReleaseOutcome.Complete complete -> {
                try {
                    engine.mapper.map(reservation, own, Access.READ_WRITE);
                    return;
                } catch (MemoryException e) {
                    error = e;
                }
            }
        }
        restore(reservation, shared, error);
        throw error;
    }

    /** Puts shared granules back in their places; fails when one of them cannot be. */
    private void restore(Reservation reservation, List<Mapping> shared, MemoryException error) {
        var back = new ArrayList<>(shared);
        back.removeIf(mapping -> reservation.table.get(mapping.first()) != null);
        back.forEach(mapping -> mapping.extent().use());
        try {
            engine.mapper.map(reservation, back, Access.READ);
        } catch (MemoryException again) {
            error.addSuppressed(again);
            for (Mapping mapping : back) {
                if (reservation.table.get(mapping.first()) == null) {
                    drop(mapping.extent());
                }
            }
        }
        long lost = 0;
        for (Mapping mapping : shared) {
            if (reservation.table.get(mapping.first()) != mapping) {
                long start = reservation.sizeOf(mapping.first());
                reservation.committed.remove(start, start + mapping.extent().bytes);
                lost += mapping.extent().bytes;
            }
        }
        if (lost > 0) {
            throw new UndoFailedException(
                    lost + " shared bytes at 0x" + Long.toHexString(reservation.address) + " could be mapped neither as"
                            + " copies nor as before; they are not committed now: " + error.getMessage(),
                    error);
        }
    }

    private void drop(Extent extent) {
        if (extent.dropUse()) {
            engine.memory.give(extent);
        }
    }

    /** Fills a handle with what is at an address, by mapping it at a place of its own for the time. */
    private void copyBeside(Account account, Extent copy, long source) {
        var beside = engine.reserve(copy.bytes, 1, Extents.WHOLE, false, account);
        beside.turn.lock();
        copy.use();
        try {
            engine.mapper.map(
                    beside,
                    List.of(new Mapping(copy, 0, copy.bytes / engine.granuleBytes, null, false)),
                    Access.READ_WRITE);
            engine.driver.copy(beside.address, source, copy.bytes);
        } finally {
            if (beside.table.get(0) == null) {
                copy.dropUse();
            }
            // What cannot be unmapped is in quarantine, with its own use of the handle; the copy itself is good.
            engine.dissolve(beside);
            beside.turn.unlock();
        }
    }

    /** Lists the prefixes that are not retired. */
    List<Prefix> all() {
        return List.copyOf(prefixes.values());
    }

    private Prefix find(long prefix) {
        var shared = prefixes.get(prefix);
        if (shared == null) {
            throw ended(prefix);
        }
        return shared;
    }

    private static StaleTokenException ended(long prefix) {
        return new StaleTokenException("prefix " + prefix + " was retired or never made");
    }

    private static void requireMappable(Prefix prefix, Account account) {
        if (!prefix.account().sameLedger(account)) {
            throw new NotSupportedException("a prefix of " + prefix.account().path() + " on "
                    + prefix.account().device()
                    + " cannot be mapped for " + account.path() + " on " + account.device()
                    + ": another device or ledger; make a private copy");
        }
    }
}
