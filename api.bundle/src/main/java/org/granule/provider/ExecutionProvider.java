package org.granule.provider;

import org.osgi.annotation.versioning.ProviderType;

/**
 * Serves memory of one device to one tenant. Made from a factory configuration {@value #FACTORY_PID}.
 *
 * <p>The service that an application sees is one <em>generation</em>: the provider's life with one
 * allocator. When the allocator goes, the service is unregistered and its sessions end; when another is
 * bound, a new service with the same {@value #NAME_PROPERTY} and the next {@value #GENERATION_PROPERTY}
 * appears. Each bundle sees only its own sessions; they are closed when it stops using the service.
 */
@ProviderType
public interface ExecutionProvider {

    /** The factory PID of providers. */
    String FACTORY_PID = "org.granule.provider";

    /** Service property with the provider's name. */
    String NAME_PROPERTY = "granule.provider";

    /** Service property with the generation, a {@code Long} from 1. */
    String GENERATION_PROPERTY = "granule.generation";

    /** Service property with the tenant whose budget is charged. */
    String TENANT_PROPERTY = "granule.tenant";

    /**
     * Opens a session. Its memory is charged to the account {@code device/tenant/role}.
     *
     * @param role what the memory is for, such as {@code kv} or {@code weights}: letters, digits, {@code .},
     *     {@code _} and {@code -}, 1 to 64 characters
     * @return a session of the calling bundle
     * @throws org.granule.memory.InvalidRequestException when the role has other characters
     * @throws org.granule.memory.ClosedException when this generation has ended
     */
    MemorySession open(String role);

    /**
     * Describes the provider.
     *
     * @return a copy of its state
     */
    ProviderDTO describe();
}
