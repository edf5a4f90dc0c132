package org.granule.workload.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.granule.workload.replay.WriteMode;
import org.granule.workload.trace.TraceFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayOptionsTest {

    @Test
    void hasDefaultsForEverything() {
        var options = ReplayOptions.parse();
        assertEquals("host0", options.provider);
        assertEquals(12 * 1024, options.settings().geometry().bytesPerToken());
        assertEquals(WriteMode.full, options.settings().write());
        assertEquals(0, options.settings().speed());
        assertEquals(Long.MAX_VALUE, options.budgetOrUnlimited());
        assertEquals("granule-replay.html", options.html);
    }

    @Test
    void readsWhatTheShellHands() {
        // The shell makes numbers of what looks like one.
        var options = ReplayOptions.parse(
                "a.jsonl",
                "--format",
                "mooncake",
                "--model",
                "llama-3-8b",
                "--budget",
                "8GiB",
                "--retain",
                "all",
                "--threads",
                3L,
                "--speed",
                2.5,
                "--limit",
                10L,
                "--write",
                "sparse",
                "--strict",
                "--json",
                "x.json");
        assertEquals("a.jsonl", options.file);
        assertEquals(TraceFormat.MOONCAKE, options.format);
        assertEquals(8L << 30, options.budget);
        assertEquals(Long.MAX_VALUE, options.retain);
        assertEquals(3, options.settings().threads());
        assertEquals(2.5, options.settings().speed());
        assertEquals(10, options.limit);
        assertEquals(WriteMode.sparse, options.write);
        assertEquals(128 * 1024, options.settings().geometry().bytesPerToken());
        assertEquals(
                1, ReplayOptions.parse("--dry", "--threads", "8").settings().threads());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--nonsense",
                "--budget lots",
                "--retain few",
                "--threads 0",
                "--speed -1",
                "--limit 0",
                "--model gpt",
                "--format xml",
                "--write none",
                "--format azure",
                "--model Llama-3-8B --bytes-per-token 12KiB",
                "a b",
                "--budget",
                "--bytes-per-token 0"
            })
    void misuseIsOneLine(String arguments) {
        var error = assertThrows(
                IllegalArgumentException.class, () -> ReplayOptions.parse((Object[]) arguments.split(" ")));
        assertEquals(1, error.getMessage().lines().count());
        assertTrue(error.getMessage().endsWith("(granule:replay --help lists what there is)"), error.getMessage());
    }

    @Test
    void helpFitsAHundredColumns() {
        assertTrue(ReplayOptions.parse("--help").help);
        var bytes = new ByteArrayOutputStream();
        ReplayOptions.printHelp(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        var help = bytes.toString(StandardCharsets.UTF_8);
        assertTrue(help.contains("--bytes-per-token"), help);
        assertFalse(help.contains("${"), help);
        assertTrue(help.lines().allMatch(line -> line.length() <= 100), help);
    }
}
