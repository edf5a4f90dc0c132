package org.granule.vmm;

import java.util.ArrayList;
import java.util.List;
import org.granule.memory.Account;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;

/**
 * The plainest exact ledger of one device: one lock and whole numbers. Whatever takes more back than was charged is
 * noted as a violation.
 */
final class TestLedger {

    final DeviceKey device = new DeviceKey("strict", 0);
    final TestAccount idle;
    private final List<TestAccount> accounts = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private long limit = Long.MAX_VALUE;

    TestLedger() {
        idle = account("idle", Long.MAX_VALUE);
    }

    synchronized TestAccount account(String name, long accountLimit) {
        var account = new TestAccount(name, accountLimit);
        accounts.add(account);
        return account;
    }

    synchronized void limit(long bytes) {
        limit = bytes;
    }

    synchronized long owned() {
        return accounts.stream().mapToLong(account -> account.owned).sum();
    }

    synchronized long mapped() {
        return accounts.stream().mapToLong(account -> account.mapped).sum();
    }

    synchronized long quarantined() {
        return accounts.stream().mapToLong(account -> account.quarantined).sum();
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** What an account holds at one moment. */
    record Figures(long owned, long mapped, long quarantined) {}

    /** One account. */
    final class TestAccount implements Account {

        private final String name;
        private long accountLimit;
        private long owned;
        private long mapped;
        private long quarantined;

        TestAccount(String name, long accountLimit) {
            this.name = name;
            this.accountLimit = accountLimit;
        }

        Figures figures() {
            synchronized (TestLedger.this) {
                return new Figures(owned, mapped, quarantined);
            }
        }

        void limit(long bytes) {
            synchronized (TestLedger.this) {
                accountLimit = bytes;
            }
        }

        @Override
        public DeviceKey device() {
            return device;
        }

        @Override
        public String path() {
            return device + "/" + name;
        }

        @Override
        public void charge(long ownedBytes, long mappedBytes) {
            requireNotNegative(ownedBytes, mappedBytes);
            synchronized (TestLedger.this) {
                requireRoom(ownedBytes, path(), owned, accountLimit);
                requireRoom(ownedBytes, device.toString(), TestLedger.this.owned(), TestLedger.this.limit);
                owned += ownedBytes;
                mapped += mappedBytes;
            }
        }

        private void requireRoom(long asked, String limitedBy, long used, long bound) {
            if (asked > 0 && asked > bound - used) {
                throw new BudgetExceededException(path(), limitedBy, asked, used, bound, "no room in " + limitedBy);
            }
        }

        @Override
        public void refund(long ownedBytes, long mappedBytes) {
            requireNotNegative(ownedBytes, mappedBytes);
            synchronized (TestLedger.this) {
                if (ownedBytes > owned || mappedBytes > mapped) {
                    violations.add("refund of " + ownedBytes + " and " + mappedBytes + " from " + name + " with "
                            + owned + " and " + mapped);
                }
                owned -= ownedBytes;
                mapped -= mappedBytes;
            }
        }

        @Override
        public void moveTo(Account target, long ownedBytes, long mappedBytes) {
            synchronized (TestLedger.this) {
                var other = (TestAccount) target;
                if (other == this) {
                    return;
                }
                requireRoom(ownedBytes, other.path(), other.owned, other.accountLimit);
                refund(ownedBytes, mappedBytes);
                other.owned += ownedBytes;
                other.mapped += mappedBytes;
            }
        }

        @Override
        public void quarantine(long ownedBytes) {
            synchronized (TestLedger.this) {
                quarantined += ownedBytes;
                if (quarantined > owned) {
                    violations.add(quarantined + " bytes of " + name + " in quarantine, of " + owned);
                }
            }
        }

        @Override
        public void settle(long ownedBytes) {
            synchronized (TestLedger.this) {
                if (ownedBytes > quarantined) {
                    violations.add("settling " + ownedBytes + " of " + quarantined + " bytes of " + name);
                }
                quarantined -= ownedBytes;
                refund(ownedBytes, 0);
            }
        }

        @Override
        public Account idle() {
            return idle;
        }

        @Override
        public boolean sameLedger(Account other) {
            return other instanceof TestAccount account && account.ledger() == TestLedger.this;
        }

        private TestLedger ledger() {
            return TestLedger.this;
        }

        private static void requireNotNegative(long ownedBytes, long mappedBytes) {
            if (ownedBytes < 0 || mappedBytes < 0) {
                throw new InvalidRequestException("owned " + ownedBytes + ", mapped " + mappedBytes);
            }
        }
    }
}
