package org.granule.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A node of a device's tree. What is drawn here includes all that is drawn below, and the credit of the stripes
 * below. Everything but {@link #drawn}'s reads is guarded by the tree's lock.
 */
class Node {

    final DeviceTree tree;
    final Node parent;
    final String path;
    final int depth;
    final List<Node> children = new ArrayList<>();

    long limit = Long.MAX_VALUE;
    long peak;
    long refusals;
    Refusal lastRefusal;
    /** What was used when growth was last noted. */
    long noted;

    /** Written under the lock; read without it to bound a stripe's credit. */
    volatile long drawn;

    final AtomicLong reserved = new AtomicLong();
    final AtomicLong quarantined = new AtomicLong();
    final AtomicLong leases = new AtomicLong();
    final AtomicLong leased = new AtomicLong();

    Node(DeviceTree tree, Node parent, String path, int depth) {
        this.tree = tree;
        this.parent = parent;
        this.path = path;
        this.depth = depth;
    }

    long headroom() {
        return limit - drawn;
    }

    /** Adds to what is drawn, here and above up to but not including a node; negative to take back. */
    void draw(long bytes, Node end) {
        for (Node node = this; node != end; node = node.parent) {
            node.drawn += bytes;
        }
    }

    /** The lowest node below {@code end} whose limit has too little room, or null. */
    Node blocking(long bytes, Node end) {
        for (Node node = this; node != end; node = node.parent) {
            if (bytes > node.headroom()) {
                return node;
            }
        }
        return null;
    }

    boolean isBelow(Node other) {
        for (Node node = this; node != null; node = node.parent) {
            if (node == other) {
                return true;
            }
        }
        return false;
    }

    String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
