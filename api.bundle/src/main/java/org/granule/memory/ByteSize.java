package org.granule.memory;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/** Sizes as people write and read them, in binary units. */
public final class ByteSize {

    private static final String UNITS = "KMGTPE";
    private static final Pattern TEXT =
            Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*(?:([KMGTPE])(?:i?B)?|B)?", Pattern.CASE_INSENSITIVE);

    private ByteSize() {}

    /**
     * Reads a size: a number and an optional binary unit, such as {@code 4096}, {@code 512MiB}, {@code 1.5 GiB}
     * or {@code 8G}. K is 1,024 however it is written.
     *
     * @param text the size
     * @return bytes, at least 0
     * @throws InvalidRequestException when the text is no size, not whole bytes, or above {@link
     *     Long#MAX_VALUE}
     */
    public static long parse(String text) {
        Objects.requireNonNull(text, "text");
        var matcher = TEXT.matcher(text.strip());
        if (!matcher.matches()) {
            throw new InvalidRequestException(
                    "'" + text + "' is not a size; write bytes or a binary unit, such as 4096, 512MiB or 8GiB");
        }
        var unit = matcher.group(2);
        int power = unit == null ? 0 : UNITS.indexOf(unit.toUpperCase(Locale.ROOT)) + 1;
        try {
            return new BigDecimal(matcher.group(1))
                    .multiply(BigDecimal.valueOf(1024).pow(power))
                    .longValueExact();
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(
                    "'" + text + "' is not a whole number of bytes from 0 to " + Long.MAX_VALUE);
        }
    }

    /**
     * Writes a size with at most one decimal, such as {@code 0 B}, {@code 2 MiB} or {@code 7.5 GiB}. {@link
     * Long#MAX_VALUE} stands for no limit and is written {@code unlimited}.
     *
     * @param bytes any value
     * @return the text
     */
    public static String format(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        if (bytes < 0) {
            return bytes == Long.MIN_VALUE ? "-8 EiB" : "-" + format(-bytes);
        }
        if (bytes < 1024) {
            return bytes + " B";
        }
        int power = (63 - Long.numberOfLeadingZeros(bytes)) / 10;
        var value = BigDecimal.valueOf(bytes).divide(BigDecimal.valueOf(1L << (10 * power)), 1, RoundingMode.HALF_UP);
        if (value.intValue() == 1024) {
            // Rounded up to the next unit.
            value = BigDecimal.ONE;
            power++;
        }
        return value.stripTrailingZeros().toPlainString() + " " + UNITS.charAt(power - 1) + "iB";
    }
}
