package org.granule.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;

/** The names of devices. */
class DeviceKeyTest {

    @Property(tries = 300, seed = "23")
    @Label("A12 the text form round-trips")
    void roundTrip(
            @ForAll @CharRange(from = 'a', to = 'z') @CharRange(from = '0', to = '9') @StringLength(max = 31)
                    String kind,
            @ForAll @IntRange(max = 65_535) int ordinal) {
        var key = new DeviceKey("x" + kind, ordinal);
        assertThat(DeviceKey.parse(key.toString())).isEqualTo(key).isEqualByComparingTo(key);
    }

    @Example
    @Label("A12 two accelerators differ, host and accelerator with one ordinal differ")
    void keysDiffer() {
        var host = new DeviceKey("host", 0);
        var first = new DeviceKey("cuda", 0);
        assertThat(host).isNotEqualTo(first).isNotEqualTo(new DeviceKey("host", 1));
        assertThat(first).isNotEqualTo(new DeviceKey("cuda", 1)).isEqualTo(DeviceKey.parse("cuda:0"));
        assertThat(host.isHost()).isTrue();
        assertThat(first.isHost()).isFalse();
        assertThat(first).isLessThan(new DeviceKey("cuda", 1));
        assertThat(new DeviceKey("cuda", 65_535)).isLessThan(host);
    }

    @Example
    @Label("A12 nonsense is refused")
    void nonsense() {
        String[] texts = {
            "",
            ":",
            "host",
            "host:",
            ":0",
            "host:-1",
            "host:00",
            "host:01",
            "host:65536",
            "host:99999999999",
            "Host:0",
            "host:0 ",
            " host:0",
            "host:0:0",
            "host:1x",
            "0host:1",
            "ho st:0",
            "host;0",
            "höst:0",
            "a".repeat(33) + ":0"
        };
        for (String text : texts) {
            assertThatThrownBy(() -> DeviceKey.parse(text)).as(text).isInstanceOf(InvalidRequestException.class);
        }
        assertThatThrownBy(() -> new DeviceKey("host", -1)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new DeviceKey("host", 65_536)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> new DeviceKey("", 0)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> DeviceKey.parse(null)).isInstanceOf(NullPointerException.class);
    }
}
