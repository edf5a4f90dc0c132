package org.granule.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The engine on a card. */
@DisplayName("The engine on a card")
public class CudaVmmConformance {

    @Nested
    @DisplayName("A. Ordinary allocation")
    class Ordinary extends OrdinaryConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("B. Lazy backing")
    class Backing extends BackingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("C. Sharing")
    class Sharing extends SharingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("D. Release, failure, quarantine")
    class Release extends ReleaseConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }

        /** Inside a framework there is no class path to start from: the container itself is started and ends. */
        @Override
        void endOfTheProgram(String how) {
            throw new IllegalStateException("replaced by endOfTheContainer");
        }

        @Test
        @DisplayName("D12 the JVM ends with live memory on the card: status 0")
        void endOfTheContainer() throws Exception {
            assertThat(container("granule:allocate cuda0 64MiB; granule:ledger"))
                    .contains("64 MiB")
                    .doesNotContain("Exception");
        }

        @Test
        @DisplayName(
                "D06 a kernel loses the card: no call, no refund; it settles once with its context, and works again")
        void lostByKernel() throws Exception {
            assertThat(container("gpu:lose")).contains("lost: ", "back: ");
        }

        /** Runs commands in a container of its own and returns what it prints. */
        private String container(String line) throws IOException, InterruptedException {
            var jar = System.getProperty("java.class.path");
            assertThat(jar).as("the container's jar").endsWith(".jar").doesNotContain(File.pathSeparator);
            var output = Files.createTempFile("granule", ".out");
            var child = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-Dgranule.exec=" + line,
                            "-Dgosh.home=" + System.getProperty("gosh.home"),
                            "-Dgosh.args=--nointeractive --noshutdown",
                            "-Dorg.jline.terminal.dumb=true",
                            "-jar",
                            jar)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                assertThat(child.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
                var said = Files.readString(output, StandardCharsets.UTF_8);
                assertThat(child.exitValue())
                        .as("its status; it said: %s", said)
                        .isZero();
                return said;
            } finally {
                child.destroyForcibly();
                Files.deleteIfExists(output);
            }
        }
    }
}
