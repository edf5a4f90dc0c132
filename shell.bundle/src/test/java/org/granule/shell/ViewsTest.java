package org.granule.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.felix.service.command.Converter;
import org.granule.governor.AccountDTO;
import org.granule.memory.DriverFaultException;
import org.granule.memory.FindingDTO;
import org.granule.memory.ReconciliationDTO;
import org.granule.memory.ReleaseOutcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever names and figures come, everything fits a terminal of 100 columns and says what it must. */
class ViewsTest {

    private static final String LONG_NAME = "n".repeat(60) + "-end";
    private static final String LONG_TEXT = "because of this and that, ".repeat(20) + "x".repeat(300);
    private static final long HUGE = Long.MAX_VALUE - 1;

    private final GranuleConverter converter = new GranuleConverter();

    @ParameterizedTest
    @ValueSource(ints = {Converter.INSPECT, Converter.LINE})
    void accountsFit(int level) {
        var account = account();
        fits(converter.format(account, level, null));
        fits(new Listing<>(List.of(account), AccountFace.TREE, "1 account", null).table());
        fits(new Listing<>(List.of(account), AccountFace.FLAT, "1 account", null).table());
    }

    private static AccountDTO account() {
        var account = new FakeGovernor().add("host:65535/" + LONG_NAME + "/" + LONG_NAME, HUGE, 1023L << 50);
        account.mappedBytes = HUGE;
        account.reservedBytes = HUGE;
        account.peakOwnedBytes = HUGE;
        account.quarantinedBytes = HUGE;
        account.leases = HUGE;
        account.refusals = HUGE;
        return account;
    }

    @ParameterizedTest
    @ValueSource(ints = {Converter.INSPECT, Converter.LINE})
    void allocatorsFit(int level) {
        var allocator = FakeRegistry.allocator(Integer.MAX_VALUE, LONG_NAME, "UNHEALTHY");
        allocator.bundle = "org." + LONG_NAME;
        allocator.version = "1.2.3." + LONG_NAME;
        allocator.device = LONG_NAME;
        allocator.facets = LONG_TEXT;
        allocator.ranking = Integer.MIN_VALUE;
        allocator.reason = LONG_TEXT;
        fits(converter.format(allocator, level, null));
        fits(converter.format(new Candidate(LONG_NAME, allocator), level, null));
        fits(new Listing<>(List.of(allocator), AllocatorFace.INSTANCE, "1 allocator", null).table());
        fits(new Listing<>(
                        List.of(new Candidate(LONG_NAME, allocator)), Candidate.View.INSTANCE, "1 candidate", LONG_TEXT)
                .table());
    }

    @ParameterizedTest
    @ValueSource(ints = {Converter.INSPECT, Converter.LINE})
    void providersFit(int level) {
        var provider = new FakeProvider(LONG_NAME, HUGE, FakeRegistry.allocator(HUGE, LONG_NAME, "BOUND")).description;
        provider.tenant = LONG_NAME;
        provider.device = LONG_NAME;
        provider.filter = LONG_TEXT;
        provider.reason = LONG_TEXT;
        provider.state = "DRAINING";
        provider.health = "DEGRADED";
        provider.healthReasons.add(LONG_TEXT);
        provider.liveAllocations = HUGE;
        provider.sessions = Integer.MAX_VALUE;
        provider.pendingReleases = Integer.MAX_VALUE;
        provider.oldestPendingNanos = HUGE;
        provider.candidates.add(FakeRegistry.allocator(HUGE, LONG_NAME, "AVAILABLE"));
        fits(converter.format(provider, level, null));
        fits(new Listing<>(List.of(provider), ProviderFace.INSTANCE, "1 provider", null).table());
    }

    @ParameterizedTest
    @ValueSource(ints = {Converter.INSPECT, Converter.LINE})
    void allocationsFitAndTheirTokensAreWhole(int level) {
        var allocation =
                FakeRegistry.allocation(HUGE, LONG_NAME, "host:65535/" + LONG_NAME + "/" + LONG_NAME, "QUARANTINED");
        allocation.kind = "RESERVATION";
        allocation.generation = HUGE;
        allocation.session = HUGE;
        allocation.address = -1;
        allocation.bytes = 1023L << 50;
        allocation.ownedBytes = 1023L << 50;
        allocation.ageNanos = HUGE;
        allocation.site = LONG_TEXT;
        allocation.reason = LONG_TEXT;
        var texts = List.of(
                converter.format(allocation, level, null),
                new Listing<>(List.of(allocation), AllocationFace.LIVE, "1 allocation", null).table(),
                new Listing<>(List.of(allocation), AllocationFace.QUARANTINED, "1 allocation", null).table());
        for (var text : texts) {
            fits(text);
            assertThat(text).contains(Long.toString(HUGE));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Converter.INSPECT, Converter.LINE})
    void devicesFit(int level) {
        var device = FakeRegistry.device("host:65535", FakeRegistry.allocator(HUGE, LONG_NAME, "BOUND"));
        device.name = LONG_NAME;
        device.inspected = 0;
        device.totalBytes = HUGE;
        device.freeBytes = HUGE;
        device.ledgerOwnedBytes = HUGE;
        device.ledgerMappedBytes = HUGE;
        device.ledgerPooledBytes = HUGE;
        device.ledgerQuarantinedBytes = HUGE;
        device.differenceBytes = 1023L << 50;
        fits(converter.format(device, level, null));
        fits(new Listing<>(List.of(device), DeviceFace.INSTANCE, "1 device", null).table());
    }

    @Test
    void reconciliationSaysWhatLimitsIt() {
        var result = FakeRegistry.reconciliation(
                "host:65535", FakeRegistry.finding(FindingDTO.OTHER_HANDLE, -1, HUGE, LONG_NAME + "/" + LONG_NAME));
        result.findingCount = 7;
        result.ledger = ReconciliationDTO.NOT_COMPARED;
        result.faults.add("host-vmm #5 could not be compared: " + LONG_TEXT);
        result.remarks.add("host-eager #6 cannot be inspected");
        result.quarantinedBytes = HUGE;
        result.uncheckedBytes = HUGE;
        var text = converter.format(new Reconciled(List.of(result)), Converter.INSPECT, null);
        fits(text);
        assertThat(text)
                .contains("other handle at 0xffffffffffffffff", "and 6 differences more", "host-vmm #5 could not be")
                .contains(
                        "host-eager #6 cannot",
                        "not compared with the ledger",
                        "see granule:quarantine",
                        "not looked at");
        result.ledger = ReconciliationDTO.MOVING;
        assertThat(new Reconciled(List.of(result)).text()).contains("it is moving");
        assertThat(new Reconciled(List.of()).text()).startsWith("no devices: ");
        result.findings.clear();
        result.findingCount = 0;
        assertThat(new Reconciled(List.of(result)).isClean()).as("with a fault").isFalse();
    }

    @Test
    void answersFit() {
        var fault = new DriverFaultException(DriverFaultException.Kind.INVALID, LONG_TEXT);
        var answers = List.of(
                new Outcome(HUGE, new ReleaseOutcome.Quarantined(HUGE, HUGE, fault)),
                new HandAllocation(HUGE, LONG_NAME + LONG_NAME, HUGE, 4096, -1),
                new Limit(LONG_NAME + LONG_NAME + LONG_NAME, 4096, HUGE, true),
                new Explanation(LONG_NAME, List.of(LONG_TEXT, "  " + LONG_TEXT)));
        for (var answer : answers) {
            fits(converter.format(answer, Converter.INSPECT, null));
        }
    }

    @Test
    void explanationKeepsItsIndentation() {
        var explanation = new Explanation("host:0", List.of("who holds it:", "  host:0/a  1 GiB"));
        assertThat(converter.format(explanation, Converter.INSPECT, null).toString())
                .isEqualTo("who holds it:\n  host:0/a 1 GiB");
    }

    @Test
    void partIsWhatCommandsTake() {
        assertThat(converter.format(account(), Converter.PART, null).toString()).isEqualTo(account().path);
        var allocation = FakeRegistry.allocation(42, "host0", "host:0/a/kv", "LIVE");
        assertThat(converter.format(allocation, Converter.PART, null).toString())
                .isEqualTo("42");
    }

    @Test
    void leavesOtherThingsToOthers() {
        assertThat(converter.format("text", Converter.INSPECT, null)).isNull();
        assertThat(converter.format(null, Converter.INSPECT, null)).isNull();
        assertThat(converter.convert(String.class, "text")).isNull();
    }

    @Test
    void ledgerIsATree() {
        var governor = new FakeGovernor();
        governor.add("host:0", 3L << 30, 8L << 30);
        governor.add("host:0/tenant-a", 3L << 30, 2L << 30).refusals = 2;
        governor.add("host:0/tenant-a/kv", 3L << 30, Long.MAX_VALUE);
        var text = new Listing<>(governor.ledger(), AccountFace.TREE, "3 accounts", null).table();
        assertThat(text.lines().map(String::stripTrailing))
                .containsExactly(
                        "ACCOUNT     OWNED      LIMIT  USE               MAPPED  RESERVED  PEAK  LEASES",
                        "host:0      3 GiB      8 GiB  ####......   37%     0 B       0 B   0 B       0",
                        "  tenant-a  3 GiB      2 GiB  #########!  150%     0 B       0 B   0 B       0",
                        "    1 GiB above the limit, new claims are refused; 2 claims refused, see granule:explain",
                        "    host:0/tenant-a",
                        "    kv      3 GiB  unlimited                       0 B       0 B   0 B       0");
    }

    private static void fits(CharSequence text) {
        assertThat(text.toString().lines()).isNotEmpty().allSatisfy(line -> assertThat(line)
                .hasSizeLessThanOrEqualTo(Table.WIDTH));
    }
}
