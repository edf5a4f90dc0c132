package org.granule.execution;

import java.util.Hashtable;
import java.util.Map;
import org.granule.governor.AllocationRegistry;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;
import org.osgi.service.metatype.annotations.Designate;

/**
 * What a factory configuration makes: a provider, or, while the configuration cannot be one, a status that says why.
 * It never refuses to be activated, since the component runtime would then not look at a corrected configuration.
 */
@Component(
        name = ExecutionProvider.FACTORY_PID,
        service = {},
        immediate = true,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = ProviderSettings.class, factory = true)
public final class ConfiguredProvider {

    private final BundleContext context;
    private final AllocationRegistry registry;
    private final Logger logger;
    private final String pid;
    /** Null while the configuration is refused. */
    private ProviderLife life;
    /** Null while there is a provider. */
    private ServiceRegistration<?> refusal;

    /**
     * Makes the provider.
     *
     * @param context of this bundle
     * @param registry that binds allocators
     * @param logger told of every change of state
     * @param settings from Configuration Admin
     * @param properties the same, with the identity of the configuration
     */
    @Activate
    public ConfiguredProvider(
            BundleContext context,
            @Reference AllocationRegistry registry,
            @Reference(service = LoggerFactory.class) Logger logger,
            ProviderSettings settings,
            Map<String, Object> properties) {
        this.context = context;
        this.registry = registry;
        this.logger = logger;
        this.pid = String.valueOf(properties.get(Constants.SERVICE_PID));
        make(settings);
    }

    private void make(ProviderSettings settings) {
        try {
            var plan = ProviderPlan.of(settings);
            requireNameIsFree(plan.name());
            life = new ProviderLife(context, registry, logger, plan);
        } catch (MemoryException e) {
            logger.error("the configuration {} makes no provider: {}", pid, e.getMessage());
            refuse(e.getMessage());
        }
    }

    private void requireNameIsFree(String name) {
        try {
            var others = context.getServiceReferences(
                    ProviderStatus.class, "(" + ExecutionProvider.NAME_PROPERTY + "=" + name + ")");
            if (!others.isEmpty()) {
                throw new InvalidRequestException("the provider name " + name
                        + " is taken by another configuration; choose another, or update this one when it is free");
            }
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** There may be no name to show, or it is another's: the identity of the configuration is there always. */
    private void refuse(String why) {
        var properties = new Hashtable<String, Object>();
        properties.put(ExecutionProvider.NAME_PROPERTY, pid);
        refusal = context.registerService(ProviderStatus.class, () -> refused(why), properties);
    }

    private ProviderDTO refused(String why) {
        var dto = new ProviderDTO();
        dto.name = pid;
        dto.device = "";
        dto.tenant = "";
        dto.filter = "";
        dto.state = "FAILED";
        dto.reason = why;
        dto.health = "DEGRADED";
        dto.healthReasons.add(why);
        return dto;
    }

    @Modified
    void modified(ProviderSettings settings) {
        if (life != null) {
            life.modify(settings);
        } else {
            refusal.unregister();
            make(settings);
        }
    }

    /** Ends the generation while its allocator still works. */
    @Deactivate
    void deactivate() {
        if (life != null) {
            life.end();
        } else {
            refusal.unregister();
        }
    }
}
