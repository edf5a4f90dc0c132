package org.granule.itest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs {@code ./granule} as a person would, in a process of its own. */
final class Launcher {

    /** How a run ended. */
    record Run(int status, String out, String err) {}

    private static final Path HOME = Path.of(System.getProperty("granule.home"));

    private Launcher() {}

    /** Runs it with nothing on standard input. */
    static Run run(String... arguments) throws IOException, InterruptedException {
        return runWithInput("", arguments);
    }

    /** Runs it with this text on standard input; a run that takes more than a minute is an error. */
    static Run runWithInput(String input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(HOME.resolve("granule").toRealPath().toString());
        command.addAll(List.of(arguments));
        Path folder = Files.createTempDirectory("granule");
        Path in = Files.writeString(folder.resolve("in"), input);
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(in.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            if (!process.waitFor(1, TimeUnit.MINUTES)) {
                throw new AssertionError(
                        command + " did not end. Its output:\n" + Files.readString(out) + Files.readString(err));
            }
            return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
        } finally {
            process.destroyForcibly();
            for (Path file : List.of(in, out, err, folder)) {
                Files.deleteIfExists(file);
            }
        }
    }
}
