package org.granule.workload.model;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.granule.memory.ByteSize;

/**
 * How much memory a token's keys and values take.
 *
 * @param name of the model, or {@code custom}
 * @param bytesPerToken bytes, at least 1
 */
public record Geometry(String name, long bytesPerToken) {

    /** Keys and values at 2 bytes: 24 layers, 2 key-value heads of 64, and 32 layers, 8 heads of 128. */
    private static final List<Geometry> KNOWN =
            List.of(new Geometry("Qwen2.5-0.5B", 12 * 1024), new Geometry("Llama-3-8B", 128 * 1024));

    private static final long MOST_BYTES = 1L << 30;

    public Geometry {
        if (bytesPerToken < 1 || bytesPerToken > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "bytes a token are " + bytesPerToken + ", not in 1 B to " + ByteSize.format(MOST_BYTES));
        }
    }

    /** The model that a replay takes when none is named. */
    public static Geometry standard() {
        return KNOWN.getFirst();
    }

    /**
     * Finds a model by its name, in any case.
     *
     * @throws IllegalArgumentException when it is not known; the message lists those that are
     */
    public static Geometry named(String name) {
        for (var geometry : KNOWN) {
            if (geometry.name.toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT))) {
                return geometry;
            }
        }
        throw new IllegalArgumentException("no model '" + name + "' is known; known are " + names()
                + "; any other can be given by --bytes-per-token");
    }

    /** A geometry that is not a known model's. */
    public static Geometry custom(long bytesPerToken) {
        return new Geometry("custom", bytesPerToken);
    }

    /** The known models with their sizes, for messages and help. */
    public static String names() {
        return KNOWN.stream()
                .map(known -> known.name + " (" + ByteSize.format(known.bytesPerToken) + " a token)")
                .collect(Collectors.joining(", "));
    }
}
