package org.granule.shell;

import java.util.AbstractList;
import java.util.List;

/**
 * Things that a command has found. It is a list, so that {@code each} and {@code get} work on it, and prints as a
 * table.
 *
 * @param <T> what was found
 */
public final class Listing<T> extends AbstractList<T> {

    private final List<T> items;
    private final Face<T> face;
    private final String summary;
    private final String footer;

    /**
     * Makes a list.
     *
     * @param summary what it is in one line; shown alone when there are no items
     * @param footer what to say below the table, or null
     */
    Listing(List<T> items, Face<T> face, String summary, String footer) {
        this.items = List.copyOf(items);
        this.face = face;
        this.summary = summary;
        this.footer = footer;
    }

    @Override
    public T get(int index) {
        return items.get(index);
    }

    @Override
    public int size() {
        return items.size();
    }

    String table() {
        var table = face.table(items);
        return (items.isEmpty() ? table.footer(summary) : table).footer(footer).render();
    }

    /** Returns the summary: printing whole tables where one word is expected helps nobody. */
    @Override
    public String toString() {
        return summary;
    }
}
