package org.granule.provider;

import org.osgi.annotation.versioning.ProviderType;

/**
 * One configured provider, also while it has no allocator. A service with the property {@link
 * ExecutionProvider#NAME_PROPERTY}, for operators.
 */
@ProviderType
public interface ProviderStatus {

    /**
     * Describes the provider.
     *
     * @return a copy of its state
     */
    ProviderDTO describe();
}
