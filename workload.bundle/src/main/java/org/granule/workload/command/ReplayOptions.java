package org.granule.workload.command;

import java.io.PrintStream;
import java.util.Arrays;
import org.granule.memory.ByteSize;
import org.granule.workload.model.Geometry;
import org.granule.workload.replay.ReplaySettings;
import org.granule.workload.replay.WriteMode;
import org.granule.workload.trace.TraceFormat;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What can be said to {@code granule:replay}. */
@Command(
        name = "granule:replay",
        sortOptions = false,
        usageHelpWidth = 100,
        description = {
            "Serves the requests of a trace from a provider's memory and checks every byte and every count.",
            "Without FILE it makes a trace of its own, the same at every run."
        })
final class ReplayOptions {

    @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = "A trace, Mooncake JSONL or Azure CSV.")
    String file;

    @Option(names = "--format", paramLabel = "FORMAT", description = "mooncake or azure; guessed when not given.")
    TraceFormat format;

    @Option(names = "--strict", description = "Stop at the first bad line instead of skipping it.")
    boolean strict;

    @Option(names = "--limit", paramLabel = "N", description = "Replay the first N requests only.")
    Long limit;

    @Option(names = "--model", paramLabel = "NAME", description = "Qwen2.5-0.5B (default) or Llama-3-8B.")
    String model;

    @Option(
            names = "--bytes-per-token",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Size of a token's keys and values, such as 12KiB, for any other model.")
    Long bytesPerToken;

    @Option(
            names = "--provider",
            paramLabel = "NAME",
            defaultValue = "host0",
            description = "Whose memory to use (default: ${DEFAULT-VALUE}).")
    String provider;

    @Option(
            names = "--budget",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Limit for the run, such as 8GiB; the limit before is put back at its end.")
    Long budget;

    @Option(
            names = "--retain",
            paramLabel = "N",
            defaultValue = "128",
            converter = RetainConverter.class,
            description = "Prefix blocks to keep after their last user, or 'all' (default: ${DEFAULT-VALUE}).")
    long retain;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "2",
            description = "Worker threads (default: ${DEFAULT-VALUE}).")
    int threads;

    @Option(
            names = "--active",
            paramLabel = "N",
            defaultValue = "32",
            description = "Requests that are active at once, at most (default: ${DEFAULT-VALUE}).")
    int active;

    @Option(
            names = "--speed",
            paramLabel = "X",
            defaultValue = "0",
            description = "Trace seconds in a second: 1 is trace time, 0 as fast as possible (default: "
                    + "${DEFAULT-VALUE}). Other than at 0, prompts take 1 s for 8,000 tokens and outputs 1 s for 40.")
    double speed;

    @Option(
            names = "--write",
            paramLabel = "MODE",
            defaultValue = "full",
            description = "Write and verify every byte (full), or a 4 KiB page of each granule (sparse); default: "
                    + "${DEFAULT-VALUE}.")
    WriteMode write;

    @Option(names = "--dry", description = "Books only: nothing is mapped, no provider is used, one thread.")
    boolean dry;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the result as JSON.")
    String json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            defaultValue = "granule-replay.html",
            description = "Write the result as a page with charts (default: ${DEFAULT-VALUE}).")
    String html;

    @Option(names = "--no-html", description = "Write no page.")
    boolean noHtml;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    boolean help;

    private ReplayOptions() {}

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException when they make no sense; the message is one line
     */
    static ReplayOptions parse(Object... arguments) {
        var options = new ReplayOptions();
        try {
            // The shell turns what looks like a number into one.
            commandLine(options)
                    .parseArgs(Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new));
            if (!options.help) {
                options.check();
            }
        } catch (CommandLine.ParameterException | org.granule.memory.InvalidRequestException e) {
            throw misuse(e.getMessage());
        }
        return options;
    }

    private void check() {
        if (limit != null && limit < 1) {
            throw misuse("--limit is " + limit + ", not at least 1");
        }
        if (model != null && bytesPerToken != null) {
            throw misuse("--model and --bytes-per-token exclude each other");
        }
        if (file == null && format != null) {
            throw misuse("--format goes with FILE");
        }
        try {
            settings();
        } catch (IllegalArgumentException e) {
            throw misuse(e.getMessage());
        }
    }

    /** A dry run has one thread: its counts are then those of the trace, at every run. */
    ReplaySettings settings() {
        return new ReplaySettings(geometry(), retain, dry ? 1 : threads, active, speed, write);
    }

    private Geometry geometry() {
        if (bytesPerToken != null) {
            return Geometry.custom(bytesPerToken);
        }
        return model == null ? Geometry.standard() : Geometry.named(model);
    }

    long budgetOrUnlimited() {
        return budget == null ? Long.MAX_VALUE : budget;
    }

    static void printHelp(PrintStream out) {
        commandLine(new ReplayOptions()).usage(out, Ansi.OFF);
    }

    private static CommandLine commandLine(ReplayOptions options) {
        return new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true);
    }

    static IllegalArgumentException misuse(String message) {
        var line = message.lines().findFirst().orElse("");
        return new IllegalArgumentException(line + " (granule:replay --help lists what there is)");
    }

    /** Sizes with units. */
    static final class SizeConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return ByteSize.parse(value);
        }
    }

    /** A number or {@code all}. */
    static final class RetainConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            if (value.equalsIgnoreCase("all")) {
                return Long.MAX_VALUE;
            }
            try {
                return Long.parseLong(value);
            } catch (NumberFormatException e) {
                throw new CommandLine.TypeConversionException("'" + value + "' is not a number of blocks or 'all'");
            }
        }
    }
}
