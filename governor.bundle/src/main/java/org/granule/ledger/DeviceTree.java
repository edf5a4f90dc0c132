package org.granule.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.granule.memory.BudgetExceededException;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;

/**
 * All accounts of one device, and the slow way of a charge: when a stripe's credit is not enough, more is drawn
 * from the tree under its lock. Near a limit nothing is drawn ahead, and before a claim is refused all credit is
 * swept together, so that limits are exact to the byte and no refusal is due to another thread's credit.
 */
final class DeviceTree {

    /** The most that is drawn ahead for one stripe. */
    private static final long MOST_AHEAD = 64L << 20;

    /** All stripes of an account together may hold at most this part of the room that is left. */
    private static final int ROOM_PARTS = 8;

    private static final long GROWTH_WINDOW_NANOS = 60_000_000_000L;

    final DeviceKey device;
    final Node root;
    final LedgerAccount idle;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<LedgerAccount> leaves = new ArrayList<>();
    private long alarms;
    private long notedNanos = System.nanoTime();

    DeviceTree(DeviceKey device) {
        this.device = device;
        this.root = new Node(this, null, device.toString(), 0);
        this.idle = leaf(root, Ledger.IDLE);
    }

    /** Runs something under the lock, with the credit of all stripes swept into the nodes. */
    <T> T exactly(Function<Node, T> work) {
        lock.lock();
        try {
            sweep();
            return work.apply(root);
        } finally {
            lock.unlock();
        }
    }

    /** Finds or makes a node. */
    Node node(String[] names) {
        lock.lock();
        try {
            Node node = root;
            for (int depth = 1; depth < names.length; depth++) {
                node = child(node, names[depth], depth == Ledger.ROLE_DEPTH);
            }
            return node;
        } finally {
            lock.unlock();
        }
    }

    private Node child(Node node, String name, boolean leaf) {
        for (Node child : node.children) {
            if (child.name().equals(name)) {
                return child;
            }
        }
        if (leaf) {
            return leaf(node, name);
        }
        var made = new Node(this, node, node.path + "/" + name, node.depth + 1);
        node.children.add(made);
        return made;
    }

    private LedgerAccount leaf(Node node, String name) {
        var made = new LedgerAccount(this, node, node.path + "/" + name, node.depth + 1);
        node.children.add(made);
        leaves.add(made);
        return made;
    }

    void charge(LedgerAccount account, long bytes) {
        lock.lock();
        try {
            if (draw(account, bytes, null)) {
                return;
            }
            sweep();
            var blocking = account.blocking(bytes, null);
            if (blocking != null) {
                throw refuse(account, blocking, bytes);
            }
            account.draw(bytes, null);
        } finally {
            lock.unlock();
        }
    }

    void refund(LedgerAccount account, long bytes) {
        lock.lock();
        try {
            takeBack(account, bytes, null);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Charges an account and gives it credit for charges to come; does nothing and answers false where there is no
     * room for credit. Two accounts between which memory goes back and forth both get credit so, and then need no lock.
     */
    boolean drawAhead(LedgerAccount account, long bytes) {
        lock.lock();
        try {
            long room = room(account);
            return room > bytes && ahead(room - bytes) > 0 && draw(account, bytes, null);
        } finally {
            lock.unlock();
        }
    }

    private static long room(LedgerAccount account) {
        long room = Long.MAX_VALUE;
        for (Node node = account; node != null; node = node.parent) {
            room = Math.min(room, node.headroom());
        }
        return room;
    }

    private static long ahead(long room) {
        return Math.min(MOST_AHEAD, Math.max(0, room) / (ROOM_PARTS * Stripes.count()));
    }

    void move(LedgerAccount from, LedgerAccount to, long bytes) {
        lock.lock();
        try {
            Node common = from.parent;
            while (!to.isBelow(common)) {
                common = common.parent;
            }
            if (!draw(to, bytes, common)) {
                sweep();
                var blocking = to.blocking(bytes, common);
                if (blocking != null) {
                    throw refuse(to, blocking, bytes);
                }
                to.draw(bytes, common);
            }
            // What was not charged before is now, and counts above both as well.
            common.draw(bytes - takeBack(from, bytes, common), null);
        } finally {
            lock.unlock();
        }
    }

    /** Charges bytes that have been taken already, whatever the limits say. */
    void record(LedgerAccount account, long bytes) {
        lock.lock();
        try {
            // No credit is left that could be charged now that a limit may be passed.
            sweep();
            if (bytes > Long.MAX_VALUE - root.drawn) {
                throw overflow(account, bytes);
            }
            account.draw(bytes, null);
        } finally {
            lock.unlock();
        }
    }

    /** Counts a refund of more than was charged. */
    void alarm() {
        lock.lock();
        try {
            alarms++;
        } finally {
            lock.unlock();
        }
    }

    /** Alarms so far, those included that only a sweep finds. */
    long alarms() {
        return exactly(root -> alarms);
    }

    /** Draws what is asked for and, where there is plenty of room, credit for the charges to come. */
    private boolean draw(LedgerAccount account, long bytes, Node end) {
        if (account.blocking(bytes, end) != null) {
            return false;
        }
        account.draw(bytes, end);
        long ahead = ahead(room(account));
        account.creditBound = 2 * ahead;
        if (ahead > 0) {
            account.draw(ahead, null);
            account.stripes.add(ahead);
        }
        return true;
    }

    /** Takes a charge back, up to a node that stays as it is; returns how much, which is never more than is charged. */
    private long takeBack(LedgerAccount account, long bytes, Node end) {
        boolean open = account.stripes.isOpen();
        sweep(account);
        long covered = Math.min(bytes, Math.max(0, account.drawn));
        account.draw(-covered, end);
        if (covered < bytes) {
            excess(account, bytes - covered);
        }
        if (open) {
            account.stripes.open();
        }
        return covered;
    }

    private void sweep() {
        for (LedgerAccount leaf : leaves) {
            sweep(leaf);
            if (stopMapped(leaf)) {
                alarms++;
            }
        }
        notePeaks(root);
    }

    /** Takes the credit of one account back. More credit than was drawn means that too much was refunded. */
    private void sweep(LedgerAccount leaf) {
        long credit = leaf.stripes.close();
        long excess = credit - leaf.drawn;
        leaf.draw(-Math.min(credit, leaf.drawn), null);
        if (excess > 0) {
            excess(leaf, excess);
        }
    }

    /** Counts a refund of bytes that were not charged. What is mapped was counted as if they had been. */
    private void excess(LedgerAccount leaf, long bytes) {
        alarms++;
        leaf.stripes.addUnowned(-bytes);
        stopMapped(leaf);
    }

    /** Stops what is mapped at zero; true when more was taken back. */
    private static boolean stopMapped(LedgerAccount leaf) {
        long mapped = leaf.drawn + leaf.stripes.unowned();
        if (mapped < 0) {
            leaf.stripes.addUnowned(-mapped);
        }
        return mapped < 0;
    }

    private static void notePeaks(Node node) {
        node.peak = Math.max(node.peak, node.drawn);
        node.children.forEach(DeviceTree::notePeaks);
    }

    /** Builds the refusal, with all stripes swept. */
    private BudgetExceededException refuse(LedgerAccount account, Node blocking, long bytes) {
        if (blocking.limit == Long.MAX_VALUE) {
            throw overflow(account, bytes);
        }
        account.refusals++;
        var error = new BudgetExceededException(
                account.path,
                blocking.path,
                bytes,
                blocking.drawn,
                blocking.limit,
                Explanation.refusal(account, blocking, bytes, grewMost(blocking)));
        var refusal = new Refusal(account, System.nanoTime(), error);
        for (Node node = account; node != null; node = node.parent) {
            node.lastRefusal = refusal;
        }
        return error;
    }

    /** The leaf that grew most since growth was last noted, which is a minute ago or more; null when none grew. */
    private LedgerAccount grewMost(Node above) {
        LedgerAccount most = null;
        for (LedgerAccount leaf : leaves) {
            if (leaf.isBelow(above)
                    && leaf.drawn > leaf.noted
                    && (most == null || leaf.drawn - leaf.noted > most.drawn - most.noted)) {
                most = leaf;
            }
        }
        long now = System.nanoTime();
        if (now - notedNanos > GROWTH_WINDOW_NANOS) {
            notedNanos = now;
            leaves.forEach(leaf -> leaf.noted = leaf.drawn);
        }
        return most;
    }

    private InvalidRequestException overflow(LedgerAccount account, long bytes) {
        return new InvalidRequestException(bytes + " bytes for " + account.path + ": with the " + root.drawn
                + " bytes in use the sum exceeds " + Long.MAX_VALUE);
    }
}
