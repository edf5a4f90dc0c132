package org.granule.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes as people write and read them. */
class ByteSizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "4096, 4096",
        "1B, 1",
        "1K, 1024",
        "1kb, 1024",
        "1KiB, 1024",
        "512MiB, 536870912",
        "1.5 GiB, 1610612736",
        "8G, 8589934592",
        "  2 MiB , 2097152",
        "0.5K, 512",
        "7EiB, 8070450532247928832",
        "9223372036854775807, 9223372036854775807"
    })
    void reads(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "-1",
                "+1",
                "1.",
                ".5",
                "1.5",
                "0.3K",
                "8EiB",
                "9223372036854775808",
                "1 X",
                "1 iB",
                "K",
                "1KK",
                "0x10",
                "1e3",
                "1,5K",
                "unlimited"
            })
    void refuses(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1, 1 B",
        "1023, 1023 B",
        "1024, 1 KiB",
        "1536, 1.5 KiB",
        "2097152, 2 MiB",
        "8053063680, 7.5 GiB",
        "-2048, -2 KiB",
        "9223372036854775807, unlimited",
        "-9223372036854775808, -8 EiB",
        "10240, 10 KiB"
    })
    void writes(long bytes, String text) {
        assertThat(ByteSize.format(bytes)).isEqualTo(text);
    }

    @Test
    void wholeUnitsRoundTrip() {
        for (int shift = 0; shift < 63; shift++) {
            assertThat(ByteSize.parse(ByteSize.format(1L << shift))).isEqualTo(1L << shift);
        }
    }

    @Test
    void aUnitIsNotLeftForRounding() {
        assertThat(ByteSize.format((1L << 20) - 1)).isEqualTo("1 MiB");
        assertThat(ByteSize.format((1L << 30) - 1)).isEqualTo("1 GiB");
        assertThat(ByteSize.format(Long.MAX_VALUE - 1)).isEqualTo("8 EiB");
    }
}
