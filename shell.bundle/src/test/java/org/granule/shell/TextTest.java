package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTest {

    @Test
    void takesOutWhatMovesTheCursor() {
        assertThat(Text.clean("a\u001b[31mred\r\nb\u009b2J")).isEqualTo("a?[31mred? b?2J");
        assertThat(Text.clean(null)).isEmpty();
    }

    @Test
    void shortensInTheMiddle() {
        assertThat(Text.shorten("host:0/tenant-a/kv", 18)).isEqualTo("host:0/tenant-a/kv");
        assertThat(Text.shorten("host:0/tenant-a/kv", 10)).isEqualTo("host..a/kv");
        assertThat(Text.shorten("host", 1)).isEqualTo("h");
    }

    @Test
    void wrapsAtBlanksAndCutsOnlyWhatIsTooLong() {
        assertThat(Text.wrap("one two three", 8)).isEqualTo(List.of("one two", "three"));
        assertThat(Text.wrap("a bbbbbbbbbbbb c", 5)).isEqualTo(List.of("a", "bbbbb", "bbbbb", "bb c"));
    }

    @Test
    void countsInSixCharacters() {
        assertThat(Text.count(999_999)).isEqualTo("999999");
        assertThat(Text.count(1_500_000)).isEqualTo("1.5M");
        assertThat(Text.count(Long.MAX_VALUE)).isEqualTo("9.2E");
    }

    @Test
    void writesAges() {
        assertThat(Text.age(300_000_000L)).isEqualTo("0.3 s");
        assertThat(Text.age(90_000_000_000L)).isEqualTo("90 s");
        assertThat(Text.age(3_600_000_000_000L)).isEqualTo("60 min");
        assertThat(Text.age(Long.MAX_VALUE)).isEqualTo("106751 d");
    }
}
