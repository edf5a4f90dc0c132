package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.granule.memory.InvalidRequestException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LimitCommandTest {

    private final FakeGovernor governor = new FakeGovernor();
    private final LimitCommand command = new LimitCommand(governor);

    @BeforeEach
    void oneTenant() {
        governor.add("host:0", 1L << 30, Long.MAX_VALUE);
        governor.add("host:0/tenant-a", 1L << 30, 4L << 30);
    }

    @Test
    void listsAccountsThatHaveALimit() {
        assertThat(((Listing<?>) command.limit()).table())
                .contains("host:0/tenant-a", "4 GiB")
                .doesNotContain("unlimited");
    }

    @Test
    void showsOne() {
        assertThat(text("host:0/tenant-a")).isEqualTo("host:0/tenant-a: limit 4 GiB, owned 1 GiB, 3 GiB left");
        assertThat(text("host:0")).isEqualTo("host:0: limit unlimited, owned 1 GiB");
    }

    @Test
    void setsOne() {
        assertThat(text("host:0/tenant-a", "2GiB")).isEqualTo("host:0/tenant-a: limit 2 GiB, owned 1 GiB, 1 GiB left");
        assertThat(governor.accounts.get(1).limitBytes).isEqualTo(2L << 30);
        assertThat(text("host:0/tenant-a", "unlimited")).isEqualTo("host:0/tenant-a: limit unlimited, owned 1 GiB");
        assertThat(governor.accounts.get(1).limitBytes).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void saysWhatALimitBelowUseDoes() {
        assertThat(text("host:0/tenant-a", "512MiB"))
                .isEqualTo("host:0/tenant-a: limit 512 MiB, owned 1 GiB, 512 MiB above the limit: nothing is taken"
                        + " away, new claims are refused");
    }

    @Test
    void saysWhenAnAccountIsNew() {
        assertThat(text("host:0/tenat-a", "1GiB")).startsWith("host:0/tenat-a (new account): limit 1 GiB");
    }

    @Test
    void refusesWhatItCannotRead() {
        assertThatThrownBy(() -> command.limit("host:0/new", "2 apples"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'2 apples' is not a size");
        assertThat(governor.accounts).hasSize(2);
        assertThatThrownBy(() -> command.limit("host:0/new"))
                .hasMessageContaining("there is no account 'host:0/new'; known accounts: host:0, host:0/tenant-a");
        assertThatThrownBy(() -> command.limit("host:0", "2", "GiB"))
                .hasMessageContaining("usage: granule:limit [ACCOUNT [SIZE | unlimited]]");
    }

    private String text(String... arguments) {
        return ((Limit) command.limit(arguments)).text();
    }
}
