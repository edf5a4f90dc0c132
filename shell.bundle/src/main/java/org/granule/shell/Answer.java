package org.granule.shell;

import java.util.ArrayList;

/** What a command says when it has done one thing. */
sealed interface Answer permits Explanation, HandAllocation, Limit, Outcome, Reconciled {

    /** Returns the whole answer for people. */
    String text();

    /** Returns what people type to name what the answer is about. */
    String id();

    /** Returns lines that fit the screen and keep their indentation. */
    static String wrapped(String text) {
        var lines = new ArrayList<String>();
        for (var line : text.lines().toList()) {
            int indent = Math.min(
                    Table.WIDTH / 2, line.length() - line.stripLeading().length());
            Text.wrap(line, Table.WIDTH - indent).forEach(part -> lines.add(" ".repeat(indent) + part));
        }
        return String.join("\n", lines);
    }
}
