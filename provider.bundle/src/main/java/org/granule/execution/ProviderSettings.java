package org.granule.execution;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** The factory configuration of a provider. */
@ObjectClassDefinition(id = "org.granule.provider", name = "Granule execution provider")
@interface ProviderSettings {
    /**
     * The provider's name.
     *
     * @return unique in the framework
     */
    @AttributeDefinition(name = "Name", description = "Unique name: 1 to 64 letters, digits, '.', '_' or '-'")
    String name();

    /**
     * The device.
     *
     * @return its text form
     */
    @AttributeDefinition(name = "Device", description = "kind:ordinal, such as host:0 or cuda:1")
    String device();

    /**
     * Whose budget is charged.
     *
     * @return a tenant
     */
    @AttributeDefinition(name = "Tenant", description = "Whose budget is charged: letters, digits, '.', '_' or '-'")
    String tenant();

    /**
     * Which allocators may serve.
     *
     * @return a filter, empty for every allocator of the device
     */
    @AttributeDefinition(
            name = "Allocator filter",
            description =
                    "LDAP filter on allocator services, such as (granule.mechanism=host-vmm); empty for any of the device",
            required = false)
    String allocator() default "";

    /**
     * How long the end of a generation may wait.
     *
     * @return milliseconds
     */
    @AttributeDefinition(
            name = "Drain",
            description = "Milliseconds that the end of a generation waits for operations and fences, 0 to 60000")
    long drainMillis() default 3_000;

    /**
     * When a release that waits makes health degrade.
     *
     * @return milliseconds
     */
    @AttributeDefinition(
            name = "Fence deadline",
            description = "Milliseconds after which a release that waits for its fence degrades health, at least 1")
    long fenceMillis() default 10_000;
}
