package org.granule.workload.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/**
 * Reads {@code {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": [...]}}. Other fields are
 * skipped; {@code hash_ids} may be missing.
 */
final class MooncakeParser implements LineParser {

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double LATEST_MILLIS = (double) (Long.MAX_VALUE / NANOS_PER_MILLI);

    private final JsonFactory json = new JsonFactory();

    private double timestamp;
    private long input;
    private long output;
    private long[] ids;

    @Override
    public Request parse(String line, long index) throws BadLineException {
        timestamp = -1;
        input = -1;
        output = -1;
        ids = Request.NO_BLOCKS;
        try (JsonParser parser = json.createParser(line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new BadLineException("is not a JSON object");
            }
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                var field = parser.currentName();
                parser.nextToken();
                read(field, parser);
            }
            if (parser.nextToken() != null) {
                throw new BadLineException("has more than one JSON value");
            }
        } catch (JsonProcessingException e) {
            throw new BadLineException(
                    "is not valid JSON at column " + e.getLocation().getColumnNr() + ": "
                            + e.getOriginalMessage().lines().findFirst().orElse(""));
        } catch (IOException e) {
            throw new BadLineException("cannot be parsed: " + e.getMessage());
        }
        return request(index);
    }

    private void read(String field, JsonParser parser) throws IOException, BadLineException {
        switch (field) {
            case "timestamp" -> timestamp = milliseconds(parser);
            case "input_length" -> input = whole(parser, field, Request.MAX_TOKENS);
            case "output_length" -> output = whole(parser, field, Request.MAX_TOKENS);
            case "hash_ids" -> ids = ids(parser);
            default -> parser.skipChildren();
        }
    }

    private Request request(long index) throws BadLineException {
        if (timestamp < 0) {
            throw new BadLineException("has no timestamp");
        }
        if (input < 0) {
            throw new BadLineException("has no input_length");
        }
        if (output < 0) {
            throw new BadLineException("has no output_length");
        }
        if (input == 0) {
            throw new BadLineException("input_length is 0, so there is no prompt");
        }
        int blocks = Request.blocksOf((int) input);
        if (ids.length > blocks) {
            throw new BadLineException("has " + ids.length + " hash_ids, but input_length " + input + " makes only "
                    + blocks + " blocks of " + Request.BLOCK_TOKENS + " tokens");
        }
        return new Request(index, Math.round(timestamp * NANOS_PER_MILLI), (int) input, (int) output, ids);
    }

    private static double milliseconds(JsonParser parser) throws IOException, BadLineException {
        if (!parser.currentToken().isNumeric()) {
            throw new BadLineException("timestamp is " + parser.getText() + ", not a number of milliseconds");
        }
        double value = parser.getDoubleValue();
        if (!(value >= 0 && value <= LATEST_MILLIS)) {
            throw new BadLineException("timestamp is " + parser.getText() + ", not in 0 to " + LATEST_MILLIS);
        }
        return value;
    }

    private static long whole(JsonParser parser, String field, long most) throws IOException, BadLineException {
        if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long value = parser.getLongValue();
            if (value >= 0 && value <= most) {
                return value;
            }
        }
        throw new BadLineException(field + " is " + parser.getText() + ", not a whole number from 0 to " + most);
    }

    private static long[] ids(JsonParser parser) throws IOException, BadLineException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw new BadLineException("hash_ids is " + parser.getText() + ", not a list");
        }
        var found = new long[64];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == found.length) {
                found = Arrays.copyOf(found, 2 * count);
            }
            found[count++] = whole(parser, "an entry of hash_ids", Long.MAX_VALUE);
        }
        return count == 0 ? Request.NO_BLOCKS : Arrays.copyOf(found, count);
    }
}
