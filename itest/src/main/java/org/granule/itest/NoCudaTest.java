package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import org.granule.governor.AllocatorDTO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;

/** The CUDA allocator where there is no GPU. */
class NoCudaTest extends StageTest {

    private AllocatorDTO unavailable;

    @BeforeEach
    void find() {
        var cuda = stage.registry().allocators().stream()
                .filter(allocator -> "cuda-vmm".equals(allocator.mechanism))
                .toList();
        assertThat(cuda).as("what stands in the list for CUDA").isNotEmpty();
        unavailable = cuda.getFirst();
        assumeTrue("UNAVAILABLE".equals(unavailable.state), "this machine has a GPU");
    }

    @Test
    @DisplayName("the list of allocators says which of driver, version and GPU is missing")
    void isListedWithReason() {
        assertThat(unavailable.device).isEqualTo("cuda");
        assertThat(unavailable.bundle).isEqualTo("org.granule.cuda.vmm");
        assertThat(unavailable.reason).containsAnyOf("no NVIDIA driver", "too old", "no GPU", "Linux on amd64");
    }

    @Test
    @DisplayName("the component waits, and its references name what is missing")
    void componentIsUnsatisfied() {
        var components = stage.service(ServiceComponentRuntime.class);
        var component =
                components.getComponentDescriptionDTO(stage.bundle("org.granule.cuda.vmm"), "org.granule.cuda.vmm");
        assertThat(components.getComponentConfigurationDTOs(component))
                .singleElement()
                .satisfies(configuration -> {
                    assertThat(configuration.state).isEqualTo(ComponentConfigurationDTO.UNSATISFIED_REFERENCE);
                    assertThat(Arrays.stream(configuration.unsatisfiedReferences)
                                    .map(reference -> reference.name))
                            .containsAnyOf("system", "driver", "version", "gpu")
                            .contains("platform");
                });
    }

    @Test
    @DisplayName("nothing else is disturbed")
    void othersWork() {
        assertThat(stage.registry().allocators())
                .filteredOn(allocator -> "host:0".equals(allocator.device))
                .extracting(allocator -> allocator.state)
                .isNotEmpty()
                .doesNotContain("UNAVAILABLE", "UNHEALTHY", "REFUSED");
    }
}
