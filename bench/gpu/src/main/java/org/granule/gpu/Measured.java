package org.granule.gpu;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A time that was measured: the median of its samples and half of the range of their middle half.
 *
 * @param scenario what was done
 * @param parameter a size or a mechanism, empty for none
 * @param threads how many did it at once
 * @param nanos for one operation of one thread
 * @param spread nanoseconds
 * @param bytes Java garbage for an operation
 */
record Measured(String scenario, String parameter, int threads, double nanos, double spread, double bytes) {

    private static final int SAMPLES = 30;
    private static final long SAMPLE_NANOS = 20_000_000;
    private static final long WARM_NANOS = 1_000_000_000;

    /** Something to do often. */
    @FunctionalInterface
    interface Operation {
        void run() throws Exception;
    }

    /** Repeats a quick operation; each sample is the mean of many. */
    static Measured quick(String scenario, String parameter, Operation operation) throws Exception {
        var memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int batch = 1;
        for (long start = System.nanoTime(); System.nanoTime() - start < WARM_NANOS; ) {
            long began = System.nanoTime();
            repeat(batch, operation);
            if (System.nanoTime() - began < SAMPLE_NANOS) {
                batch *= 2;
            }
        }
        double[] samples = new double[SAMPLES];
        long before = memory.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < SAMPLES; i++) {
            long began = System.nanoTime();
            repeat(batch, operation);
            samples[i] = (System.nanoTime() - began) / (double) batch;
        }
        double garbage = (memory.getCurrentThreadAllocatedBytes() - before) / ((double) batch * SAMPLES);
        return of(scenario, parameter, 1, samples, garbage);
    }

    /** The same on several threads at once, each with an operation of its own. */
    static Measured together(String scenario, String parameter, Operation... operations) throws Exception {
        int threads = operations.length;
        var all = new Measured[threads];
        var failure = new AtomicReference<Exception>();
        var barrier = new CyclicBarrier(threads);
        var workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int number = i;
            workers[i] = Thread.ofPlatform().start(() -> {
                try {
                    barrier.await();
                    all[number] = quick(scenario, parameter, operations[number]);
                } catch (Exception e) {
                    failure.set(e);
                }
            });
        }
        for (var worker : workers) {
            worker.join();
        }
        if (failure.get() != null) {
            throw failure.get();
        }
        double[] each = Arrays.stream(all).mapToDouble(Measured::nanos).toArray();
        return of(
                scenario,
                parameter,
                threads,
                each,
                Arrays.stream(all).mapToDouble(Measured::bytes).max().orElse(0));
    }

    /** Times a slow operation one by one, with something before and after each that does not count. */
    static Measured slow(
            String scenario, String parameter, int rounds, Operation before, Operation timed, Operation after)
            throws Exception {
        double[] samples = new double[rounds];
        for (int i = -rounds / 2; i < rounds; i++) {
            before.run();
            long began = System.nanoTime();
            timed.run();
            long nanos = System.nanoTime() - began;
            after.run();
            if (i >= 0) {
                samples[i] = nanos;
            }
        }
        return of(scenario, parameter, 1, samples, -1);
    }

    private static void repeat(int count, Operation operation) throws Exception {
        for (int i = 0; i < count; i++) {
            operation.run();
        }
    }

    private static Measured of(String scenario, String parameter, int threads, double[] samples, double bytes) {
        Arrays.sort(samples);
        int n = samples.length;
        return new Measured(
                scenario, parameter, threads, samples[n / 2], (samples[n - 1 - n / 4] - samples[n / 4]) / 2, bytes);
    }
}
