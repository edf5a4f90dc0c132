package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Pieces of text as a terminal shows them. Plain ASCII is added only, since a terminal's encoding is unknown. */
final class Text {

    private static final String CUT = "..";
    private static final long SECOND = 1_000_000_000L;
    private static final String POWERS = "kMGTPE";

    private Text() {}

    /**
     * Takes out what would move the cursor or colour the screen: names and reasons may come from an allocator
     * that nobody has vouched for.
     */
    static String clean(String text) {
        if (text == null) {
            return "";
        }
        var clean = new StringBuilder(text.length());
        text.codePoints()
                .map(c -> c == '\n' || c == '\t' ? ' ' : Character.isISOControl(c) ? '?' : c)
                .forEach(clean::appendCodePoint);
        return clean.toString();
    }

    static String orDash(String text) {
        return text == null || text.isBlank() ? "-" : text;
    }

    /** Cuts the middle out, because names differ at their ends and paths are told by both. */
    static String shorten(String text, int width) {
        if (text.length() <= width) {
            return text;
        }
        if (width <= CUT.length()) {
            return text.substring(0, Math.max(0, width));
        }
        int head = (width - CUT.length() + 1) / 2;
        int tail = width - CUT.length() - head;
        return text.substring(0, head) + CUT + text.substring(text.length() - tail);
    }

    /** Breaks at blanks, and inside a word only when it is wider than a line. */
    static List<String> wrap(String text, int width) {
        var lines = new ArrayList<String>();
        var line = new StringBuilder();
        for (var word : clean(text).strip().split(" +")) {
            var rest = word;
            if (!line.isEmpty() && line.length() + 1 + rest.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            while (rest.length() > width) {
                lines.add(rest.substring(0, width));
                rest = rest.substring(width);
            }
            line.append(line.isEmpty() ? "" : " ").append(rest);
        }
        if (!line.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
    }

    /** Writes a count in at most six characters; below a million it is exact. */
    static String count(long count) {
        if (count < 1_000_000) {
            return Long.toString(count);
        }
        double value = count;
        int power = -1;
        while (value >= 1000) {
            value /= 1000;
            power++;
        }
        return String.format(Locale.ROOT, value < 10 ? "%.1f%c" : "%.0f%c", value, POWERS.charAt(power));
    }

    /** Writes an age in the largest unit that leaves a figure above 1. */
    static String age(long nanos) {
        long seconds = nanos / SECOND;
        if (seconds < 10) {
            return String.format(Locale.ROOT, "%.1f s", nanos / (double) SECOND);
        }
        if (seconds < 120) {
            return seconds + " s";
        }
        if (seconds < 7200) {
            return seconds / 60 + " min";
        }
        return seconds < 172_800 ? seconds / 3600 + " h" : seconds / 86_400 + " d";
    }

    /** Writes a number of things, such as {@code 1 allocation} or {@code 7 allocations}. */
    static String plural(long count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }
}
