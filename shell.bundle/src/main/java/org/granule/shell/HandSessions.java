package org.granule.shell;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.granule.memory.ClosedException;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;

/** The sessions that the shell has opened in one generation of one provider, one for each role. */
final class HandSessions {

    private final String name;
    private final long generation;
    private final ExecutionProvider provider;
    private final Map<String, MemorySession> byRole = new HashMap<>();
    private boolean ended;

    HandSessions(String name, long generation, ExecutionProvider provider) {
        this.name = name;
        this.generation = generation;
        this.provider = provider;
    }

    String name() {
        return name;
    }

    long generation() {
        return generation;
    }

    boolean serves(ExecutionProvider other) {
        return provider == other;
    }

    /** Opening is quick; nothing slow happens while this object is locked. */
    synchronized MemorySession open(String role) {
        if (ended) {
            throw new ClosedException("provider '" + name + "' has just ended generation " + generation);
        }
        return byRole.computeIfAbsent(role, provider::open);
    }

    /** Ends all sessions, and goes on when one cannot be closed. */
    void end() {
        Map<String, MemorySession> open;
        synchronized (this) {
            ended = true;
            open = Map.copyOf(byRole);
            byRole.clear();
        }
        tryAll(open.values().stream().map(session -> () -> close(session)));
    }

    private static void close(MemorySession session) {
        try {
            session.close();
        } catch (ClosedException | StaleTokenException e) {
            // The generation ended first and took its sessions along.
        }
    }

    /** Does everything, whatever fails; the first error is thrown at the end and brings the others along. */
    static void tryAll(Stream<Runnable> actions) {
        var errors = new ArrayList<RuntimeException>();
        actions.forEach(action -> {
            try {
                action.run();
            } catch (RuntimeException e) {
                errors.add(e);
            }
        });
        if (!errors.isEmpty()) {
            var first = errors.removeFirst();
            errors.forEach(first::addSuppressed);
            throw first;
        }
    }
}
