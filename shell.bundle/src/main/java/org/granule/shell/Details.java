package org.granule.shell;

import java.util.ArrayList;
import java.util.List;

/** One thing in full: a label and a value on each line. */
final class Details {

    private static final int LABEL = 13;

    private final List<String> lines = new ArrayList<>();

    /** Adds a line; nothing when there is no value. */
    Details add(String label, String value) {
        if (value != null && !value.isBlank()) {
            var head = label;
            for (var part : Text.wrap(value, Table.WIDTH - LABEL)) {
                lines.add(head + " ".repeat(LABEL - head.length()) + part);
                head = "";
            }
        }
        return this;
    }

    Details add(String label, long value) {
        return add(label, Long.toString(value));
    }

    String render() {
        return String.join("\n", lines);
    }
}
