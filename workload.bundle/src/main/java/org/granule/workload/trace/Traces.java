package org.granule.workload.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Opens trace files. */
public final class Traces {

    /** How much of a file is looked at to guess its format. */
    private static final int PROBE_CHARS = 64 * 1024;

    private Traces() {}

    /**
     * Opens a file.
     *
     * @param file the trace
     * @param format how it is written, or null to guess
     * @param strict whether the first bad line ends the reading with a {@link TraceException}
     * @param onBadLine told of each line that is skipped
     * @throws TraceException when the file cannot be read, or its format not be told
     */
    public static TraceReader open(Path file, TraceFormat format, boolean strict, Consumer<BadLine> onBadLine) {
        try {
            if (Files.isDirectory(file)) {
                throw new TraceException(file + ": is a directory; name a trace file");
            }
            var lines = new BufferedReader(
                    new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8), PROBE_CHARS);
            try {
                var known = format != null ? format : guess(file, lines);
                return new LineTraceReader(file.toString(), known, lines, strict, onBadLine);
            } catch (IOException | RuntimeException e) {
                lines.close();
                throw e;
            }
        } catch (NoSuchFileException e) {
            throw new TraceException(file + ": there is no such file", e);
        } catch (IOException e) {
            throw new TraceException(file + ": cannot be read: " + e.getMessage(), e);
        }
    }

    private static TraceFormat guess(Path file, BufferedReader lines) throws IOException {
        lines.mark(PROBE_CHARS);
        var start = new char[PROBE_CHARS / 2];
        int read = Math.max(0, lines.read(start));
        lines.reset();
        var text = new String(start, 0, read);
        if (text.startsWith("\uFEFF")) {
            text = text.substring(1);
        }
        var first = text.lines().filter(line -> !line.isBlank()).findFirst().orElse("");
        var format = TraceFormat.guess(String.valueOf(file.getFileName()), first);
        if (format == null) {
            throw new TraceException(file + ": cannot tell how it is written; add --format mooncake or --format azure");
        }
        return format;
    }
}
