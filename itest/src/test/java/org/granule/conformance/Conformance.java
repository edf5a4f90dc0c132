package org.granule.conformance;

import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** What all groups have in common: subjects are made on request, and nothing may be left of any at the end. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class Conformance {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final List<Stand> stands = new ArrayList<>();

    /** Makes an allocator to test. */
    abstract Subject subject(Keeping keeping);

    final Stand stand() {
        return stand(Keeping.MUCH);
    }

    final Stand stand(Keeping keeping) {
        // Hundreds are made in some scenarios, each with threads that end when it is collected.
        stands.removeIf(Stand::hasEnded);
        var stand = new Stand(subject(keeping));
        stands.add(stand);
        return stand;
    }

    @AfterEach
    final void nothingIsLeft() {
        Throwable first = null;
        for (Stand stand : stands) {
            try {
                stand.end();
            } catch (RuntimeException | Error e) {
                first = first == null ? e : first;
            }
        }
        stands.clear();
        switch (first) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new AssertionError(first);
        }
    }

    static void requireLazy(Stand stand) {
        assumeTrue(stand.subject.isLazy(), "it has no virtual backing: addresses and memory come together");
    }

    static void requireSharing(Stand stand) {
        assumeTrue(stand.subject.isLazy(), "it has no shared mapping: its memory has no handles to map twice");
    }

    static void requireEager(Stand stand) {
        assumeFalse(stand.subject.isLazy(), "it has both facets; this is about eager allocators");
    }

    static void requireInspection(Stand stand) {
        assumeTrue(
                stand.subject.allocator().inspection().isPresent(),
                "it has no inspection: the C library does not tell what it has handed out");
    }

    static void requireDriver(Stand stand) {
        assumeTrue(
                stand.subject.gate() != null,
                "it has no driver whose calls could fail: the C library takes " + "everything back");
    }

    /** Waits until something is so, within a bound that a slow machine does not reach. */
    static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("never happened: " + what);
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }
}
