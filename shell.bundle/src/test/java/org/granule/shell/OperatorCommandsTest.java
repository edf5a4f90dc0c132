package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.granule.memory.InvalidRequestException;
import org.granule.provider.ProviderDTO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OperatorCommandsTest {

    private final FakeGovernor governor = new FakeGovernor();
    private final FakeRegistry registry = new FakeRegistry();
    private final OperatorCommands commands = new OperatorCommands(governor, registry);

    @BeforeEach
    void twoProvidersAndThreeAllocations() {
        var vmm = FakeRegistry.allocator(55, "host-vmm", "BOUND");
        var eager = FakeRegistry.allocator(56, "host-eager", "AVAILABLE");
        registry.allocators.addAll(List.of(vmm, eager));
        var host0 = new FakeProvider("host0", 1, vmm);
        host0.description.candidates.add(eager);
        commands.statuses = List.of(new FakeProvider("waits", 0, null), host0);
        governor.add("host:0", 3 << 20, 8 << 20);
        governor.add("host:0/tenant-a", 2 << 20, 4 << 20);
        governor.add("host:0/tenant-a/kv", 2 << 20, Long.MAX_VALUE);
        governor.add("host:0/tenant-ab", 1 << 20, 4 << 20);
        governor.add("host:0/tenant-ab/weights", 1 << 20, Long.MAX_VALUE);
        registry.allocations.add(FakeRegistry.allocation(1, "host0", "host:0/tenant-a/kv", "LIVE"));
        registry.allocations.add(FakeRegistry.allocation(2, "host0", "host:0/tenant-ab/weights", "LIVE"));
        registry.allocations.add(FakeRegistry.allocation(3, "gone", "host:0/tenant-a/kv", "QUARANTINED"));
    }

    @Test
    void listsAllocatorsAndOneInFull() {
        registry.allocators.get(0).reason = "bound by host0";
        assertThat(table(commands.allocators())).contains("host-vmm", "org.granule.host 0.1.0", "bound by host0");
        assertThat(commands.allocators("56")).isSameAs(registry.allocators.get(1));
    }

    @Test
    void saysWhyListsAreEmpty() {
        registry.allocators.clear();
        registry.allocations.clear();
        governor.accounts.clear();
        commands.statuses = List.of();
        assertThat(table(commands.allocators())).startsWith("no allocators: ");
        assertThat(table(commands.providers())).startsWith("no providers: ");
        assertThat(table(commands.candidates())).isEqualTo("no candidates");
        assertThat(table(commands.devices())).startsWith("no devices: ");
        assertThat(table(commands.ledger())).startsWith("no accounts: ");
        assertThat(table(commands.allocations("", "", ""))).isEqualTo("no allocations");
    }

    @Test
    void listsProvidersByNameWithTheirReasons() {
        assertThat(table(commands.providers()).lines().map(line -> line.strip().split(" ")[0]))
                .containsExactly("PROVIDER", "host0", "chosen", "waits", "no");
        assertThat(commands.providers("host0"))
                .isInstanceOfSatisfying(
                        ProviderDTO.class, host0 -> assertThat(host0.name).isEqualTo("host0"));
    }

    @Test
    void listsCandidatesAndWhoHasNone() {
        assertThat(table(commands.candidates()))
                .contains("host-eager")
                .doesNotContain("host-vmm")
                .endsWith("no other allocator matches: waits");
        assertThat(table(commands.candidates("waits"))).isEqualTo("no candidates");
    }

    @Test
    void listsDevicesByTheLedgerAndOneInFull() {
        var device = FakeRegistry.device("host:0", registry.allocators.get(0), registry.allocators.get(1));
        device.name = "host memory";
        device.inspected = 1;
        device.totalBytes = 64L << 30;
        device.ledgerOwnedBytes = 3 << 20;
        device.ownedBytes = 2 << 20;
        registry.devices.add(device);
        assertThat(table(commands.devices()).lines().map(String::strip))
                .containsExactly(
                        "DEVICE  NAME          TOTAL  FREE  OWNED  MAPPED  POOLED  QUARANTINED  DIFFERENCE",
                        "host:0  host memory  64 GiB     -  3 MiB     0 B     0 B          0 B           -",
                        "host-vmm #55, host-eager #56; 1 of 2 cannot be inspected, only the ledger knows what it holds");
        assertThat(commands.devices("host:0")).isSameAs(device);
        assertThat(DeviceFace.INSTANCE.details(device).render())
                .containsPattern("owned +3 MiB by the ledger, 2 MiB by its allocators")
                .containsPattern("difference +not compared yet");
    }

    @Test
    void ledgerOfOneAccountLeavesNeighboursOut() {
        assertThat(table(commands.ledger("host:0/tenant-a")))
                .contains("host:0/tenant-a/kv")
                .doesNotContain("tenant-ab");
    }

    @Test
    void ledgerTellsOfAlarms() {
        governor.alarms = 1;
        assertThat(table(commands.ledger())).contains("ALARM: more was refunded than was charged, 1 time;");
    }

    @Test
    void filtersAllocations() {
        assertThat((Listing<?>) commands.allocations("", "", "")).hasSize(3);
        assertThat((Listing<?>) commands.allocations("host0", "tenant-a", "")).hasSize(1);
        assertThat((Listing<?>) commands.allocations("", "tenant-a", "kv")).hasSize(2);
        assertThat((Listing<?>) commands.allocations("gone", "", "")).hasSize(1);
        assertThat(commands.allocations("", "", "", "2")).isSameAs(registry.allocations.get(1));
        assertThat(table(commands.allocations("", "", ""))).endsWith("3 allocations, 6 MiB asked for");
    }

    @Test
    void showsWhereAllocationsWereMade() {
        registry.allocations.get(0).site = "com.example.Cache.grow(Cache.java:17)";
        assertThat(table(commands.allocations("", "", "")))
                .contains("    made at com.example.Cache.grow(Cache.java:17)");
    }

    @Test
    void explainsWithTheGovernorsWords() {
        governor.explanation = List.of("asked 1 GiB", "release 2 MiB of host:0/tenant-a/kv");
        assertThat(((Explanation) commands.explain("host:0/tenant-a")).lines()).isEqualTo(governor.explanation);
    }

    @Test
    void namesWhatIsKnownWhenANameIsWrong() {
        refused(() -> commands.providers("host9"), "there is no provider 'host9'; known providers: host0, waits");
        refused(() -> commands.candidates("host9"), "there is no provider 'host9'; known providers: host0, waits");
        refused(() -> commands.devices("host:9"), "there is no device 'host:9'; there is none now");
        refused(() -> commands.allocators("9"), "there is no allocator '9'; known allocators: 55, 56");
        refused(() -> commands.allocations("x", "", ""), "no provider 'x'; known providers: gone, host0, waits");
        refused(() -> commands.allocations("", "x", ""), "no tenant 'x'; known tenants: tenant-a, tenant-ab");
        refused(() -> commands.allocations("", "", "x"), "no role 'x'; known roles: kv, weights");
        refused(() -> commands.allocations("", "", "", "9"), "there is no token '9'; known tokens: 1, 2, 3");
        refused(() -> commands.ledger("host:1"), "there is no account 'host:1'; known accounts: host:0, ");
        refused(() -> commands.explain("host:1"), "there is no account 'host:1'");
    }

    @Test
    void saysHowItIsTypedWhenItIsTypedWrongly() {
        refused(commands::explain, "usage: granule:explain ACCOUNT");
        refused(() -> commands.ledger("a", "b"), "usage: granule:ledger [ACCOUNT]");
        refused(() -> commands.allocations("", "", "", "--tenants", "a"), "unknown option '--tenants'; usage: ");
        refused(() -> commands.allocations("", "", "", "x1"), "'x1' is not a token");
    }

    private static void refused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String words) {
        assertThatThrownBy(call)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(words)
                .hasMessageNotContaining("\n");
    }

    private static String table(Object result) {
        return ((Listing<?>) result).table();
    }
}
