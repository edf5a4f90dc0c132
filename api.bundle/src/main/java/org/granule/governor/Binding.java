package org.granule.governor;

import java.time.Duration;
import org.granule.memory.DeviceKey;
import org.granule.provider.MemorySession;
import org.osgi.annotation.versioning.ProviderType;

/**
 * One allocator, pinned for its whole life. Everything that a session does goes through its binding,
 * which checks identity, ledger and ranges before and after each call of the allocator.
 */
@ProviderType
public interface Binding {

    /**
     * Returns the verified device.
     *
     * @return never null
     */
    DeviceKey device();

    /**
     * Opens a session.
     *
     * @param tenant whose budget is charged
     * @param role what for
     * @return the session
     * @throws org.granule.memory.InvalidRequestException when a name is malformed
     * @throws org.granule.memory.ClosedException when the binding is closing
     */
    MemorySession open(String tenant, String role);

    /**
     * Describes the binding.
     *
     * @return a copy of its state
     */
    BindingDTO describe();

    /**
     * Ends the binding while its allocator still works: refuses new work, waits for operations and fences,
     * releases what lives, waiting for work that is queued on it, and quarantines what cannot be released. A second call waits for the first.
     *
     * @param bound how long to wait for operations and fences in all; memory of what has not ended by then
     *     is quarantined untouched
     * @return owned bytes that are in quarantine now, 0 when everything settled
     */
    long close(Duration bound);
}
