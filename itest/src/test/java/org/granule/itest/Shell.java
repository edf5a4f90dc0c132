package org.granule.itest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The exported container in a process of its own, driven line by line through its standard input. */
final class Shell implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 60;

    private final Process process;
    private final Writer input;
    private final StringBuilder output = new StringBuilder();
    private int lines;

    Shell(Path folder) throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Dorg.jline.terminal.dumb=true",
                        "-jar",
                        Path.of(System.getProperty("granule.jar")).toRealPath().toString()))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        input = process.outputWriter(StandardCharsets.UTF_8);
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (var reader = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            var buffer = new char[4096];
            for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
                synchronized (output) {
                    output.append(buffer, 0, count);
                    output.notifyAll();
                }
            }
        } catch (IOException e) {
            synchronized (output) {
                output.append(e);
            }
        }
    }

    /** Types a line and returns what is printed for it, without prompts. */
    String type(String line) throws IOException, InterruptedException, TimeoutException {
        lines++;
        // Quoted, so that an echo of the line itself is not taken for its end.
        input.write(line + "\necho \"end of\" " + lines + "\n");
        input.flush();
        return awaitText("end of " + lines).replaceAll("(?m)^g! ", "").strip();
    }

    private String awaitText(String end) throws InterruptedException, TimeoutException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        synchronized (output) {
            int at = output.indexOf(end);
            while (at < 0) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    throw new TimeoutException("'" + end + "' was not printed, only: " + output);
                }
                output.wait(left);
                at = output.indexOf(end);
            }
            var text = output.substring(0, at);
            output.delete(0, at + end.length());
            return text;
        }
    }

    /** Types a last line and returns the exit status. */
    int exit(String line) throws IOException, InterruptedException, TimeoutException {
        input.write(line + "\n");
        input.flush();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new TimeoutException("'" + line + "' did not end the process");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
