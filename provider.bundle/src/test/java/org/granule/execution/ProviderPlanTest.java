package org.granule.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.annotation.Annotation;
import org.granule.memory.InvalidRequestException;
import org.junit.jupiter.api.Test;

/** What a configuration may say; whatever is wrong is named. */
class ProviderPlanTest {

    @Test
    void theDefaultFilterIsTheDevice() {
        var plan = ProviderPlan.of(settings("host0", "host:0", "tenant-a", "", 3000));

        assertThat(plan.filter().toString()).contains("(granule.device=host:0)").contains("(!(service.imported=*))");
    }

    @Test
    void anOwnFilterReplacesTheDevice() {
        var plan = ProviderPlan.of(settings("host0", "host:0", "tenant-a", "(granule.mechanism=host-vmm)", 3000));

        assertThat(plan.filter().toString())
                .contains("(granule.mechanism=host-vmm)")
                .contains("(!(service.imported=*))")
                .doesNotContain("granule.device");
    }

    @Test
    void whatIsWrongIsNamed() {
        refused(settings("host 0", "host:0", "tenant-a", "", 3000), "name 'host 0'");
        refused(settings(null, "host:0", "tenant-a", "", 3000), "lacks name");
        refused(settings("host0", "gpu", "tenant-a", "", 3000), "'gpu' is not a device");
        refused(settings("host0", null, "tenant-a", "", 3000), "lacks device");
        refused(settings("host0", "host:0", "", "", 3000), "tenant ''");
        refused(settings("host0", "host:0", "tenant-a", "(granule.mechanism=", 3000), "allocator filter");
        refused(settings("host0", "host:0", "tenant-a", "", -1), "drainMillis -1");
        refused(settings("host0", "host:0", "tenant-a", "", 60_001), "drainMillis 60001");
    }

    private static void refused(ProviderSettings settings, String message) {
        assertThatThrownBy(() -> ProviderPlan.of(settings))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    private static ProviderSettings settings(String name, String device, String tenant, String allocator, long drain) {
        return new ProviderSettings() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String device() {
                return device;
            }

            @Override
            public String tenant() {
                return tenant;
            }

            @Override
            public String allocator() {
                return allocator;
            }

            @Override
            public long drainMillis() {
                return drain;
            }

            @Override
            public long fenceMillis() {
                return 10_000;
            }

            @Override
            public Class<? extends Annotation> annotationType() {
                return ProviderSettings.class;
            }
        };
    }
}
