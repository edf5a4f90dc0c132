package org.granule.workload.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GeometryTest {

    @Test
    void knowsModelsByNameInAnyCase() {
        assertEquals(12 * 1024, Geometry.named("qwen2.5-0.5b").bytesPerToken());
        assertEquals(128 * 1024, Geometry.named("Llama-3-8B").bytesPerToken());
        assertEquals("Qwen2.5-0.5B", Geometry.standard().name());
    }

    @Test
    void listsModelsWhenOneIsUnknown() {
        var error = assertThrows(IllegalArgumentException.class, () -> Geometry.named("gpt"));
        assertTrue(error.getMessage().contains("Qwen2.5-0.5B (12 KiB a token)"), error.getMessage());
    }

    @Test
    void takesAnySizeFromOneByte() {
        assertEquals(1, Geometry.custom(1).bytesPerToken());
        assertThrows(IllegalArgumentException.class, () -> Geometry.custom(0));
        assertThrows(IllegalArgumentException.class, () -> Geometry.custom(2L << 30));
    }
}
