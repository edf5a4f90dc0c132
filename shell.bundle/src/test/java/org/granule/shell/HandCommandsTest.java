package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.granule.memory.ClosedException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.ReleaseOutcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HandCommandsTest {

    private final HandCommands commands = new HandCommands();
    private final FakeProvider host0 = new FakeProvider("host0", 1, FakeRegistry.allocator(5, "host-vmm", "BOUND"));

    @BeforeEach
    void oneProviderServesAndOneWaits() {
        commands.bindProvider(host0, host0.properties());
        commands.statuses = List.of(host0, new FakeProvider("waits", 0, null));
    }

    @Test
    void allocatesAndReleases() {
        var made = allocate("host0", "64MiB");
        assertThat(made.text())
                .isEqualTo("token " + made + ": 64 MiB at 0x" + Long.toHexString(made.address())
                        + ", charged to host:0/tenant-a/shell\nrelease it with: granule:release " + made);
        assertThat(((Outcome) commands.release(made.toString())).text())
                .isEqualTo("released " + made + ", unmapped 4 KiB");
        assertThat(commands.tokens()).isEmpty();
    }

    @Test
    void reservesAndCommitsTheStart() {
        var made = (HandAllocation) commands.allocate("kv", "64", true, "4MiB", "host0", "1GiB");
        assertThat(made.text()).contains("1 GiB, 4 MiB of it committed").contains("host:0/tenant-a/kv");
        var bare = (HandAllocation) commands.allocate("kv", "64", true, "", "host0", "1GiB");
        assertThat(bare.text()).contains("1 GiB, 0 B of it committed");
    }

    @Test
    void opensOneSessionForEachRole() {
        allocate("host0", "1MiB");
        allocate("host0", "1MiB");
        commands.allocate("kv", "64", false, "", "host0", "1MiB");
        assertThat(host0.sessions).hasSize(2);
    }

    @Test
    void dropsWhatGoesWithItsProvider() {
        var made = allocate("host0", "1MiB");
        host0.ended = true;
        commands.unbindProvider(host0);
        assertThat(host0.sessions).allMatch(session -> session.closed);
        assertThatThrownBy(() -> commands.release(made.toString()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("was not allocated by hand, or is gone with its provider");
    }

    @Test
    void usesTheNewestGeneration() {
        var next = new FakeProvider("host0", 2, FakeRegistry.allocator(6, "host-vmm", "BOUND"));
        commands.bindProvider(next, next.properties());
        var made = allocate("host0", "1MiB");
        commands.unbindProvider(host0);
        assertThat(commands.tokens()).containsExactly(made.toString());
        assertThat(host0.sessions).isEmpty();
    }

    @Test
    void closesEverySessionWhenItStops() {
        allocate("host0", "1MiB");
        commands.allocate("kv", "64", false, "", "host0", "1MiB");
        commands.stop();
        assertThat(host0.sessions).hasSize(2).allMatch(session -> session.closed);
    }

    @Test
    void keepsATokenThatCouldNotBeReleased() {
        var made = allocate("host0", "1MiB");
        var fault = new DriverFaultException(DriverFaultException.Kind.INVALID, "busy");
        host0.sessions.getFirst().outcome = new ReleaseOutcome.Failed(fault);
        assertThatThrownBy(() -> commands.release(made.toString())).isSameAs(fault);
        assertThat(commands.tokens()).containsExactly(made.toString());
    }

    @Test
    void tellsWhatToReleaseWhenTheTokenIsUnknown() {
        assertThatThrownBy(() -> commands.release("7777777"))
                .hasMessageContaining("token 7777777 was not allocated by hand")
                .hasMessageEndingWith("there is none now");
        var made = allocate("host0", "1MiB");
        assertThatThrownBy(() -> commands.release("7777777")).hasMessageEndingWith("known tokens: " + made);
    }

    @Test
    void tellsWhyAProviderDoesNotServe() {
        assertThatThrownBy(() -> allocate("host9", "1MiB"))
                .hasMessageContaining("there is no provider 'host9'; known providers: host0, waits");
        assertThatThrownBy(() -> allocate("waits", "1MiB"))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("it is WAITING: no allocator serves host:0");
    }

    @Test
    void refusesWhatItCannotRead() {
        assertThatThrownBy(() -> allocate("host0", "lots")).hasMessageContaining("'lots' is not a size");
        assertThatThrownBy(() -> allocate("host0")).hasMessageContaining("usage: granule:allocate PROVIDER SIZE");
        assertThatThrownBy(() -> allocate("host0", "1", "--rol")).hasMessageContaining("unknown option '--rol'");
        assertThatThrownBy(() -> commands.allocate("kv", "64", false, "1MiB", "host0", "2MiB"))
                .hasMessageContaining("--commit needs --reserve");
        assertThatThrownBy(commands::release).hasMessageContaining("usage: granule:release TOKEN");
        assertThatThrownBy(() -> commands.release("all")).hasMessageContaining("'all' is not a token");
        assertThat(host0.sessions).isEmpty();
    }

    private HandAllocation allocate(String... arguments) {
        return (HandAllocation) commands.allocate("shell", "64", false, "", arguments);
    }
}
