package org.granule.host;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Every size has the smallest class that holds it. */
class SizeClassesTest {

    @Property(seed = "1")
    void aSizeFitsItsClassAndNotTheOneBelow(@ForAll @LongRange(min = 1, max = SizeClasses.LARGEST) long bytes) {
        int sizeClass = SizeClasses.of(bytes);

        assertThat(sizeClass).isBetween(0, SizeClasses.COUNT - 1);
        assertThat(SizeClasses.bytes(sizeClass)).isGreaterThanOrEqualTo(bytes);
        if (sizeClass > 0) {
            assertThat(SizeClasses.bytes(sizeClass - 1)).isLessThan(bytes);
        }
    }

    @Property(seed = "2")
    void atMostAFifthOfABlockIsUnused(
            @ForAll @LongRange(min = SizeClasses.SMALLEST, max = SizeClasses.LARGEST) long bytes) {
        long block = SizeClasses.bytes(SizeClasses.of(bytes));

        assertThat(block - bytes).isLessThan(block / 5 + 1);
    }

    @Test
    void classesAreTheirOwnSize() {
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            assertThat(SizeClasses.of(SizeClasses.bytes(sizeClass))).isEqualTo(sizeClass);
        }
        assertThat(SizeClasses.bytes(SizeClasses.COUNT - 1)).isEqualTo(SizeClasses.LARGEST);
    }
}
