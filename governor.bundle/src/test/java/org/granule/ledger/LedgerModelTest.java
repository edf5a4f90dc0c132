package org.granule.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import org.granule.governor.AccountDTO;
import org.granule.governor.Lease;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;

/** Random trees, limits and operations against plain numbers, every row compared after every step. */
class LedgerModelTest {

    private static final DeviceKey DEVICE = new DeviceKey("fake", 0);

    private static final class Row {
        long owned;
        long mapped;
        long quarantined;
        long leases;
    }

    private record Held(String path, Lease lease) {}

    private static final class Model {
        final Random random;
        final long unit;
        final Ledger ledger = new Ledger();
        final List<LedgerAccount> accounts = new ArrayList<>();
        final Map<String, Row> rows = new LinkedHashMap<>();
        final Map<String, Long> limits = new LinkedHashMap<>();
        final List<Held> leases = new ArrayList<>();
        final Map<String, Long> refusals = new LinkedHashMap<>();
        /** Whether more is refunded as mapped than was charged at times, which is noticed when somebody looks. */
        final boolean exceeds;

        boolean excess;

        Model(long seed, long unit, boolean exceeds) {
            this.exceeds = exceeds;
            this.random = new Random(seed);
            this.unit = unit;
            for (int tenant = 0; tenant <= random.nextInt(3); tenant++) {
                for (int role = 0; role <= random.nextInt(3); role++) {
                    add(ledger.account(DEVICE, "t" + tenant, "r" + role));
                }
            }
            add(ledger.idle(DEVICE));
        }

        private void add(LedgerAccount account) {
            accounts.add(account);
            rows.put(account.path(), new Row());
        }

        private Row row(LedgerAccount account) {
            return rows.get(account.path());
        }

        private long owned(String node) {
            return rows.entrySet().stream()
                    .filter(entry -> isBelow(entry.getKey(), node))
                    .mapToLong(entry -> entry.getValue().owned)
                    .sum();
        }

        private static boolean isBelow(String path, String node) {
            return path.equals(node) || path.startsWith(node + "/");
        }

        /** The lowest node whose limit has no room, of those above a path that are not above another; or null. */
        private String blocking(String path, long bytes, String besides) {
            for (String node = path; node != null; node = above(node)) {
                if (besides != null && isBelow(besides, node)) {
                    return null;
                }
                if (bytes > 0 && bytes > limits.getOrDefault(node, Long.MAX_VALUE) - owned(node)) {
                    return node;
                }
            }
            return null;
        }

        private static String above(String path) {
            int slash = path.lastIndexOf('/');
            return slash < 0 ? null : path.substring(0, slash);
        }

        private LedgerAccount any() {
            return accounts.get(random.nextInt(accounts.size()));
        }

        private long amount() {
            return random.nextInt(4) == 0 ? 0 : random.nextInt(1000) * unit;
        }

        private void attempt(LedgerAccount account, long bytes, String besides, Runnable operation, Runnable model) {
            var blocking = blocking(account.path(), bytes, besides);
            try {
                operation.run();
            } catch (BudgetExceededException e) {
                assertThat(e.limitedBy()).isEqualTo(blocking);
                assertThat(e.account()).isEqualTo(account.path());
                assertThat(e.askedBytes()).isEqualTo(bytes);
                assertThat(e.usedBytes()).isEqualTo(owned(blocking));
                assertThat(e.limitBytes()).isEqualTo(limits.get(blocking));
                refusals.merge(account.path(), 1L, Long::sum);
                return;
            }
            assertThat(blocking).as("who should have refused").isNull();
            model.run();
        }

        void step() {
            var account = any();
            var row = row(account);
            long owned = amount();
            long mapped = amount();
            switch (random.nextInt(10)) {
                case 0, 1 ->
                    attempt(account, owned, null, () -> account.charge(owned, mapped), () -> {
                        row.owned += owned;
                        row.mapped += mapped;
                    });
                case 2, 3 -> {
                    boolean within = !exceeds || random.nextInt(8) > 0;
                    // What leases hold is given back by them.
                    long free = row.owned - row.quarantined - leased(account.path());
                    long o = within ? Math.min(owned, Math.max(0, free)) : owned;
                    long m = within ? Math.min(mapped, row.mapped) : mapped;
                    if (o <= free) {
                        excess |= m > row.mapped;
                        account.refund(o, m);
                        row.owned -= o;
                        row.mapped = Math.max(0, row.mapped - m);
                    }
                }
                case 4, 5 -> {
                    var target = any();
                    long o = Math.min(owned, row.owned - row.quarantined - leased(account.path()));
                    long m = Math.min(mapped, row.mapped);
                    if (target != account && o >= 0) {
                        attempt(target, o, account.path(), () -> account.moveTo(target, o, m), () -> {
                            row.owned -= o;
                            row.mapped -= m;
                            row(target).owned += o;
                            row(target).mapped += m;
                        });
                    }
                }
                case 6 -> limit();
                case 7 -> lease(account, owned);
                case 8 -> {
                    long bytes = Math.min(owned, row.owned - row.quarantined - leased(account.path()));
                    if (bytes >= 0) {
                        account.quarantine(bytes);
                        row.quarantined += bytes;
                    }
                }
                default -> {
                    long bytes = Math.min(owned, row.quarantined);
                    account.settle(bytes);
                    row.quarantined -= bytes;
                    row.owned -= bytes;
                }
            }
        }

        private long leased(String path) {
            return leases.stream()
                    .filter(held -> held.path.equals(path))
                    .mapToLong(held -> held.lease.bytes())
                    .sum();
        }

        private void limit() {
            var path = any().path();
            while (path.endsWith("idle") || path.contains("/") && random.nextBoolean()) {
                path = above(path);
            }
            long bytes = random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextInt(3000) * unit;
            assertThat(ledger.limit(path, bytes)).isEqualTo(Math.max(0, owned(path) - bytes));
            limits.put(path, bytes);
        }

        private void lease(LedgerAccount account, long bytes) {
            if (leases.size() < 4) {
                if (random.nextInt(3) == 0) {
                    leases.add(new Held(account.path(), ledger.record(account, bytes)));
                    row(account).owned += bytes;
                    row(account).leases++;
                } else {
                    attempt(
                            account,
                            bytes,
                            null,
                            () -> leases.add(new Held(account.path(), ledger.claim(account, bytes))),
                            () -> {
                                row(account).owned += bytes;
                                row(account).leases++;
                            });
                }
                return;
            }
            var held = leases.get(random.nextInt(leases.size()));
            var row = rows.get(held.path);
            long before = held.lease.bytes();
            if (random.nextBoolean()) {
                held.lease.close();
                leases.remove(held);
                row.owned -= before;
                row.leases--;
            } else {
                var owner = accounts.stream()
                        .filter(a -> a.path().equals(held.path))
                        .findFirst()
                        .orElseThrow();
                attempt(
                        owner,
                        Math.max(0, bytes - before),
                        null,
                        () -> held.lease.resize(bytes),
                        () -> row.owned += bytes - before);
            }
        }

        void check() {
            for (AccountDTO dto : ledger.ledger()) {
                var below = rows.entrySet().stream()
                        .filter(entry -> isBelow(entry.getKey(), dto.path))
                        .map(Map.Entry::getValue)
                        .toList();
                assertThat(dto.ownedBytes).as(dto.path).isEqualTo(owned(dto.path));
                assertThat(dto.mappedBytes)
                        .as(dto.path)
                        .isEqualTo(below.stream().mapToLong(row -> row.mapped).sum());
                assertThat(dto.quarantinedBytes)
                        .as(dto.path)
                        .isEqualTo(
                                below.stream().mapToLong(row -> row.quarantined).sum());
                assertThat(dto.leases)
                        .as(dto.path)
                        .isEqualTo(below.stream().mapToLong(row -> row.leases).sum());
                long limit = limits.getOrDefault(dto.path, Long.MAX_VALUE);
                assertThat(dto.limitBytes).as(dto.path).isEqualTo(limit);
                assertThat(dto.excessBytes).as(dto.path).isEqualTo(Math.max(0, dto.ownedBytes - limit));
                assertThat(dto.peakOwnedBytes).as(dto.path).isGreaterThanOrEqualTo(dto.ownedBytes);
                assertThat(dto.refusals)
                        .as(dto.path)
                        .isEqualTo(refusals.entrySet().stream()
                                .filter(entry -> isBelow(entry.getKey(), dto.path))
                                .mapToLong(Map.Entry::getValue)
                                .sum());
            }
            assertThat(ledger.alarms() > 0).isEqualTo(excess);
        }
    }

    @Property(tries = 150, seed = "31")
    @Label("E02 E04 E06 E07 E08 ledger = model after every step")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll boolean large) {
        var model = new Model(seed, large ? 1 << 20 : 1, true);
        for (int step = 0; step < 150; step++) {
            model.step();
            model.check();
        }
    }

    @Property(tries = 150, seed = "32")
    @Label("E02 limits stay exact when nobody looks at the ledger in between")
    void unobserved(@ForAll long seed, @ForAll boolean large) {
        var model = new Model(seed, large ? 1 << 20 : 1, false);
        for (int step = 0; step < 400; step++) {
            model.step();
        }
        model.check();
    }
}
