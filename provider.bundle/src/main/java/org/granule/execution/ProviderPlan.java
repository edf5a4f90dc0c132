package org.granule.execution;

import java.time.Duration;
import java.util.regex.Pattern;
import org.granule.memory.DeviceAllocator;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;
import org.osgi.framework.Filter;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;

/**
 * A configuration that was checked.
 *
 * @param name of the provider
 * @param device that its allocator must serve
 * @param tenant whose budget is charged
 * @param filter which allocators may serve
 * @param drain how long the end of a generation may wait
 * @param fenceDeadline when a release that waits degrades health
 */
record ProviderPlan(
        String name, DeviceKey device, String tenant, Filter filter, Duration drain, Duration fenceDeadline) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final long MOST_DRAIN_MILLIS = 60_000;

    /**
     * Checks a configuration.
     *
     * @throws InvalidRequestException when something in it is malformed; the message names it
     */
    static ProviderPlan of(ProviderSettings settings) {
        requireName("name", settings.name());
        requireName("tenant", settings.tenant());
        if (settings.drainMillis() < 0 || settings.drainMillis() > MOST_DRAIN_MILLIS || settings.fenceMillis() < 1) {
            throw new InvalidRequestException("drainMillis " + settings.drainMillis() + " and fenceMillis "
                    + settings.fenceMillis() + ": 0 to " + MOST_DRAIN_MILLIS + ", and at least 1");
        }
        var device = DeviceKey.parse(require("device", settings.device()));
        return new ProviderPlan(
                settings.name(),
                device,
                settings.tenant(),
                filter(settings.allocator(), device),
                Duration.ofMillis(settings.drainMillis()),
                Duration.ofMillis(settings.fenceMillis()));
    }

    /** Remote services are never meant: their addresses mean nothing in this process. */
    private static Filter filter(String own, DeviceKey device) {
        var wanted =
                own == null || own.isBlank() ? "(" + DeviceAllocator.DEVICE_PROPERTY + "=" + device + ")" : own.strip();
        try {
            FrameworkUtil.createFilter(wanted);
            return FrameworkUtil.createFilter(
                    "(&(objectClass=" + DeviceAllocator.class.getName() + ")(!(service.imported=*))" + wanted + ")");
        } catch (InvalidSyntaxException e) {
            throw new InvalidRequestException("allocator filter '" + own + "' is malformed: " + e.getMessage());
        }
    }

    private static void requireName(String what, String name) {
        if (!NAME.matcher(require(what, name)).matches()) {
            throw new InvalidRequestException(what + " '" + name + "' is not 1 to 64 letters, digits, '.', '_' or '-'");
        }
    }

    private static String require(String what, String value) {
        if (value == null) {
            throw new InvalidRequestException("the provider's configuration lacks " + what);
        }
        return value;
    }
}
