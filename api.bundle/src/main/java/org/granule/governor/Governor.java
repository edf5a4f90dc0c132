package org.granule.governor;

import java.util.List;
import org.granule.memory.Account;
import org.granule.memory.DeviceKey;
import org.osgi.annotation.versioning.ProviderType;

/**
 * The ledger and its limits. For providers and operators; applications see only the account of their
 * session.
 *
 * <p>Accounts form a tree for each device: the device, its tenants, their roles. A limit holds for a node
 * and everything below it. All methods may be called from any thread.
 */
@ProviderType
public interface Governor {

    /**
     * Issues the account of a role.
     *
     * @param device the device
     * @param tenant letters, digits, {@code .}, {@code _} and {@code -}, 1 to 64 characters, not {@code idle}
     * @param role likewise
     * @return the account, the same at every call
     * @throws org.granule.memory.InvalidRequestException when a name has other characters
     */
    Account account(DeviceKey device, String tenant, String role);

    /**
     * Sets a hard limit. A limit below present use revokes nothing and blocks new claims.
     *
     * @param path {@code device}, {@code device/tenant} or {@code device/tenant/role}; a node that does not
     *     exist is made
     * @param bytes at least 0; {@link Long#MAX_VALUE} for none
     * @return how many owned bytes are above the new limit, 0 when none are
     * @throws org.granule.memory.InvalidRequestException when the path or the size is malformed
     */
    long limit(String path, long bytes);

    /**
     * Claims bytes on an account, for memory that is not a session's.
     *
     * @param account an account of this ledger
     * @param bytes at least 0
     * @return a lease that must be closed
     * @throws org.granule.memory.BudgetExceededException when a limit would be passed
     */
    Lease claim(Account account, long bytes);

    /**
     * Records bytes that have been taken already, whatever the limits say. The excess shows as
     * oversubscribed and blocks new claims.
     *
     * @param account an account of this ledger
     * @param bytes at least 0
     * @return a lease that must be closed
     */
    Lease record(Account account, long bytes);

    /**
     * Reads all accounts of a device at one moment: every sum is that of its parts. The axes are counted
     * apart; while memory is on its way between two calls, one may be ahead of another.
     *
     * @return devices first, each followed by what is below it
     */
    List<AccountDTO> ledger();

    /**
     * Returns how often more was refunded than was charged. Each was cut off at zero; any is a defect in an
     * allocator.
     *
     * @return a count since the start
     */
    long alarms();

    /**
     * Says why an account was refused last, who holds what, and what would make it succeed now.
     *
     * @param path an account's path
     * @return lines for people; one line when there was no refusal
     * @throws org.granule.memory.InvalidRequestException when there is no such account
     */
    List<String> explain(String path);
}
