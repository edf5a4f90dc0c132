package org.granule.workload.trace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceReadersTest {

    private static final String GOOD =
            "{\"timestamp\": 1500, \"input_length\": 600, \"output_length\": 7, \"hash_ids\": [3, 9]}";

    @TempDir
    Path folder;

    private final List<BadLine> bad = new ArrayList<>();

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private List<Request> read(Path file, boolean strict) {
        var requests = new ArrayList<Request>();
        try (var reader = Traces.open(file, null, strict, bad::add)) {
            reader.forEachRemaining(requests::add);
            assertEquals(bad.size(), reader.badLines());
        }
        return requests;
    }

    @Test
    void readsMooncake() throws IOException {
        var requests = read(file("a.jsonl", GOOD + "\n\n" + GOOD.replace("[3, 9]", "[]") + "\n"), true);
        assertEquals(2, requests.size());
        var first = requests.getFirst();
        assertEquals(0, first.index());
        assertEquals(1_500_000_000L, first.arrivalNanos());
        assertEquals(600, first.inputTokens());
        assertEquals(7, first.outputTokens());
        assertArrayEquals(new long[] {3, 9}, first.blockIds());
        assertEquals(512, first.blockTokens(0));
        assertEquals(88, first.blockTokens(1));
        assertEquals(1, requests.get(1).index());
        assertEquals(0, requests.get(1).blockIds().length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"timestamp\": 1|is not valid JSON at column",
                "[1]|is not a JSON object",
                "{\"input_length\": 5, \"output_length\": 1}|has no timestamp",
                "{\"timestamp\": 0, \"output_length\": 1}|has no input_length",
                "{\"timestamp\": 0, \"input_length\": 5}|has no output_length",
                "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 1}|input_length is 0",
                "{\"timestamp\": 0, \"input_length\": -5, \"output_length\": 1}|input_length is -5, not a whole number",
                "{\"timestamp\": 0, \"input_length\": 5.5, \"output_length\": 1}|input_length is 5.5, not a whole number",
                "{\"timestamp\": \"x\", \"input_length\": 5, \"output_length\": 1}|timestamp is x, not a number",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 99999999999999999999}|output_length is 999",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [1, 2]}|has 2 hash_ids",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": 4}|hash_ids is 4, not a list",
                "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1} {}|has more than one JSON value",
            })
    void saysWhatIsWrongInMooncakeAndLosesNothingElse(String line, String problem) throws IOException {
        var requests = read(file("a.jsonl", GOOD + "\n" + line + "\n" + GOOD + "\n"), false);
        assertEquals(2, requests.size());
        assertEquals(1, requests.get(1).index());
        assertEquals(1, bad.size());
        assertEquals(2, bad.getFirst().line());
        assertTrue(bad.getFirst().toString().startsWith(folder.resolve("a.jsonl") + ":2: "), bad.toString());
        assertTrue(bad.getFirst().problem().startsWith(problem), bad.toString());
    }

    @Test
    void strictStopsAtTheFirstBadLine() throws IOException {
        var file = file("a.jsonl", GOOD + "\nnonsense\n" + GOOD + "\n");
        try (var reader = Traces.open(file, null, true, bad::add)) {
            reader.next();
            var error = assertThrows(TraceException.class, reader::hasNext);
            assertTrue(error.getMessage().startsWith(file + ":2: "), error.getMessage());
        }
    }

    @Test
    void readsAzure() throws IOException {
        var text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                + "2023-11-16 18:15:46.6805900,374,44\r\n"
                + "2023-11-16 18:15:47.1805900,396,0\r\n"
                + "2023-11-16 18:15:40,1,1\r\n";
        var requests = read(file("a.csv", text), true);
        assertEquals(3, requests.size());
        assertEquals(0, requests.get(0).arrivalNanos());
        assertEquals(374, requests.get(0).inputTokens());
        assertEquals(44, requests.get(0).outputTokens());
        assertEquals(500_000_000L, requests.get(1).arrivalNanos());
        assertEquals(0, requests.get(2).arrivalNanos(), "before the first one counts as 0");
    }

    @Test
    void readsAzureTimesWithZone() throws IOException {
        var text = "2024-05-10 00:00:00.009930+00:00,10,1\n2024-05-10 02:00:01.009930+02:00,10,1\n";
        assertEquals(1_000_000_000L, read(file("a.csv", text), true).get(1).arrivalNanos());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "yesterday,1,1|TIMESTAMP is 'yesterday'",
                "2023-11-16 18:15:46,1|has 2 fields",
                "2023-11-16 18:15:46,x,1|ContextTokens is 'x'",
                "2023-11-16 18:15:46,0,1|ContextTokens is '0'",
                "2023-11-16 18:15:46,1,-1|GeneratedTokens is '-1'",
                "\"2023-11-16 18:15:46,1,1|has 1 fields",
            })
    void saysWhatIsWrongInAzureAndLosesNothingElse(String line, String problem) throws IOException {
        var good = "2023-11-16 18:15:46.68,374,44\n";
        assertEquals(2, read(file("a.csv", good + line + "\n" + good), false).size());
        assertEquals(1, bad.size());
        assertEquals(2, bad.getFirst().line());
        assertTrue(bad.getFirst().problem().startsWith(problem), bad.toString());
    }

    @Test
    void tellsFormatsByContentFirst() {
        assertEquals(TraceFormat.MOONCAKE, TraceFormat.guess("x.csv", "{\"timestamp\": 1}"));
        assertEquals(TraceFormat.AZURE, TraceFormat.guess("x.jsonl", "TIMESTAMP,ContextTokens,GeneratedTokens"));
        assertEquals(TraceFormat.AZURE, TraceFormat.guess("x", "2023-11-16 18:15:46.68,374,44"));
        assertEquals(TraceFormat.MOONCAKE, TraceFormat.guess("x.JSONL", "nonsense"));
        assertEquals(TraceFormat.AZURE, TraceFormat.guess("x.csv", ""));
        assertEquals(null, TraceFormat.guess("x.txt", "hello"));
    }

    @Test
    void refusesWhatIsNoTrace() throws IOException {
        var unknown = file("a.txt", "hello\n");
        var error = assertThrows(TraceException.class, () -> Traces.open(unknown, null, false, bad::add));
        assertTrue(error.getMessage().contains("--format"), error.getMessage());
        var missing = folder.resolve("none.jsonl");
        error = assertThrows(TraceException.class, () -> Traces.open(missing, null, false, bad::add));
        assertEquals(missing + ": there is no such file", error.getMessage());
        assertThrows(TraceException.class, () -> Traces.open(folder, null, false, bad::add));
    }

    @Test
    void readsAnEmptyFileAsNoRequests() throws IOException {
        try (var reader = Traces.open(file("a.jsonl", ""), null, true, bad::add)) {
            assertFalse(reader.hasNext());
        }
    }
}
