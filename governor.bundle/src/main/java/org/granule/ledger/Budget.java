package org.granule.ledger;

import org.granule.governor.Governor;
import org.granule.memory.ByteSize;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.MemoryException;
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
 * A limit from configuration. What is malformed is refused with its reason, and the limit that was set before, if
 * any, stays; a corrected configuration takes effect at once. When the configuration is deleted the limit goes.
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
    /** Whose limit is set; null before a first one was. */
    private String account;

    /**
     * Sets the limit. A malformed one must not throw here: the component runtime would not look at the corrected
     * configuration.
     *
     * @param governor where
     * @param logger told of what is refused
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
    void set(Settings settings) {
        var before = account;
        try {
            governor.limit(require("account", settings.account()), ByteSize.parse(require("limit", settings.limit())));
        } catch (MemoryException e) {
            logger.error(
                    "the budget of {} is refused, {}: {}",
                    settings.account(),
                    before == null ? "no limit is set" : "the limit of " + before + " stays as it was",
                    e.getMessage());
            return;
        }
        account = settings.account();
        if (before != null && !before.equals(account)) {
            governor.limit(before, Long.MAX_VALUE);
        }
    }

    private static String require(String what, String value) {
        if (value == null) {
            throw new InvalidRequestException("the budget's configuration lacks " + what);
        }
        return value;
    }

    @Deactivate
    void deactivate() {
        if (account != null) {
            governor.limit(account, Long.MAX_VALUE);
        }
    }
}
