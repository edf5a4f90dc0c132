package org.granule.workload.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.granule.workload.model.Geometry;
import org.granule.workload.replay.DryBacking;
import org.granule.workload.replay.Replay;
import org.granule.workload.replay.ReplayResult;
import org.granule.workload.replay.ReplaySettings;
import org.granule.workload.replay.WriteMode;
import org.granule.workload.trace.GeneratedTrace;
import org.junit.jupiter.api.Test;

class ReportsTest {

    private static final RunInfo INFO = new RunInfo("host0", "host-vmm", 8L << 30, false);

    private static ReplayResult result(long budget) {
        var settings = new ReplaySettings(Geometry.standard(), Long.MAX_VALUE, 2, 32, 0, WriteMode.full);
        return new Replay(new GeneratedTrace(1, 100), 100, new DryBacking(2 << 20, budget), settings, () -> -1)
                .run(progress -> {});
    }

    /** Scalars by their path. */
    private static Map<String, String> read(String json) throws IOException {
        var values = new HashMap<String, String>();
        try (var parser = new JsonFactory().createParser(json)) {
            while (parser.nextToken() != null) {
                if (parser.currentToken().isScalarValue()) {
                    values.put(parser.getParsingContext().pathAsPointer().toString(), parser.getText());
                } else if (parser.currentToken() == JsonToken.START_ARRAY) {
                    values.put(parser.getParsingContext().pathAsPointer().toString(), "[]");
                }
            }
        }
        return values;
    }

    @Test
    void jsonHasTheFieldsThatOthersRead() throws IOException {
        var result = result(Long.MAX_VALUE);
        var values = read(new JsonReport(INFO, result).pretty());
        for (var name : List.of(
                "requests",
                "completed",
                "refused",
                "failed",
                "wrongBytes",
                "verifiedGranules",
                "blocks",
                "blockHits",
                "blockHitRatio",
                "peakOwnedBytes",
                "peakNaiveBytes",
                "peakMappedBytes",
                "driverCalls",
                "wallSeconds",
                "latencyNanos/allocate/p50",
                "latencyNanos/allocate/p99",
                "latencyNanos/allocate/max",
                "latencyNanos/allocate/count",
                "latencyNanos/commit/p50",
                "latencyNanos/commit/count",
                "latencyNanos/share/p99",
                "latencyNanos/release/max",
                "ledgerAtEnd/ownedBytes",
                "ledgerAtEnd/mappedBytes",
                "ledgerAtEnd/leases",
                "ledgerAtEnd/quarantinedBytes",
                "mechanism",
                "granuleBytes")) {
            assertTrue(values.containsKey("/" + name), name);
        }
        assertEquals("100", values.get("/requests"));
        assertEquals("100", values.get("/latencyNanos/allocate/count"));
        assertEquals("host-vmm", values.get("/mechanism"));
        assertEquals("8589934592", values.get("/budgetBytes"));
        assertEquals("null", values.get("/retain"), "all is no number");
        assertEquals("[]", values.get("/samples/ownedBytes"));
    }

    @Test
    void pageNeedsNoNetwork() {
        var page = HtmlReport.page(INFO, result(Long.MAX_VALUE));
        assertFalse(Pattern.compile("(src|href|action|data)\\s*=\\s*[\"']?\\s*(https?:)?//")
                .matcher(page)
                .find());
        assertFalse(Pattern.compile("url\\(|@import|fetch\\(|XMLHttpRequest")
                .matcher(page)
                .find());
        assertFalse(page.contains("{{"), "every place is filled");
        assertTrue(page.contains("uPlot"));
        assertTrue(page.contains("\"blockHitRatio\""));
    }

    @Test
    void aNameCannotEndTheScript() {
        var info = new RunInfo("</script><b>", "$1 \\", Long.MAX_VALUE, false);
        var page = HtmlReport.page(info, result(Long.MAX_VALUE));
        assertFalse(page.contains("</script><b>"));
        assertTrue(page.contains("\\u003c/script>"));
    }

    @Test
    void summaryFitsAHundredColumns() {
        for (var result : List.of(result(Long.MAX_VALUE), result(20L << 20))) {
            for (var info : List.of(INFO, RunInfo.dryRun(Long.MAX_VALUE))) {
                var lines = TextSummary.of(info, result);
                assertTrue(lines.stream().allMatch(line -> line.length() <= 100), () -> String.join("\n", lines));
                assertTrue(lines.stream().anyMatch(line -> line.matches("  ledger at end +zero")));
            }
        }
    }
}
