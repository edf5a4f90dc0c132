package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.felix.gogo.runtime.CommandProcessorImpl;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Converter;
import org.apache.felix.service.command.Function;
import org.apache.felix.service.command.Process;
import org.granule.memory.FindingDTO;
import org.granule.memory.InvalidRequestException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The commands in a real Gogo session: what its parser makes of our lines, and what it prints. */
class GogoTest {

    private final FakeGovernor governor = new FakeGovernor();
    private final FakeRegistry registry = new FakeRegistry();
    private final HandCommands hand = new HandCommands();
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private final CommandProcessorImpl processor = new CommandProcessorImpl(null);
    private CommandSession session;

    @BeforeEach
    void openSession() {
        var host0 = new FakeProvider("host0", 1, FakeRegistry.allocator(5, "host-vmm", "BOUND"));
        hand.bindProvider(host0, host0.properties());
        hand.statuses = List.of(host0);
        var look = new OperatorCommands(governor, registry);
        look.statuses = hand.statuses;
        add(look, "allocators", "providers", "candidates", "devices", "ledger", "allocations", "explain");
        add(new LimitCommand(governor), "limit");
        add(new QuarantineCommand(registry), "quarantine");
        add(new ReconcileCommand(registry), "reconcile");
        add(hand, "allocate", "release");
        processor.addConverter(new GranuleConverter());
        governor.add("host:0", 1 << 20, 2 << 20);
        governor.add("host:0/tenant-a", 1 << 20, Long.MAX_VALUE);
        var out = new PrintStream(output, true, StandardCharsets.UTF_8);
        session = processor.createSession(new ByteArrayInputStream(new byte[0]), out, out);
    }

    private void add(Object commands, String... functions) {
        for (var function : functions) {
            processor.addCommand("granule", commands, function);
        }
    }

    @AfterEach
    void closeSession() {
        session.close();
        processor.stop();
    }

    @Test
    void printsTables() throws Exception {
        assertThat(print("ledger")).startsWith("ACCOUNT").contains("#####.....   50%", "  tenant-a");
        assertThat(print("providers host0")).startsWith("provider     host0\n");
    }

    @Test
    void readsPathsAndSizesAsTheyAreTyped() throws Exception {
        assertThat(print("limit host:0/tenant-a 1.5GiB")).contains("limit 1.5 GiB");
        assertThat(print("limit host:0/tenant-a 4096")).contains("limit 4 KiB");
        assertThat(print("limit host:0/tenant-a 007")).contains("limit 7 B");
        assertThat(print("limit host:0/tenant-a unlimited")).contains("limit unlimited");
    }

    @Test
    void readsOptionsAnywhere() throws Exception {
        assertThat(print("allocate --role kv host0 1MiB")).contains("charged to host:0/tenant-a/kv");
        assertThat(print("allocate host0 8MiB --reserve --commit 2MiB --align 4096 -r kv"))
                .contains("8 MiB, 2 MiB of it committed");
        assertThat(print("allocations --tenant tenant-a")).isEqualTo("no allocations");
    }

    @Test
    void releasesWhatAVariableHolds() throws Exception {
        session.execute("x = allocate host0 1MiB");
        assertThat(print("release $x")).startsWith("released ");
    }

    @Test
    void handsListsOn() throws Exception {
        session.put("grep", (Function) (current, words) -> {
            var table = new String(Process.Utils.current().in().readAllBytes(), StandardCharsets.UTF_8);
            return table.lines()
                    .filter(line -> line.contains(words.getFirst().toString()))
                    .toList();
        });
        assertThat(session.execute("ledger | grep tenant-a").toString()).startsWith("[  tenant-a  1 MiB");
        assertThat(session.execute("(ledger) size")).isEqualTo(2);
        assertThat(session.format(session.execute("(ledger) get 1"), Converter.PART)
                        .toString())
                .isEqualTo("host:0/tenant-a");
    }

    @Test
    void printsRowsOfOrdinaryLists() throws Exception {
        var rows = new ArrayList<Object>(governor.ledger());
        assertThat(session.format(rows, Converter.INSPECT).toString().lines()).hasSize(2);
    }

    @Test
    void reconcilesOneOrAllAndFailsWhenSomethingDiffers() throws Exception {
        registry.devices.add(FakeRegistry.device("host:0"));
        registry.devices.add(FakeRegistry.device("host:1"));
        registry.reconciled.add(FakeRegistry.reconciliation("host:0"));
        registry.reconciled.add(FakeRegistry.reconciliation(
                "host:1",
                FakeRegistry.finding(FindingDTO.MAPPING_MISSING, 0x7000, 12, "host:1/a/kv"),
                FakeRegistry.finding(FindingDTO.UNKNOWN_MAPPING, 0x9000, -1, null)));
        assertThat(print("reconcile host:0")).isEqualTo("host:0: 3 handles and 1 mapping checked, no difference");
        assertThat(output.toString(StandardCharsets.UTF_8)).isEmpty();
        for (var command : List.of("reconcile", "reconcile host:1")) {
            assertThatThrownBy(() -> session.execute(command))
                    .isInstanceOf(DifferenceException.class)
                    .hasMessageNotContaining("\n");
        }
        assertThat(output.toString(StandardCharsets.UTF_8).lines())
                .containsSequence(
                        "host:0: 3 handles and 1 mapping checked, no difference",
                        "host:1: 3 handles and 1 mapping checked, 2 differences, 4 MiB",
                        "  mapping missing at 0x7000, 2 MiB, handle 12, host:1/a/kv, host-vmm #55",
                        "  unknown mapping at 0x9000, 2 MiB, nobody is charged, host-vmm #55");
        assertThatThrownBy(() -> session.execute("reconcile host:2"))
                .hasMessageContaining("there is no device 'host:2'; known devices: host:0, host:1");
        assertThatThrownBy(() -> session.execute("reconcile host")).hasMessageContaining("'host' is not a device");
        assertThatThrownBy(() -> session.execute("reconcile a b")).hasMessageContaining("usage: granule:reconcile");
    }

    @Test
    void failsWithOneClearLine() {
        assertThatThrownBy(() -> session.execute("limit host:0 many"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("G110 'many' is not a size")
                .hasMessageNotContaining("\n");
        assertThatThrownBy(() -> session.execute("allocate host9 1MiB")).hasMessageContaining("known providers: host0");
    }

    @Test
    void completesInSessionsThatCan() throws Exception {
        var taught = new ArrayList<String>();
        var arguments = new Arguments(governor, registry, hand);
        arguments.statuses = hand.statuses;
        var completion = new Completion(arguments);
        processor.addCommand(
                "gogo",
                new Object() {
                    @SuppressWarnings("unused")
                    public void complete(String... words) {
                        taught.add(String.join(" ", words));
                    }
                },
                "complete");
        processor.addListener(completion);

        session.execute("ledger");
        assertThat(taught).isEmpty();

        session.put(".completions", new HashMap<>());
        session.execute("ledger");
        assertThat(taught)
                .contains("-c granule:limit -a __granule_arguments", "-c granule:allocate -l reserve")
                .hasSize(Arguments.COMMANDS.size() * 2 + 7);

        session.put(".commandLine", new Line(List.of("granule:limit", ""), 1));
        assertThat(session.execute("__granule_arguments")).isEqualTo(List.of("host:0", "host:0/tenant-a"));

        completion.stop();
        assertThat(session.get("__granule_arguments")).isNull();
    }

    /** What JLine keeps of the line that is being typed. */
    public record Line(List<String> words, int wordIndex) {}

    private String print(String command) throws Exception {
        return session.format(session.execute(command), Converter.INSPECT).toString();
    }
}
