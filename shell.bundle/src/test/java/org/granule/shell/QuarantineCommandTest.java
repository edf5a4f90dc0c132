package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.granule.memory.DriverFaultException;
import org.granule.memory.ReleaseOutcome;
import org.granule.memory.StaleTokenException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class QuarantineCommandTest {

    private final FakeRegistry registry = new FakeRegistry();
    private final QuarantineCommand command = new QuarantineCommand(registry);

    @BeforeEach
    void oneOfTwoIsQuarantined() {
        var left = FakeRegistry.allocation(7, "host0", "host:0/a/kv", "QUARANTINED");
        left.ownedBytes = 4L << 20;
        left.reason = "munmap failed";
        registry.allocations.add(left);
        registry.allocations.add(FakeRegistry.allocation(8, "host0", "host:0/a/kv", "LIVE"));
    }

    @Test
    void listsOnlyWhatIsLeft() {
        assertThat(((Listing<?>) command.quarantine()).table())
                .contains("4 MiB", "    munmap failed")
                .endsWith("1 allocation, 4 MiB still owned; granule:quarantine settle TOKEN tries again");
        registry.allocations.removeFirst();
        assertThat(((Listing<?>) command.quarantine()).table()).isEqualTo("nothing is in quarantine");
    }

    @Test
    void triesAgain() {
        assertThat(((Outcome) command.quarantine("settle", "7")).text()).isEqualTo("released 7, unmapped 4 KiB");
    }

    @Test
    void tellsWhatStaysAndThrowsWhenNothingChanged() {
        var fault = new DriverFaultException(DriverFaultException.Kind.INVALID, "munmap failed");
        registry.settled = new ReleaseOutcome.Quarantined(0, 4096, fault);
        assertThat(((Outcome) command.quarantine("settle", "7")).text())
                .isEqualTo("released 7, but 4 KiB could not be given back and stay charged, see granule:quarantine:"
                        + " G500 munmap failed");
        registry.settled = new ReleaseOutcome.Failed(fault);
        assertThatThrownBy(() -> command.quarantine("settle", "7")).isSameAs(fault);
    }

    @Test
    void refusesWhatItCannotRead() {
        assertThatThrownBy(() -> command.quarantine("settle", "99")).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> command.quarantine("settle", "x")).hasMessageContaining("'x' is not a token");
        assertThatThrownBy(() -> command.quarantine("settle")).hasMessageContaining("usage: granule:quarantine");
        assertThatThrownBy(() -> command.quarantine("retry", "7")).hasMessageContaining("usage: granule:quarantine");
    }
}
