package org.granule.ledger;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.granule.memory.ByteSize;

/** Says why a claim does not fit, who holds what, and what would make it fit. All with the stripes swept. */
final class Explanation {

    private static final int MOST_HOLDERS = 5;

    private Explanation() {}

    static String refusal(LedgerAccount account, Node blocking, long asked, LedgerAccount grewMost) {
        long available = Math.max(0, blocking.limit - blocking.drawn);
        var text = new StringBuilder()
                .append(account.path)
                .append(" asked for ")
                .append(exact(asked))
                .append(" on device ")
                .append(account.tree.device)
                .append(" for role ")
                .append(account.name())
                .append(", but ")
                .append(blocking == account ? "it" : blocking.path)
                .append(" uses ")
                .append(exact(blocking.drawn))
                .append(" of its limit of ")
                .append(exact(blocking.limit))
                .append("; available ")
                .append(exact(available))
                .append(". ");
        if (grewMost != null) {
            text.append(grewMost.path)
                    .append(" grew most lately, by ")
                    .append(ByteSize.format(grewMost.drawn - grewMost.noted))
                    .append(". ");
        }
        if (asked > blocking.limit) {
            text.append("No release can make it fit; ask for less");
        } else {
            text.append("Release ").append(exact(asked - available)).append(" there");
        }
        return text.append(", or raise the limit: ")
                .append(remedy(blocking, asked))
                .toString();
    }

    private static String remedy(Node blocking, long asked) {
        return "granule:limit " + blocking.path + " " + sum(blocking.drawn, asked);
    }

    static List<String> of(Node node) {
        var lines = new ArrayList<String>();
        var refusal = node.lastRefusal;
        lines.add(node.path + " uses " + use(node));
        if (refusal == null) {
            lines.add("No claim of it was refused.");
            return lines;
        }
        long age = (System.nanoTime() - refusal.nanos()) / 1_000_000_000L;
        lines.add(
                refusals(node) + ", last " + age + " s ago: " + refusal.error().getMessage());
        long asked = refusal.error().askedBytes();
        var blocking = refusal.account().blocking(asked, null);
        if (blocking == null) {
            lines.add("The same claim of " + exact(asked) + " would succeed now.");
            return lines;
        }
        lines.add("It would fail now: " + blocking.path + " uses " + use(blocking) + ".");
        if (asked > blocking.limit) {
            lines.add("It is larger than the limit; it succeeds only after");
        } else {
            lines.add("Who holds it:");
            lines.addAll(holders(blocking));
            long missing = asked - Math.max(0, blocking.headroom());
            lines.add("It succeeds when " + exact(missing) + " of these are released, or after");
        }
        lines.add("  " + remedy(blocking, asked));
        return lines;
    }

    private static String refusals(Node node) {
        long count = leaves(node).stream().mapToLong(leaf -> leaf.refusals).sum();
        return "Refused " + (count == 1 ? "once" : count + " times");
    }

    private static List<String> holders(Node blocking) {
        return leaves(blocking).stream()
                .filter(leaf -> leaf.drawn > 0)
                .sorted(Comparator.comparingLong((Node leaf) -> leaf.drawn).reversed())
                .limit(MOST_HOLDERS)
                .map(leaf -> "  " + leaf.path + "  " + exact(leaf.drawn) + quarantined(leaf))
                .toList();
    }

    private static String quarantined(Node leaf) {
        long bytes = leaf.quarantined.get();
        return bytes > 0 ? ", " + ByteSize.format(bytes) + " of it in quarantine" : "";
    }

    private static List<Node> leaves(Node node) {
        if (node.children.isEmpty()) {
            return List.of(node);
        }
        return node.children.stream().flatMap(child -> leaves(child).stream()).toList();
    }

    private static String use(Node node) {
        return exact(node.drawn) + (node.limit == Long.MAX_VALUE ? ", without a limit" : " of " + exact(node.limit));
    }

    private static String exact(long bytes) {
        var rounded = ByteSize.format(bytes);
        return bytes < 1024 ? rounded : bytes + " bytes (" + rounded + ")";
    }

    private static long sum(long used, long asked) {
        return used > Long.MAX_VALUE - asked ? Long.MAX_VALUE : used + asked;
    }
}
