package org.granule.workload.trace;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.List;

/**
 * Reads {@code TIMESTAMP,ContextTokens,GeneratedTokens}. Times count from the first good line; one that lies
 * before it counts as 0. A zone, as the traces of 2024 have it, is taken into account.
 */
final class AzureParser implements LineParser {

    private static final DateTimeFormatter TIME = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendPattern("[' ']['T']HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
            .appendPattern("[XXX]")
            .toFormatter();

    private LocalDateTime start;

    @Override
    public Request parse(String line, long index) throws BadLineException {
        var fields = fields(line);
        if (fields.getFirst().equalsIgnoreCase("TIMESTAMP")) {
            return null;
        }
        if (fields.size() != 3) {
            throw new BadLineException(
                    "has " + fields.size() + " fields, not the 3 of TIMESTAMP,ContextTokens,GeneratedTokens");
        }
        var time = time(fields.get(0));
        int input = tokens(fields.get(1), "ContextTokens", 1);
        int output = tokens(fields.get(2), "GeneratedTokens", 0);
        if (start == null) {
            start = time;
        }
        try {
            long arrival = Math.max(0, Duration.between(start, time).toNanos());
            return new Request(index, arrival, input, output, Request.NO_BLOCKS);
        } catch (ArithmeticException e) {
            throw new BadLineException("TIMESTAMP " + fields.get(0) + " is centuries after the first line's");
        }
    }

    private static List<String> fields(String line) throws BadLineException {
        try (CsvReader<CsvRecord> reader = CsvReader.builder().ofCsvRecord(line)) {
            return reader.iterator().next().getFields();
        } catch (CsvParseException | UncheckedIOException e) {
            throw new BadLineException("is not valid CSV: " + e.getMessage());
        } catch (java.io.IOException e) {
            throw new BadLineException("cannot be parsed: " + e.getMessage());
        }
    }

    private static LocalDateTime time(String text) throws BadLineException {
        try {
            TemporalAccessor parsed = TIME.parse(text.strip());
            var local = LocalDateTime.from(parsed);
            return parsed.isSupported(ChronoField.OFFSET_SECONDS)
                    ? local.atOffset(ZoneOffset.from(parsed))
                            .withOffsetSameInstant(ZoneOffset.UTC)
                            .toLocalDateTime()
                    : local;
        } catch (DateTimeException e) {
            throw new BadLineException("TIMESTAMP is '" + text + "', not a time such as 2023-11-16 18:15:46.680");
        }
    }

    private static int tokens(String text, String name, int least) throws BadLineException {
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= least && value <= Request.MAX_TOKENS) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number that is out of range.
        }
        throw new BadLineException(
                name + " is '" + text + "', not a whole number from " + least + " to " + Request.MAX_TOKENS);
    }
}
