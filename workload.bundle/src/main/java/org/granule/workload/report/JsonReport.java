package org.granule.workload.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.granule.workload.replay.Latencies;
import org.granule.workload.replay.LedgerReading;
import org.granule.workload.replay.ReplayResult;
import org.granule.workload.replay.Sample;

/** A result as JSON. Sizes in bytes, times in nanoseconds where the name does not say otherwise. */
public final class JsonReport {

    private final RunInfo info;
    private final ReplayResult result;

    public JsonReport(RunInfo info, ReplayResult result) {
        this.info = info;
        this.result = result;
    }

    /** The whole report, for a file. */
    public String pretty() {
        // A line feed on every platform: the same run writes the same text.
        var printer = new DefaultPrettyPrinter().withObjectIndenter(new DefaultIndenter("  ", "\n"));
        return text(printer);
    }

    /** The whole report in one line, for the page. */
    String compact() {
        return text(null);
    }

    private String text(DefaultPrettyPrinter printer) {
        var text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            json.setPrettyPrinter(printer);
            json.writeStartObject();
            setup(json);
            counts(json);
            memory(json);
            latencies(json);
            ledger(json, result.ledgerAtEnd());
            strings(json, "problems", result.problems());
            strings(json, "refusals", result.refusals());
            samples(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private void setup(JsonGenerator json) throws IOException {
        var settings = result.settings();
        json.writeBooleanField("good", result.isGood());
        json.writeStringField("trace", result.trace());
        json.writeStringField("format", result.format());
        json.writeNumberField("badLines", result.badLines());
        json.writeStringField("model", settings.geometry().name());
        json.writeNumberField("bytesPerToken", settings.geometry().bytesPerToken());
        json.writeStringField("provider", info.provider());
        json.writeStringField("account", result.account());
        json.writeStringField("mechanism", info.mechanism());
        json.writeNumberField("granuleBytes", result.granuleBytes());
        json.writeBooleanField("dry", info.dry());
        json.writeStringField("write", info.dry() ? "none" : settings.write().name());
        numberOrNull(json, "budgetBytes", info.budgetBytes());
        numberOrNull(json, "retain", settings.retain());
        json.writeNumberField("threads", settings.threads());
        json.writeNumberField("active", settings.active());
        json.writeNumberField("speed", settings.speed());
    }

    /** No limit is null, not a number with nineteen digits that few JSON readers keep exact. */
    private static void numberOrNull(JsonGenerator json, String name, long value) throws IOException {
        if (value == Long.MAX_VALUE) {
            json.writeNullField(name);
        } else {
            json.writeNumberField(name, value);
        }
    }

    private void counts(JsonGenerator json) throws IOException {
        json.writeNumberField("requests", result.requests());
        json.writeNumberField("completed", result.completed());
        json.writeNumberField("refused", result.refused());
        json.writeNumberField("failed", result.failed());
        json.writeNumberField("stopped", result.stopped());
        json.writeBooleanField("interrupted", result.interrupted());
        json.writeNumberField("preempted", result.preempted());
        json.writeNumberField("tokens", result.tokens());
        json.writeNumberField("wrongBytes", result.wrongBytes());
        json.writeNumberField("writtenGranules", result.writtenGranules());
        json.writeNumberField("verifiedGranules", result.verifiedGranules());
        json.writeNumberField("blocks", result.blocks());
        json.writeNumberField("blockHits", result.blockHits());
        json.writeNumberField("blockHitRatio", result.blockHitRatio());
    }

    private void memory(JsonGenerator json) throws IOException {
        json.writeNumberField("peakOwnedBytes", result.peakOwnedBytes());
        json.writeNumberField("peakInUseBytes", result.peakInUseBytes());
        json.writeNumberField("peakNaiveBytes", result.peakNaiveBytes());
        json.writeNumberField("peakMappedBytes", result.peakMappedBytes());
        json.writeNumberField("peakUsefulBytes", result.peakUsefulBytes());
        json.writeNumberField("peakSavedBytes", result.peakSavedBytes());
        json.writeNumberField("peakActive", result.peakActive());
        json.writeNumberField("attachedBytes", result.attachedBytes());
        json.writeNumberField("heldOverUseful", result.heldOverUseful());
        json.writeNumberField("driverCalls", result.driverCalls());
        json.writeNumberField("wallSeconds", result.wallSeconds());
    }

    private void latencies(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("latencyNanos");
        for (var entry : result.latencies().entrySet()) {
            latency(json, entry.getKey().name().toLowerCase(Locale.ROOT), entry.getValue());
        }
        json.writeEndObject();
    }

    private static void latency(JsonGenerator json, String name, Latencies.Summary summary) throws IOException {
        json.writeObjectFieldStart(name);
        json.writeNumberField("count", summary.count());
        json.writeNumberField("mean", Math.round(summary.mean()));
        json.writeNumberField("p50", summary.p50());
        json.writeNumberField("p90", summary.p90());
        json.writeNumberField("p99", summary.p99());
        json.writeNumberField("p999", summary.p999());
        json.writeNumberField("max", summary.max());
        json.writeEndObject();
    }

    private static void ledger(JsonGenerator json, LedgerReading ledger) throws IOException {
        json.writeObjectFieldStart("ledgerAtEnd");
        json.writeNumberField("ownedBytes", ledger.ownedBytes());
        json.writeNumberField("mappedBytes", ledger.mappedBytes());
        json.writeNumberField("leases", ledger.leases());
        json.writeNumberField("quarantinedBytes", ledger.quarantinedBytes());
        json.writeEndObject();
    }

    private static void strings(JsonGenerator json, String name, List<String> values) throws IOException {
        json.writeArrayFieldStart(name);
        for (var value : values) {
            json.writeString(value);
        }
        json.writeEndArray();
    }

    /** Columns, as chart libraries take them. */
    private void samples(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("samples");
        seconds(json, "seconds", sample -> Math.round(sample.seconds() * 1000) / 1000.0);
        column(json, "ownedBytes", Sample::ownedBytes);
        column(json, "inUseBytes", Sample::inUseBytes);
        column(json, "mappedBytes", Sample::mappedBytes);
        column(json, "naiveBytes", Sample::naiveBytes);
        column(json, "usefulBytes", Sample::usefulBytes);
        column(json, "savedBytes", Sample::savedBytes);
        column(json, "ledgerOwnedBytes", Sample::ledgerOwnedBytes);
        column(json, "active", Sample::active);
        column(json, "waiting", Sample::waiting);
        column(json, "idleBlocks", Sample::idleBlocks);
        column(json, "completed", Sample::completed);
        column(json, "blocks", Sample::blocks);
        column(json, "blockHits", Sample::blockHits);
        json.writeEndObject();
    }

    private void column(JsonGenerator json, String name, ToLongFunction<Sample> value) throws IOException {
        long[] values = result.samples().stream().mapToLong(value).toArray();
        json.writeFieldName(name);
        json.writeArray(values, 0, values.length);
    }

    private void seconds(JsonGenerator json, String name, ToDoubleFunction<Sample> value) throws IOException {
        double[] values = result.samples().stream().mapToDouble(value).toArray();
        json.writeFieldName(name);
        json.writeArray(values, 0, values.length);
    }
}
