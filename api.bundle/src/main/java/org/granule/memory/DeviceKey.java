package org.granule.memory;

import java.util.Comparator;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Names a device: its kind and its number among the devices of that kind, such as {@code host:0} or
 * {@code cuda:1}. Two keys are equal when both parts are; a host and an accelerator with the same
 * number differ.
 *
 * @param kind lower-case letters and digits, starting with a letter, at most 32 characters
 * @param ordinal 0 to 65,535
 */
public record DeviceKey(String kind, int ordinal) implements Comparable<DeviceKey> {

    /** The kind of memory that Java code of this process can address directly. */
    public static final String HOST = "host";

    private static final int MAX_ORDINAL = 65_535;
    private static final Pattern KIND = Pattern.compile("[a-z][a-z0-9]{0,31}");
    private static final Pattern TEXT = Pattern.compile("([a-z][a-z0-9]{0,31}):(0|[1-9][0-9]{0,4})");
    private static final Comparator<DeviceKey> ORDER =
            Comparator.comparing(DeviceKey::kind).thenComparingInt(DeviceKey::ordinal);

    /**
     * Checks both parts.
     *
     * @throws InvalidRequestException when a part is out of range
     */
    public DeviceKey {
        Objects.requireNonNull(kind, "kind");
        if (!KIND.matcher(kind).matches()) {
            throw new InvalidRequestException("device kind '" + kind
                    + "' is not lower-case letters and digits starting with a letter, at most 32 characters");
        }
        if (ordinal < 0 || ordinal > MAX_ORDINAL) {
            throw new InvalidRequestException("device ordinal " + ordinal + " is not in 0 to " + MAX_ORDINAL);
        }
    }

    /**
     * Reads the text form.
     *
     * @param text a kind, a colon and an ordinal without leading zeroes, such as {@code cuda:0}
     * @return the key
     * @throws InvalidRequestException when the text is anything else
     */
    public static DeviceKey parse(String text) {
        Objects.requireNonNull(text, "text");
        var matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidRequestException(
                    "'" + text + "' is not a device; write kind:ordinal, such as host:0 or cuda:1");
        }
        return new DeviceKey(matcher.group(1), Integer.parseInt(matcher.group(2)));
    }

    /**
     * Tells whether Java code of this process can address the device's memory directly.
     *
     * @return whether the kind is {@link #HOST}
     */
    public boolean isHost() {
        return HOST.equals(kind);
    }

    @Override
    public int compareTo(DeviceKey other) {
        return ORDER.compare(this, other);
    }

    /** Returns the text form that {@link #parse(String)} reads. */
    @Override
    public String toString() {
        return kind + ":" + ordinal;
    }
}
