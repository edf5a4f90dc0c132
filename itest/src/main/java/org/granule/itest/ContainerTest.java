package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.test.common.annotation.InjectBundleContext;

/** The container as it comes up, before any configuration. */
class ContainerTest {

    @Test
    void everyBundleOfThePlatformIsActive(@InjectBundleContext BundleContext context) {
        Map<String, Integer> states = Arrays.stream(context.getBundles())
                .filter(bundle -> bundle.getSymbolicName().startsWith("org.granule."))
                .collect(Collectors.toMap(Bundle::getSymbolicName, Bundle::getState));

        assertThat(states)
                .containsKeys(
                        "org.granule.api",
                        "org.granule.governor",
                        "org.granule.host",
                        "org.granule.provider",
                        "org.granule.shell",
                        "org.granule.workload");
        assertThat(states.values()).containsOnly(Bundle.ACTIVE);
    }
}
