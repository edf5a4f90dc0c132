package org.granule.shell;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows in columns, with notes below rows, never wider than {@value #WIDTH} characters. Figures and tokens are
 * always whole; names give way, the longest first.
 */
final class Table {

    static final int WIDTH = 100;

    private static final String GAP = "  ";
    private static final int NARROWEST = 4;
    private static final String INDENT = "    ";

    private record Column(String title, boolean right, boolean flexible) {}

    private sealed interface Line {}

    private record Row(String[] cells) implements Line {}

    private record Note(String text, String indent) implements Line {}

    private final List<Column> columns = new ArrayList<>();
    private final List<Line> lines = new ArrayList<>();

    /** Adds a column of names, which may be shortened. */
    Table name(String title) {
        columns.add(new Column(title, false, true));
        return this;
    }

    /** Adds a column of words that are short by nature. */
    Table word(String title) {
        columns.add(new Column(title, false, false));
        return this;
    }

    /** Adds a column of figures. */
    Table figure(String title) {
        columns.add(new Column(title, true, false));
        return this;
    }

    Table row(String... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + columns.size() + " columns");
        }
        lines.add(new Row(Arrays.stream(cells).map(Text::clean).toArray(String[]::new)));
        return this;
    }

    /** Adds an indented remark on the last row; nothing when there is nothing to say. */
    Table note(String text) {
        return add(text, INDENT);
    }

    /** Adds a remark on the whole table. */
    Table footer(String text) {
        return add(text, "");
    }

    private Table add(String text, String indent) {
        if (text != null && !text.isBlank()) {
            lines.add(new Note(text, indent));
        }
        return this;
    }

    /** Returns the table with its heading. */
    String render() {
        int[] widths = widths(true);
        var text = new ArrayList<String>();
        if (lines.stream().anyMatch(Row.class::isInstance)) {
            text.add(line(columns.stream().map(Column::title).toArray(String[]::new), widths));
        }
        for (var line : lines) {
            switch (line) {
                case Row row -> text.add(line(row.cells, widths));
                case Note note ->
                    Text.wrap(note.text, WIDTH - note.indent.length()).forEach(l -> text.add(note.indent + l));
            }
        }
        return String.join("\n", text);
    }

    /** Returns the rows alone, without heading and remarks. */
    String renderRows() {
        int[] widths = widths(false);
        return String.join(
                "\n",
                lines.stream()
                        .filter(Row.class::isInstance)
                        .map(row -> line(((Row) row).cells, widths))
                        .toList());
    }

    private int[] widths(boolean heading) {
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = heading ? columns.get(i).title.length() : 0;
            for (var line : lines) {
                if (line instanceof Row row) {
                    widths[i] = Math.max(widths[i], row.cells[i].length());
                }
            }
        }
        int total = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
        for (; total > WIDTH; total--) {
            int widest = -1;
            for (int i = 0; i < widths.length; i++) {
                boolean gives = columns.get(i).flexible && widths[i] > NARROWEST;
                if (gives && (widest < 0 || widths[i] > widths[widest])) {
                    widest = i;
                }
            }
            if (widest < 0) {
                break;
            }
            widths[widest]--;
        }
        return widths;
    }

    private String line(String[] cells, int[] widths) {
        var text = new StringBuilder();
        for (int i = 0; i < cells.length; i++) {
            var cell = Text.shorten(cells[i], widths[i]);
            var fill = " ".repeat(widths[i] - cell.length());
            text.append(i == 0 ? "" : GAP).append(columns.get(i).right ? fill + cell : cell + fill);
        }
        return text.toString().stripTrailing();
    }
}
