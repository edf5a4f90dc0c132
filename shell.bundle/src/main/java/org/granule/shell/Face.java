package org.granule.shell;

import java.util.List;

/**
 * How one kind of thing is shown: many in a table, one in a row, in full, or by its id alone.
 *
 * @param <T> what is shown
 */
abstract class Face<T> {

    /** Returns an empty table with the columns of this kind. */
    abstract Table columns();

    /** Adds the row of one thing, and what must be said of it. */
    abstract void add(Table table, T item);

    /** Returns everything that is known of one thing. */
    abstract Details details(T item);

    /** Returns what people type to name it. */
    abstract String id(T item);

    final Table table(List<T> items) {
        var table = columns();
        items.forEach(item -> add(table, item));
        return table;
    }

    final String row(T item) {
        return table(List.of(item)).renderRows();
    }
}
