package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BarTest {

    @ParameterizedTest
    @CsvSource({
        "0, 100, '..........    0%'",
        "50, 100, '#####.....   50%'",
        "100, 100, '##########  100%'",
        "150, 100, '#########!  150%'",
        "0, 0, '..........    0%'",
        "1, 0, '#########! >999%'",
    })
    void showsUseAgainstLimit(long used, long limit, String bar) {
        assertThat(Bar.of(used, limit)).isEqualTo(bar);
    }

    @Test
    void isEmptyOnlyWhenNothingIsUsed() {
        assertThat(Bar.of(1, 1L << 40)).isEqualTo("#.........   <1%");
    }

    @Test
    void isFullOnlyWhenNothingIsLeft() {
        long huge = Long.MAX_VALUE - 1;
        assertThat(Bar.of(huge - 1, huge)).isEqualTo("#########.   99%");
        assertThat(Bar.of(huge, huge)).isEqualTo("##########  100%");
    }

    @Test
    void neverCallsAnExcessFull() {
        assertThat(Bar.of(Long.MAX_VALUE - 1, Long.MAX_VALUE - 2)).isEqualTo("#########!  101%");
    }

    @Test
    void saysNothingWithoutALimit() {
        assertThat(Bar.of(5, Long.MAX_VALUE)).isEmpty();
    }
}
