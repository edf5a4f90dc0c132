package org.granule.registry;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.granule.memory.Access;
import org.granule.memory.Account;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.memory.SharedMapping;
import org.granule.memory.Transfer;
import org.granule.memory.VirtualBacking;

/** An allocator with all facets, in the plainest way: a set of granules for each reservation, charged here. */
class PagedAllocator extends EagerAllocator implements VirtualBacking, SharedMapping, Transfer {

    static final long GRANULE = 4096;

    private static final class Pages {
        final Account account;
        final TreeMap<Long, Long> prefixOf = new TreeMap<>();

        Pages(Account account) {
            this.account = account;
        }
    }

    private final Map<Long, Pages> reservations = new HashMap<>();
    private final Map<Long, Long> prefixes = new HashMap<>();
    private long numbers;

    /** Called with the name of each facet's method. */
    volatile Consumer<String> before = method -> {};

    /** Whether answers are null where that is possible. */
    volatile boolean nulls;

    @Override
    public boolean commitsOnDemand() {
        return true;
    }

    @Override
    public Optional<VirtualBacking> virtualBacking() {
        return Optional.of(this);
    }

    @Override
    public Optional<SharedMapping> sharedMapping() {
        return Optional.of(this);
    }

    @Override
    public Optional<Transfer> transfer() {
        return Optional.of(this);
    }

    private void enter(String method) {
        calls.incrementAndGet();
        before.accept(method);
    }

    @Override
    public long allocate(long bytes, long alignment, Account account) {
        return reserve(bytes, alignment, Ranges.of(0, bytes), Extents.WHOLE, account);
    }

    @Override
    public synchronized ReleaseOutcome release(long address, long bytes, long alignment, Account account) {
        enter("release");
        var outcome = super.release(address, bytes, alignment, account);
        if (outcome instanceof Complete) {
            long left = decommitted(address, 0, Long.MAX_VALUE);
            reservations.remove(address);
            return new Complete(left);
        }
        return nulls ? null : outcome;
    }

    @Override
    public long granuleBytes() {
        enter("granuleBytes");
        return GRANULE;
    }

    @Override
    public synchronized long reserve(long bytes, long alignment, Ranges committed, Extents extents, Account account) {
        enter("reserve");
        long charge = committed.granuleUnion(GRANULE);
        account.charge(charge, charge);
        long address;
        try {
            address = super.allocate(bytes, alignment, account);
        } catch (RuntimeException e) {
            account.refund(charge, charge);
            throw e;
        }
        var pages = new Pages(account);
        for (int i = 0; i < committed.count(); i++) {
            for (long at = committed.offset(i) / GRANULE;
                    at * GRANULE < committed.offset(i) + committed.length(i);
                    at++) {
                pages.prefixOf.put(at, 0L);
            }
        }
        reservations.put(address, pages);
        return address;
    }

    @Override
    public void commit(long address, long offset, long length) {
        enter("commit");
        synchronized (this) {
            var pages = reservations.get(address);
            for (long at = offset / GRANULE; at * GRANULE < offset + length; at++) {
                if (!pages.prefixOf.containsKey(at)) {
                    pages.account.charge(GRANULE, GRANULE);
                    pages.prefixOf.put(at, 0L);
                }
            }
        }
    }

    @Override
    public synchronized ReleaseOutcome decommit(long address, long offset, long length) {
        enter("decommit");
        return nulls ? null : outcome.apply(new Complete(decommitted(address, offset, length)));
    }

    private long decommitted(long address, long offset, long length) {
        var pages = reservations.get(address);
        var leaving = pages.prefixOf.subMap(offset / GRANULE, (offset + length - 1) / GRANULE + 1);
        long own = leaving.values().stream().filter(prefix -> prefix == 0).count() * GRANULE;
        long all = leaving.size() * GRANULE;
        leaving.clear();
        pages.account.refund(own, all);
        return all;
    }

    @Override
    public long committedBytes(long address) {
        enter("committedBytes");
        synchronized (this) {
            return reservations.get(address).prefixOf.size() * GRANULE;
        }
    }

    @Override
    public long estimate(Ranges ranges) {
        enter("estimate");
        return ranges.granuleUnion(GRANULE);
    }

    @Override
    public Access access(long address, long offset, long length) {
        enter("access");
        return nulls ? null : Access.READ_WRITE;
    }

    @Override
    public long driverCalls() {
        enter("driverCalls");
        return calls.get();
    }

    @Override
    public synchronized long share(long address, long offset, long length) {
        enter("share");
        prefixes.put(++numbers, length);
        return numbers;
    }

    @Override
    public long price(long prefix, Account account) {
        enter("price");
        return 0;
    }

    @Override
    public synchronized void map(long prefix, long address, long offset) {
        enter("map");
        var pages = reservations.get(address);
        long length = prefixes.get(prefix);
        for (long at = offset; at < offset + length; at += GRANULE) {
            pages.prefixOf.put(at / GRANULE, prefix);
        }
        pages.account.charge(0, length);
    }

    @Override
    public synchronized ReleaseOutcome unmap(long prefix, long address, long offset) {
        enter("unmap");
        if (nulls) {
            return null;
        }
        var given = outcome.apply(new Complete(0));
        return given instanceof Complete ? new Complete(decommitted(address, offset, prefixes.get(prefix))) : given;
    }

    @Override
    public ReleaseOutcome retire(long prefix) {
        enter("retire");
        return nulls ? null : outcome.apply(Complete.NOTHING_UNMAPPED);
    }

    @Override
    public void privatise(long address, long offset, long length) {
        enter("privatise");
    }

    @Override
    public void fill(long address, long bytes, byte value) {
        enter("fill");
    }

    @Override
    public void copy(long target, long source, long bytes) {
        enter("copy");
    }

    @Override
    public void copyIn(long target, MemorySegment source) {
        enter("copyIn");
    }

    @Override
    public void copyOut(MemorySegment target, long source) {
        enter("copyOut");
    }

    @Override
    public void synchronise() {
        enter("synchronise");
    }

    @Override
    public long trim(long bytes) {
        enter("trim");
        return 0;
    }
}
