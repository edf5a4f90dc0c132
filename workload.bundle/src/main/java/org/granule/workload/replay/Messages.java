package org.granule.workload.replay;

import java.util.ArrayList;
import java.util.List;

/** What went wrong, for people. A broken provider makes thousands of messages, so only the first are kept. */
final class Messages {

    private static final int MOST = 20;

    private final List<String> first = new ArrayList<>();
    private long more;

    synchronized void add(String text) {
        if (first.size() < MOST) {
            first.add(text);
        } else {
            more++;
        }
    }

    synchronized List<String> all() {
        var all = new ArrayList<>(first);
        if (more > 0) {
            all.add("and " + more + " more");
        }
        return all;
    }
}
