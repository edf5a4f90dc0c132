package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ArgumentsTest {

    private final FakeGovernor governor = new FakeGovernor();
    private final FakeRegistry registry = new FakeRegistry();
    private final HandCommands hand = new HandCommands();
    private final Arguments arguments = new Arguments(governor, registry, hand);

    @BeforeEach
    void something() {
        var host0 = new FakeProvider("host0", 1, FakeRegistry.allocator(5, "host-vmm", "BOUND"));
        hand.bindProvider(host0, host0.properties());
        arguments.statuses = List.of(host0, new FakeProvider("eager0", 1, null));
        governor.add("host:0", 0, 1);
        governor.add("host:0/tenant-a", 0, 1);
        governor.add("host:0/tenant-a/kv", 0, 1);
        registry.devices.add(FakeRegistry.device("host:0"));
        registry.allocators.add(FakeRegistry.allocator(5, "host-vmm", "BOUND"));
        registry.allocations.add(FakeRegistry.allocation(7, "host0", "host:0/tenant-a/kv", "QUARANTINED"));
        registry.allocations.add(FakeRegistry.allocation(8, "host0", "host:0/tenant-a/kv", "LIVE"));
    }

    @Test
    void knowsWhatStandsFirst() {
        assertThat(at("providers", "")).containsExactly("eager0", "host0");
        assertThat(at("granule:allocators", "")).containsExactly("5");
        assertThat(at("devices", "")).containsExactly("host:0");
        assertThat(at("granule:reconcile", "")).containsExactly("host:0");
        assertThat(at("limit", "host:0/t")).contains("host:0/tenant-a");
        assertThat(at("allocations", "")).containsExactly("7", "8");
        assertThat(at("allocate", "")).containsExactly("host0");
        assertThat(at("release", "")).isEmpty();
    }

    @Test
    void knowsWhatStandsSecond() {
        assertThat(at("limit", "host:0", "")).containsExactly("unlimited");
        assertThat(at("quarantine", "settle", "")).containsExactly("7");
        assertThat(at("ledger", "host:0", "")).isEmpty();
    }

    @Test
    void knowsWhatFollowsAnOption() {
        assertThat(at("allocations", "--tenant", "")).containsExactly("tenant-a");
        assertThat(at("allocations", "--provider", "")).containsExactly("eager0", "host0");
        assertThat(at("allocate", "--align", "")).isEmpty();
    }

    @Test
    void optionsDoNotCount() {
        assertThat(at("allocate", "--role", "kv", "")).containsExactly("host0");
        assertThat(at("allocate", "--reserve", "")).containsExactly("host0");
        assertThat(at("allocate", "--reserve", "host0", "")).isEmpty();
    }

    private List<String> at(String... words) {
        return arguments.at(List.of(words), words.length - 1);
    }
}
