package org.granule.bench;

import java.time.Duration;
import java.util.List;
import org.granule.ledger.Ledger;
import org.granule.ledger.LedgerAccount;
import org.granule.memory.DeviceAllocator;
import org.granule.provider.MemorySession;
import org.granule.registry.Registry;

/** An allocator bound as a provider binds it: a real ledger with limits at three levels, a real registry. */
final class Provider implements AutoCloseable {

    private static final long DEVICE_LIMIT = 16L << 30;
    private static final long TENANT_LIMIT = 12L << 30;
    private static final long ROLE_LIMIT = 8L << 30;
    private static final String TENANT = "tenant";
    private static final String ROLE = "role";

    private final Ledger ledger = new Ledger();
    private final Registry registry = new Registry(ledger, List::of, System.err::println);
    private final MemorySession session;
    private final Runnable end;

    Provider(DeviceAllocator allocator) {
        limit(ledger);
        var binding = registry.bind("bench", 1, Framework.register(), allocator, Framework.HOST);
        session = binding.open(TENANT, ROLE);
        end = () -> binding.close(Duration.ofSeconds(1));
    }

    /** Limits an account at its three levels, and returns it. */
    static LedgerAccount limit(Ledger ledger) {
        var path = Framework.HOST.toString();
        ledger.limit(path, DEVICE_LIMIT);
        ledger.limit(path + "/" + TENANT, TENANT_LIMIT);
        ledger.limit(path + "/" + TENANT + "/" + ROLE, ROLE_LIMIT);
        return ledger.account(Framework.HOST, TENANT, ROLE);
    }

    MemorySession session() {
        return session;
    }

    /** The account that the session charges. */
    LedgerAccount account() {
        return ledger.account(Framework.HOST, TENANT, ROLE);
    }

    /** Ends the session, and fails when the ledger shows that something went wrong during the run. */
    @Override
    public void close() {
        session.close();
        end.run();
        registry.close();
        long owned = ledger.ledger().stream()
                .filter(row -> row.path.endsWith("/" + ROLE))
                .mapToLong(row -> row.ownedBytes)
                .sum();
        if (owned != 0 || ledger.alarms() != 0) {
            throw new IllegalStateException(owned + " bytes are charged after the end, " + ledger.alarms() + " alarms");
        }
    }
}
