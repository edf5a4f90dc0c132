package org.granule.gpu;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.osgi.service.component.annotations.Component;

/** Commands that need a card. */
@Component(
        service = CardCommands.class,
        property = {
            "osgi.command.scope=gpu",
            "osgi.command.function=test",
            "osgi.command.function=bench",
            "osgi.command.function=lose"
        })
public final class CardCommands {

    private final JsonFactory json = new JsonFactory();

    /**
     * Runs the tests.
     *
     * @param file where to write the outcome as JSON
     * @param part of the names of the classes to run; without it all are
     * @return 0 when none failed and one passed
     * @throws IOException when the file cannot be written
     */
    public int test(String file, String... part) throws IOException {
        var tests = new CardTests(System.out);
        tests.run(part.length == 0 ? null : part[0]);
        try (var generator = json.createGenerator(Path.of(file).toFile(), JsonEncoding.UTF8)) {
            generator.useDefaultPrettyPrinter();
            generator.writeStartObject();
            generator.writeNumberField("passed", tests.passed().size());
            write(generator, "failed", tests.failed());
            write(generator, "skipped", tests.skipped());
            generator.writeArrayFieldStart("names");
            for (String name : tests.passed()) {
                generator.writeString(name);
            }
            generator.writeEndArray();
            generator.writeEndObject();
        }
        return tests.failed().isEmpty() && !tests.passed().isEmpty() ? 0 : 1;
    }

    private static void write(JsonGenerator generator, String name, Map<String, String> reasons) throws IOException {
        generator.writeObjectFieldStart(name);
        for (var reason : reasons.entrySet()) {
            generator.writeStringField(reason.getKey(), reason.getValue());
        }
        generator.writeEndObject();
    }

    /**
     * Runs the benchmarks.
     *
     * @param file where to write the figures as JSON
     * @return 0
     * @throws Exception when an operation fails
     */
    public int bench(String file) throws Exception {
        var results = new CardBenchmarks(System.out).run();
        try (var generator = json.createGenerator(Path.of(file).toFile(), JsonEncoding.UTF8)) {
            generator.useDefaultPrettyPrinter();
            generator.writeStartArray();
            for (Measured measured : results) {
                generator.writeStartObject();
                generator.writeStringField("scenario", measured.scenario());
                generator.writeStringField("parameter", measured.parameter());
                generator.writeNumberField("threads", measured.threads());
                generator.writeNumberField("nanos", measured.nanos());
                generator.writeNumberField("spread", measured.spread());
                generator.writeNumberField("bytes", measured.bytes());
                generator.writeEndObject();
            }
            generator.writeEndArray();
        }
        return 0;
    }

    /**
     * Loses the card and gets it back; for a container that does nothing else.
     *
     * @return 0
     * @throws Exception when something is not as it must be
     */
    public int lose() throws Exception {
        new LostDevice(System.out).run();
        return 0;
    }
}
