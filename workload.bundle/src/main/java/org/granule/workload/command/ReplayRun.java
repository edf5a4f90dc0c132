package org.granule.workload.command;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.apache.felix.service.command.CommandSession;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.Governor;
import org.granule.memory.ByteSize;
import org.granule.workload.replay.Backing;
import org.granule.workload.replay.DryBacking;
import org.granule.workload.replay.Replay;
import org.granule.workload.replay.ReplayResult;
import org.granule.workload.replay.SessionBacking;
import org.granule.workload.report.HtmlReport;
import org.granule.workload.report.JsonReport;
import org.granule.workload.report.RunInfo;
import org.granule.workload.report.TextSummary;
import org.granule.workload.trace.BadLine;
import org.granule.workload.trace.GeneratedTrace;
import org.granule.workload.trace.TraceReader;
import org.granule.workload.trace.Traces;
import org.osgi.framework.BundleContext;

/** One call of the command: opens what it needs, runs, prints, writes, and says whether all was well. */
final class ReplayRun {

    private static final String ROLE = "replay";
    private static final long DRY_GRANULE_BYTES = 2L << 20;
    private static final int MOST_BAD_LINES_SHOWN = 10;

    private final ReplayOptions options;
    private final CommandSession session;
    private final PrintStream out;
    private final Path json;
    private final Path html;
    private volatile Replay replay;
    private volatile boolean stopped;
    private long badLines;

    ReplayRun(ReplayOptions options, CommandSession session) {
        this.options = options;
        this.session = session;
        this.out = session.getConsole();
        this.json = options.json == null ? null : writable(options.json);
        this.html = options.noHtml ? null : writable(options.html);
    }

    /** Ends the run early. */
    void stop() {
        stopped = true;
        var current = replay;
        if (current != null) {
            current.stop();
        }
    }

    /** Replays on books. */
    void dry() throws IOException {
        long budget = options.budgetOrUnlimited();
        run(new DryBacking(DRY_GRANULE_BYTES, budget), RunInfo.dryRun(budget), () -> -1);
    }

    /** Replays on a provider. */
    void on(BundleContext context, Governor governor, AllocationRegistry registry)
            throws IOException, InterruptedException {
        try (var provider = new ProviderInUse(context, options.provider);
                var memory = provider.open(ROLE);
                var budget = new BudgetForRun(governor, memory.account(), options.budget)) {
            var before = budget.reading();
            if (!before.isZero()) {
                throw new IllegalStateException(memory.account() + " holds " + ByteSize.format(before.ownedBytes())
                        + " before the replay, " + ByteSize.format(before.quarantinedBytes())
                        + " of it in quarantine; it has to be empty, see granule:quarantine");
            }
            var info = new RunInfo(options.provider, provider.mechanism(), options.budgetOrUnlimited(), false);
            run(new SessionBacking(memory, budget::reading), info, () -> provider.driverCalls(registry));
        }
    }

    private void run(Backing backing, RunInfo info, LongSupplier driverCalls) throws IOException {
        ReplayResult result;
        try (var trace = trace();
                var progress = new ProgressLine(session)) {
            long limit = options.limit == null ? Long.MAX_VALUE : options.limit;
            replay = new Replay(trace, limit, backing, options.settings(), driverCalls);
            if (stopped) {
                replay.stop();
            }
            result = replay.run(progress);
        }
        report(info, result);
    }

    private TraceReader trace() {
        if (options.file == null) {
            long requests = options.limit == null ? GeneratedTrace.DEFAULT_REQUESTS : options.limit;
            return new GeneratedTrace(GeneratedTrace.DEFAULT_SEED, (int) Math.min(Integer.MAX_VALUE, requests));
        }
        return Traces.open(resolve(options.file), options.format, options.strict, this::badLine);
    }

    private void badLine(BadLine line) {
        badLines++;
        if (badLines <= MOST_BAD_LINES_SHOWN) {
            out.println("skipped " + line);
        } else if (badLines == MOST_BAD_LINES_SHOWN + 1) {
            out.println("more bad lines are counted and not shown; --strict stops at the first");
        }
    }

    private void report(RunInfo info, ReplayResult result) throws IOException {
        TextSummary.of(info, result).forEach(out::println);
        if (json != null) {
            write(json, new JsonReport(info, result).pretty() + "\n", "result");
        }
        if (html != null) {
            write(html, HtmlReport.page(info, result), "page");
        }
        out.flush();
        if (result.requests() == 0 && !result.interrupted()) {
            throw new IllegalArgumentException(result.trace() + ": has no request");
        }
        if (!result.isGood()) {
            throw new ReplayFailedException(verdict(result));
        }
    }

    private void write(Path file, String text, String what) throws IOException {
        Files.writeString(file, text);
        out.printf("  %-15s %s%n", what, file);
    }

    private static String verdict(ReplayResult result) {
        var ledger = result.ledgerAtEnd();
        return "replay failed: " + result.failed() + " requests failed, " + result.wrongBytes()
                + " wrong bytes, ledger at end "
                + (ledger.isZero() ? "zero" : ByteSize.format(ledger.ownedBytes()) + " owned")
                + result.problems().stream()
                        .findFirst()
                        .map(first -> "; first: " + first)
                        .orElse("");
    }

    /** Found out before a long run, not after it. */
    private Path writable(String name) {
        var file = resolve(name);
        var folder = file.getParent();
        if (folder == null || !Files.isDirectory(folder) || !Files.isWritable(folder) || Files.isDirectory(file)) {
            throw ReplayOptions.misuse("cannot write " + file);
        }
        return file;
    }

    private Path resolve(String name) {
        var folder = session.currentDir();
        return (folder == null ? Path.of("") : folder)
                .resolve(name)
                .toAbsolutePath()
                .normalize();
    }
}
