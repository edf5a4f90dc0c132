package org.granule.workload.trace;

import java.util.Locale;
import java.util.function.Supplier;

/** How a trace file is written. */
public enum TraceFormat {
    /** JSON lines with prefix block ids, as the Mooncake project publishes them. */
    MOONCAKE(MooncakeParser::new),
    /** Comma-separated lengths, as in Azure's public LLM inference traces. */
    AZURE(AzureParser::new);

    private final Supplier<LineParser> parsers;

    TraceFormat(Supplier<LineParser> parsers) {
        this.parsers = parsers;
    }

    /** The name that people write. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    LineParser parser() {
        return parsers.get();
    }

    /**
     * Guesses from the first line that is not blank, or else from the file's name.
     *
     * @return null when neither tells
     */
    static TraceFormat guess(String fileName, String firstLine) {
        var start = firstLine.strip();
        if (start.startsWith("{")) {
            return MOONCAKE;
        }
        if (start.toUpperCase(Locale.ROOT).startsWith("TIMESTAMP,") || start.matches("\\d{4}-\\d\\d-\\d\\d .*,.*")) {
            return AZURE;
        }
        var lower = fileName.toLowerCase(Locale.ROOT);
        if (lower.endsWith(".jsonl") || lower.endsWith(".json") || lower.endsWith(".ndjson")) {
            return MOONCAKE;
        }
        return lower.endsWith(".csv") ? AZURE : null;
    }
}
