package org.granule.governor;

import org.osgi.annotation.versioning.ProviderType;

/** A claim on a budget. It is given back exactly once, whoever closes it and however often. */
@ProviderType
public interface Lease extends AutoCloseable {

    /**
     * Returns what is held.
     *
     * @return bytes, 0 once closed
     */
    long bytes();

    /**
     * Changes what is held; only the difference is claimed or given back.
     *
     * @param bytes the new size, at least 0
     * @throws org.granule.memory.BudgetExceededException when growing would pass a limit; the old size stays
     * @throws org.granule.memory.StaleTokenException when the lease is closed
     */
    void resize(long bytes);

    /** Gives everything back. A second call does nothing. */
    @Override
    void close();
}
