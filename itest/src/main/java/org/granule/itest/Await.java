package org.granule.itest;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.opentest4j.AssertionFailedError;

/** Waits for what happens in another thread, for a bounded time. */
final class Await {

    private static final Duration BOUND = Duration.ofSeconds(20);
    private static final long PAUSE_NANOS = 1_000_000;

    private Await() {}

    /** Reads until what is read is as wanted; fails with what was read last. */
    static <T> T await(String what, Callable<T> reading, Predicate<? super T> wanted) {
        long deadline = System.nanoTime() + BOUND.toNanos();
        while (true) {
            T read;
            try {
                read = reading.call();
            } catch (Exception e) {
                throw new AssertionFailedError("while waiting for: " + what, e);
            }
            if (wanted.test(read)) {
                return read;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionFailedError(what + " did not come within " + BOUND + "; last seen: " + read);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    static void await(String what, Callable<Boolean> condition) {
        await(what, condition, Boolean::booleanValue);
    }
}
