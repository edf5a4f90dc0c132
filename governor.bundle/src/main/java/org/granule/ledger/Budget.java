package org.granule.ledger;

import org.granule.governor.Governor;
import org.granule.memory.ByteSize;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;
import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.Designate;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/**
 * A limit from configuration. A malformed one fails the activation with its reason; a malformed change is refused
 * and the old limit stays. When the configuration is deleted the limit goes.
 */
@Component(
        name = "org.granule.budget",
        service = Budget.class,
        immediate = true,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = Budget.Settings.class, factory = true)
public final class Budget {

    /** Settings of one limit. */
    @ObjectClassDefinition(id = "org.granule.budget", name = "Granule budget")
    @interface Settings {
        /**
         * The account.
         *
         * @return its path
         */
        @AttributeDefinition(
                name = "Account",
                description = "device, device/tenant or device/tenant/role, such as host:0/tenant-a")
        String account();

        /**
         * The hard limit.
         *
         * @return a size
         */
        @AttributeDefinition(
                name = "Limit",
                description = "The most owned bytes: a number with a binary unit, such as 512MiB or 8GiB")
        String limit();
    }

    private final Governor governor;
    private final Logger logger;
    private String account;

    /**
     * Sets the limit.
     *
     * @param governor where
     * @param logger told of a change that is refused
     * @param settings from Configuration Admin
     */
    @Activate
    public Budget(
            @Reference Governor governor, @Reference(service = LoggerFactory.class) Logger logger, Settings settings) {
        this.governor = governor;
        this.logger = logger;
        set(settings);
    }

    @Modified
    void modified(Settings settings) {
        var before = account;
        try {
            set(settings);
        } catch (RuntimeException e) {
            logger.error("the change of the budget of {} is refused, the old one stays: {}", before, e.getMessage());
            return;
        }
        if (!before.equals(account)) {
            governor.limit(before, Long.MAX_VALUE);
        }
    }

    @Deactivate
    void deactivate() {
        governor.limit(account, Long.MAX_VALUE);
    }

    private void set(Settings settings) {
        governor.limit(settings.account(), ByteSize.parse(settings.limit()));
        account = settings.account();
    }
}
