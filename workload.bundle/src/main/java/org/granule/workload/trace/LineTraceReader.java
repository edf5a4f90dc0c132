package org.granule.workload.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/**
 * Reads a trace line by line. Each line is parsed on its own, so that a broken one (an open quote, say) costs
 * nothing but itself.
 */
final class LineTraceReader implements TraceReader {

    private final String name;
    private final String format;
    private final BufferedReader lines;
    private final LineParser parser;
    private final boolean strict;
    private final Consumer<BadLine> onBadLine;
    private long line;
    private long index;
    private long badLines;
    private Request next;

    LineTraceReader(
            String name, TraceFormat format, BufferedReader lines, boolean strict, Consumer<BadLine> onBadLine) {
        this.name = name;
        this.format = format.label();
        this.lines = lines;
        this.parser = format.parser();
        this.strict = strict;
        this.onBadLine = onBadLine;
    }

    @Override
    public boolean hasNext() {
        while (next == null) {
            String text = read();
            if (text == null) {
                return false;
            }
            if (text.isBlank()) {
                continue;
            }
            try {
                next = parser.parse(text, index);
            } catch (BadLineException e) {
                report(new BadLine(name, line, e.getMessage()));
            }
        }
        return true;
    }

    @Override
    public Request next() {
        if (!hasNext()) {
            throw new NoSuchElementException(name + " has ended");
        }
        var request = next;
        next = null;
        index++;
        return request;
    }

    private String read() {
        try {
            String text = lines.readLine();
            line++;
            // Some tools put a byte order mark first; it is no part of the line.
            return line == 1 && text != null && text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (IOException e) {
            throw new TraceException(name + ": cannot be read after line " + line + ": " + e.getMessage(), e);
        }
    }

    private void report(BadLine bad) {
        if (strict) {
            throw new TraceException(bad + " (--strict stops at the first bad line)");
        }
        badLines++;
        onBadLine.accept(bad);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public long badLines() {
        return badLines;
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw new TraceException(name + ": cannot be closed: " + e.getMessage(), e);
        }
    }
}
