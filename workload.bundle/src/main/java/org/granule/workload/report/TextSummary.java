package org.granule.workload.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.granule.memory.ByteSize;
import org.granule.workload.replay.Latencies;
import org.granule.workload.replay.Latencies.Operation;
import org.granule.workload.replay.ReplayResult;
import org.granule.workload.replay.WriteMode;

/** A result in a few lines of at most {@value #COLUMNS} columns. */
public final class TextSummary {

    private static final int COLUMNS = 100;
    private static final String ROW = "  %-15s %s";
    private static final List<Operation> SHOWN =
            List.of(Operation.ALLOCATE, Operation.COMMIT, Operation.SHARE, Operation.ATTACH, Operation.RELEASE);

    private final RunInfo info;
    private final ReplayResult result;
    private final List<String> lines = new ArrayList<>();

    private TextSummary(RunInfo info, ReplayResult result) {
        this.info = info;
        this.result = result;
    }

    /** The lines, without line feeds. */
    public static List<String> of(RunInfo info, ReplayResult result) {
        return new TextSummary(info, result).lines();
    }

    private List<String> lines() {
        var geometry = result.settings().geometry();
        add("Replay of " + result.trace());
        row("on", where());
        row("model", "%s, %s a token", geometry.name(), ByteSize.format(geometry.bytesPerToken()));
        requests();
        checks();
        memory();
        latencies();
        end();
        return lines;
    }

    private String where() {
        var budget = info.budgetBytes() == Long.MAX_VALUE ? "" : ", budget " + ByteSize.format(info.budgetBytes());
        var granules = ByteSize.format(result.granuleBytes()) + " granules" + budget;
        return info.dry()
                ? "nothing: a dry run, books only, " + granules
                : "provider " + info.provider() + ", " + info.mechanism() + ", " + granules;
    }

    private void requests() {
        row(
                "requests",
                "%,d: %,d completed, %,d refused, %,d failed",
                result.requests(),
                result.completed(),
                result.refused(),
                result.failed());
        if (result.preempted() > 0) {
            row("", "%,d times one gave its memory back to let others finish, and started again", result.preempted());
        }
        if (result.interrupted()) {
            row("", "stopped before the end of the trace; %,d had not ended", result.stopped());
        }
        if (result.badLines() > 0) {
            row("", "%,d lines of the trace were skipped", result.badLines());
        }
        result.refusals().stream().limit(1).forEach(this::wrapped);
    }

    private void checks() {
        if (info.dry()) {
            row("verified", "nothing: a dry run has no bytes");
        } else {
            row(
                    "verified",
                    "%,d granules (%s), %,d wrong bytes",
                    result.verifiedGranules(),
                    result.settings().write() == WriteMode.full ? "every byte" : "sparse: one 4 KiB page of each",
                    result.wrongBytes());
        }
        row(
                "prefix hits",
                "%,d of %,d blocks, %.1f %%",
                result.blockHits(),
                result.blocks(),
                100 * result.blockHitRatio());
    }

    private void memory() {
        row("peak owned", "%s, prefixes kept for later included", ByteSize.format(result.peakOwnedBytes()));
        row(
                "peak in use",
                "%s, where whole contexts held alone would take %s%s",
                ByteSize.format(result.peakInUseBytes()),
                ByteSize.format(result.peakNaiveBytes()),
                comparison(result.peakInUseBytes(), result.peakNaiveBytes()));
        row(
                "peak mapped",
                "%s, with %s of it shared at the highest moment",
                ByteSize.format(result.peakMappedBytes()),
                ByteSize.format(result.peakSavedBytes()));
        row("sharing saved", "%s of commits in total", ByteSize.format(result.attachedBytes()));
        row("held / useful", "%.3f on average", result.heldOverUseful());
    }

    private static String comparison(long inUse, long naive) {
        return naive == 0 ? "" : String.format(Locale.ROOT, " (%+.0f %%)", 100.0 * (inUse - naive) / naive);
    }

    private void latencies() {
        if (info.dry()) {
            return;
        }
        add(String.format(ROW, "microseconds", String.format("%10s %10s %10s %12s", "p50", "p99", "max", "count")));
        for (var operation : SHOWN) {
            var summary = result.latencies().get(operation);
            if (summary.count() > 0) {
                row("  " + operation.name().toLowerCase(Locale.ROOT), "%s", latency(summary));
            }
        }
    }

    private static String latency(Latencies.Summary summary) {
        return String.format(
                Locale.ROOT,
                "%,10.1f %,10.1f %,10.1f %,12d",
                summary.p50() / 1e3,
                summary.p99() / 1e3,
                summary.max() / 1e3,
                summary.count());
    }

    private void end() {
        if (result.driverCalls() >= 0) {
            row("driver calls", "%,d", result.driverCalls());
        }
        var ledger = result.ledgerAtEnd();
        row(
                "ledger at end",
                ledger.isZero() ? "zero" : "NOT ZERO: %s owned, %s mapped, %d leases, %s quarantined",
                ByteSize.format(ledger.ownedBytes()),
                ByteSize.format(ledger.mappedBytes()),
                ledger.leases(),
                ByteSize.format(ledger.quarantinedBytes()));
        row(
                "wall time",
                "%.1f s, %d %s, up to %d requests active",
                result.wallSeconds(),
                result.settings().threads(),
                result.settings().threads() == 1 ? "thread" : "threads",
                result.peakActive());
        result.problems().forEach(this::wrapped);
    }

    private void row(String name, String format, Object... values) {
        add(String.format(ROW, name, String.format(Locale.ROOT, format, values)).stripTrailing());
    }

    /** Messages come from elsewhere and can be long; they go on in the next line. */
    private void wrapped(String message) {
        var rest = "! " + message;
        while (rest.length() > COLUMNS - 2) {
            int cut = rest.lastIndexOf(' ', COLUMNS - 2);
            int at = cut > 4 ? cut : COLUMNS - 2;
            add("  " + rest.substring(0, at));
            rest = "  " + rest.substring(at).strip();
        }
        add("  " + rest);
    }

    private void add(String line) {
        lines.add(line.length() <= COLUMNS ? line : line.substring(0, COLUMNS - 1) + "…");
    }
}
