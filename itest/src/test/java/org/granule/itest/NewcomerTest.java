package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The first minutes of somebody who has just built it. */
@Timeout(240)
class NewcomerTest {

    private static final Pattern ALLOCATED =
            Pattern.compile("token (\\d+): 64 MiB at 0x[0-9a-f]+, charged to host:0/tenant-a/shell");

    @Test
    void theShellShowsTriesAndExplains(@TempDir Path folder) throws Exception {
        try (var shell = new Shell(folder)) {
            assertThat(shell.type("granule:providers"))
                    .contains("PROVIDER", "DEVICE", "TENANT", "STATE", "ALLOCATOR", "HEALTH")
                    .containsPattern("(?m)^host0 +host:0 +tenant-a +BOUND +1 +host-vmm #\\d+ +0 +0 +0 +OK$")
                    .containsPattern("(?m)^eager0 +host:0 +tenant-b +BOUND +1 +host-eager #\\d+ +0 +0 +0 +OK$")
                    .contains("the only match");
            assertThat(shell.type("granule:allocators"))
                    .containsPattern("(?m)^\\d+ +host:0 +host-eager +BOUND +0 ")
                    .containsPattern("(?m)^\\d+ +host:0 +host-vmm +BOUND +0 +virtual-\\S+inspection ")
                    .contains("by host0 generation 1", "by eager0 generation 1");
            assertThat(shell.type("granule:devices"))
                    .containsPattern("(?m)^host:0 +host memory +\\S+ [GT]iB +\\S+ [MGT]iB +0 B +0 B +0 B +0 B +-$")
                    .containsPattern("host-vmm #\\d+")
                    .containsPattern("host-eager #\\d+")
                    .contains("1 of 2 cannot be inspected");
            assertThat(shell.type("granule:reconcile host:0"))
                    .contains("host:0: 0 handles and 0 mappings checked, no difference")
                    .containsPattern("host-eager #\\d+ cannot be inspected");
            assertThat(shell.type("granule:ledger"))
                    .containsPattern("(?m)^host:0 +0 B +12 GiB ")
                    .containsPattern("(?m)^  tenant-a +0 B +8 GiB ")
                    .containsPattern("(?m)^  tenant-b +0 B +2 GiB ");

            var allocated = ALLOCATED.matcher(shell.type("granule:allocate host0 64MiB"));
            assertThat(allocated.find()).isTrue();
            var token = allocated.group(1);
            assertThat(shell.type("granule:allocations"))
                    .containsPattern("(?m)^ *" + token + " +ALLOCATION +LIVE +host0 +1 +host:0/tenant-a/shell +64 MiB ")
                    .contains("1 allocation, 64 MiB asked for");
            assertThat(shell.type("granule:ledger host:0/tenant-a/shell"))
                    .containsPattern("(?m)^host:0/tenant-a/shell +64 MiB +unlimited +64 MiB ");
            assertThat(shell.type("granule:release " + token)).contains("released " + token);
            assertThat(shell.type("granule:allocations")).contains("no allocations");
            assertThat(shell.type("granule:release " + token)).contains("G110", token, "was not allocated by hand");

            assertThat(shell.type("granule:allocate eager0 3GiB"))
                    .contains("G100", "host:0/tenant-b/shell asked for 3221225472 bytes", "limit of 2147483648 bytes")
                    .contains("granule:limit host:0/tenant-b 3221225472");
            assertThat(shell.type("granule:explain host:0/tenant-b/shell"))
                    .contains("Refused", "G100", "It would fail now", "granule:limit host:0/tenant-b 3221225472");
            shell.type("granule:limit host:0/tenant-b 3GiB");
            assertThat(shell.type("granule:explain host:0/tenant-b/shell")).contains("would succeed now");
            assertThat(shell.exit("exit 0")).isZero();
        }
    }

    @Test
    void mistakesAreAnsweredWithWhatWouldBeRight(@TempDir Path folder) throws Exception {
        try (var shell = new Shell(folder)) {
            assertThat(shell.type("granule:allocate host0"))
                    .contains("G110", "usage: granule:allocate PROVIDER SIZE")
                    .doesNotContain("\tat ");
            assertThat(shell.type("granule:allocate nosuch 1MiB"))
                    .contains("there is no provider 'nosuch'; known providers: cuda0, eager0, host0");
            assertThat(shell.type("granule:allocate host0 64QiB")).contains("G110", "64QiB");
            assertThat(shell.type("granule:allocate eager0 1MiB --reserve")).contains("G120", "virtual backing");
            assertThat(shell.type("granule:explain host:0/nobody")).contains("G110", "host:0/nobody");
            assertThat(shell.type("granule:ledgre")).contains("granule:ledgre");

            assertThat(shell.type("help granule:ledger"))
                    .contains("shows the accounts of all devices", "scope: granule", "[ACCOUNT]");
            assertThat(shell.type("lb")).contains("Granule API", "Granule governor", "Granule provider");
            assertThat(shell.type("lb | grep Granule").lines())
                    .hasSizeGreaterThanOrEqualTo(7)
                    .allMatch(line -> line.contains("|Active "));
            // Without a GPU the allocators for one wait, and nothing else does.
            assertThat(shell.type("scr:list")
                            .replaceFirst("org\\.granule\\.cuda\\.vmm in bundle .*\\R.*UNSATISFIED REFERENCE", ""))
                    .contains("[org.granule.provider~host0]", "[org.granule.provider~eager0]")
                    .contains("[org.granule.budget~tenant-a]")
                    .doesNotContain("FAILED", "UNSATISFIED");
            assertThat(shell.exit("exit 3")).isEqualTo(3);
        }
    }

    @Test
    void memoryThatIsLeftLiveDoesNotDisturbTheEnd(@TempDir Path folder) throws Exception {
        try (var shell = new Shell(folder)) {
            shell.type("granule:allocate host0 64MiB");
            shell.type("granule:allocate host0 1GiB --reserve --commit 16MiB");
            shell.type("granule:allocate eager0 1MiB");
            assertThat(shell.type("granule:allocations")).contains("3 allocations");
            assertThat(shell.exit("exit 0")).isZero();
        }
    }

    @Test
    void anyCommandRunsFromTheLauncher() throws Exception {
        var found = Launcher.run("exec", "granule:providers host0");
        assertThat(found.err()).isEmpty();
        assertThat(found.out()).contains("host0", "BOUND", "host-vmm");
        assertThat(found.status()).isZero();

        var failed = Launcher.run("exec", "granule:providers nosuch");
        assertThat(failed.err())
                .contains("G110", "there is no provider 'nosuch'")
                .hasLineCount(1);
        assertThat(failed.out()).isEmpty();
        assertThat(failed.status()).isNotZero();

        assertThat(Launcher.run("allocate", "host0").status()).isNotZero();
    }

    @Test
    void aReplayOfFiftyRequestsIsVerifiedAndLeavesNothing() throws Exception {
        var run = Launcher.run("replay", "--limit", "50", "--no-html");

        assertThat(run.status()).isZero();
        assertThat(run.out())
                .containsPattern("requests +50: 50 completed, 0 refused, 0 failed")
                .containsPattern("verified +[\\d,]+ granules \\(every byte\\), 0 wrong bytes")
                .containsPattern("ledger at end +zero");
    }

    @Test
    void aReplayThatCannotRunEndsWithAnErrorStatus() throws Exception {
        var run = Launcher.run("replay", "nosuch.jsonl", "--no-html");

        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains("nosuch.jsonl");
    }
}
