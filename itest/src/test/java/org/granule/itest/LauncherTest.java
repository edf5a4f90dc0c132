package org.granule.itest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What {@code ./granule} promises to scripts. */
class LauncherTest {

    @Test
    void aLineRunsAndItsResultIsPrinted() throws Exception {
        Launcher.Run run = Launcher.run("exec", "lb -s");

        assertThat(run.err()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out().lines().filter(line -> line.contains("|org.granule.")))
                .hasSizeGreaterThanOrEqualTo(7)
                .allSatisfy(line -> assertThat(line).contains("|Active "));
    }

    @Test
    void eachCommandOfALinePrintsItsResult() throws Exception {
        Launcher.Run run = Launcher.run("exec", "granule:providers; granule:ledger");

        assertThat(run.out()).contains("PROVIDER", "host0", "ACCOUNT", "host:0");
        assertThat(run.status()).isZero();
    }

    @Test
    void aLineThatFailsSaysWhyInOneLineAndEndsWithStatus1() throws Exception {
        Launcher.Run run = Launcher.run("exec", "nosuch");

        assertThat(run.err()).isEqualToIgnoringNewLines("granule: Command not found: nosuch");
        assertThat(run.out()).isEmpty();
        assertThat(run.status()).isEqualTo(1);
    }

    @Test
    void commandsAreReadFromStandardInput() throws Exception {
        assertThat(Launcher.runWithInput("echo to the end of the input\n"))
                .satisfies(run -> assertThat(run.out()).contains("to the end of the input"))
                .satisfies(run -> assertThat(run.status()).isZero());
        assertThat(Launcher.runWithInput("exit 3\necho never\n"))
                .satisfies(run -> assertThat(run.out()).doesNotContain("never"))
                .satisfies(run -> assertThat(run.status()).isEqualTo(3));
    }

    @Test
    void anOptionThatDoesNotExistIsRefusedWithTheUsage() throws Exception {
        Launcher.Run run = Launcher.run("--nonsense");

        assertThat(run.err()).contains("Usage: ./granule");
        assertThat(run.status()).isEqualTo(2);
    }
}
