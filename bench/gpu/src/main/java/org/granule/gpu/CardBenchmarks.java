package org.granule.gpu;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.granule.conformance.BoundRig;
import org.granule.conformance.CudaWork;
import org.granule.cuda.vmm.CudaRig;
import org.granule.memory.Access;
import org.granule.memory.ByteSize;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.provider.MemorySession;

/**
 * What operations cost on a card, beside the bare driver calls through the same binding and what Java programs would
 * use otherwise, in one process.
 */
final class CardBenchmarks {

    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    private static final long GRANULE = 2 * MIB;
    private static final int THREADS = 16;
    private static final int SHARED = 48;
    private static final int ROUNDS = 40;
    private static final long KERNEL_NANOS = 1_000_000_000;
    private static final long[] SIZES = {KIB, 64 * KIB, MIB, 2 * MIB, 32 * MIB, GIB};

    private final PrintStream out;
    private final List<Measured> results = new ArrayList<>();

    CardBenchmarks(PrintStream out) {
        this.out = out;
    }

    List<Measured> run() throws Exception {
        CudaRig.enter();
        try (var bound = new BoundRig(20 * GIB, 4 * GIB)) {
            allocations(bound.session());
            attach(bound);
        }
        asynchronous();
        try (var bound = new BoundRig(0, 4 * GIB)) {
            granules(bound);
            copyOnWrite(bound);
        }
        try (var bound = new BoundRig(0, 0)) {
            firstCommit(bound);
            whileComputing(bound);
        }
        return results;
    }

    private void add(Measured measured) {
        results.add(measured);
        out.printf(
                "%-34s %-8s %2d threads %,14.1f ns ± %,10.1f  %s%n",
                measured.scenario(),
                measured.parameter(),
                measured.threads(),
                measured.nanos(),
                measured.spread(),
                measured.bytes() < 0 ? "" : String.format("%.2f B", measured.bytes()));
    }

    private void allocations(MemorySession session) throws Exception {
        for (long size : SIZES) {
            add(Measured.quick(
                    "granule allocate+release",
                    ByteSize.format(size),
                    () -> session.release(session.allocate(size, 1))));
        }
        for (long size : new long[] {KIB, 2 * MIB, GIB}) {
            var operations = new Measured.Operation[THREADS];
            Arrays.fill(operations, (Measured.Operation) () -> session.release(session.allocate(size, 1)));
            add(Measured.together("granule allocate+release", ByteSize.format(size), operations));
        }
    }

    /** The driver's own allocator. Nothing waits for its streams, so its pool keeps what is freed. */
    private void asynchronous() throws Exception {
        for (long size : SIZES) {
            add(Measured.quick("cuMemAllocAsync+FreeAsync", ByteSize.format(size), asynchronous(size)));
        }
        for (long size : new long[] {KIB, 2 * MIB, GIB}) {
            var operations = new Measured.Operation[THREADS];
            for (int i = 0; i < THREADS; i++) {
                operations[i] = asynchronous(size);
            }
            add(Measured.together("cuMemAllocAsync+FreeAsync", ByteSize.format(size), operations));
        }
        CudaRig.run("cuCtxSynchronize", JCudaDriver::cuCtxSynchronize);
    }

    private static Measured.Operation asynchronous(long size) {
        var stream = new CUstream();
        var pointer = new CUdeviceptr();
        CudaRig.run("cuStreamCreate", () -> JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        var entered = new ThreadLocal<Boolean>();
        return () -> {
            if (entered.get() == null) {
                CudaRig.enter();
                entered.set(true);
            }
            require(JCudaDriver.cuMemAllocAsync(pointer, size, stream));
            require(JCudaDriver.cuMemFreeAsync(pointer, stream));
        };
    }

    private static void require(int code) {
        if (code != 0) {
            throw new IllegalStateException("the driver answered " + code);
        }
    }

    private void firstCommit(BoundRig bound) throws Exception {
        var session = bound.session();
        long token = session.reserve(GIB, 1, Ranges.none(), Extents.WHOLE);
        add(Measured.slow(
                "granule first commit",
                "1 GiB",
                ROUNDS,
                () -> {},
                () -> session.commit(token, 0, GIB),
                () -> session.decommit(token, 0, GIB)));
        session.release(token);
        var driver = bound.rig().driver();
        long address = driver.reserve(GIB);
        long[] handle = new long[1];
        add(Measured.slow(
                "bare create+map+access",
                "1 GiB",
                ROUNDS,
                () -> {},
                () -> {
                    handle[0] = driver.create(GIB);
                    driver.map(address, GIB, handle[0]);
                    driver.protect(address, GIB, Access.READ_WRITE);
                },
                () -> {
                    driver.unmap(address, GIB);
                    driver.release(handle[0], GIB);
                }));
        driver.free(address, GIB);
    }

    private void granules(BoundRig bound) throws Exception {
        var session = bound.session();
        long token = session.reserve(GIB, 1, Ranges.none(), Extents.PIECES);
        add(Measured.slow(
                "granule commit from pool",
                "2 MiB",
                10 * ROUNDS,
                () -> {},
                () -> session.commit(token, 0, GRANULE),
                () -> session.decommit(token, 0, GRANULE)));
        session.release(token);
        var driver = bound.rig().driver();
        long address = driver.reserve(GRANULE);
        long handle = driver.create(GRANULE);
        add(Measured.slow(
                "bare map+access",
                "2 MiB",
                10 * ROUNDS,
                () -> {},
                () -> {
                    driver.map(address, GRANULE, handle);
                    driver.protect(address, GRANULE, Access.READ_WRITE);
                },
                () -> driver.unmap(address, GRANULE)));
        driver.release(handle, GRANULE);
        driver.free(address, GRANULE);
    }

    private void copyOnWrite(BoundRig bound) throws Exception {
        var session = bound.session();
        long token = session.reserve(GIB, 1, Ranges.of(0, GRANULE), Extents.PIECES);
        long prefix = session.share(token, 0, GRANULE);
        long sharer = session.reserve(GIB, 1, Ranges.none(), Extents.PIECES);
        add(Measured.slow(
                "granule copy-on-write",
                "2 MiB",
                5 * ROUNDS,
                () -> session.attach(sharer, 0, prefix),
                () -> session.privatise(sharer, 0, GRANULE),
                () -> session.decommit(sharer, 0, GRANULE)));
        session.release(sharer);
        session.retire(prefix);
        session.release(token);
        var driver = bound.rig().driver();
        long addresses = driver.reserve(3 * GRANULE);
        long shared = driver.create(GRANULE);
        long own = driver.create(GRANULE);
        long place = addresses;
        long beside = addresses + GRANULE;
        add(Measured.slow(
                "bare copy-on-write",
                "2 MiB",
                5 * ROUNDS,
                () -> {
                    driver.map(place, GRANULE, shared);
                    driver.protect(place, GRANULE, Access.READ);
                },
                () -> {
                    driver.map(beside, GRANULE, own);
                    driver.protect(beside, GRANULE, Access.READ_WRITE);
                    driver.copy(beside, place, GRANULE);
                    driver.unmap(beside, GRANULE);
                    driver.unmap(place, GRANULE);
                    driver.map(place, GRANULE, own);
                    driver.protect(place, GRANULE, Access.READ_WRITE);
                },
                () -> driver.unmap(place, GRANULE)));
        driver.release(shared, GRANULE);
        driver.release(own, GRANULE);
        driver.free(addresses, 3 * GRANULE);
    }

    private void attach(BoundRig bound) throws Exception {
        var session = bound.session();
        long bytes = SHARED * GRANULE;
        long token = session.reserve(bytes, 1, Ranges.of(0, bytes), Extents.PIECES);
        long prefix = session.share(token, 0, bytes);
        long sharer = session.reserve(bytes, 1, Ranges.none(), Extents.PIECES);
        add(Measured.slow(
                "granule attach",
                "48 × 2 MiB",
                ROUNDS,
                () -> {},
                () -> session.attach(sharer, 0, prefix),
                () -> session.detach(sharer, 0, prefix)));
        add(Measured.slow(
                "granule commit and copy",
                "48 × 2 MiB",
                ROUNDS,
                () -> {},
                () -> {
                    session.commit(sharer, 0, bytes);
                    session.copy(sharer, 0, token, 0, bytes);
                },
                () -> session.decommit(sharer, 0, bytes)));
        session.release(sharer);
        session.retire(prefix);
        session.release(token);
        var driver = bound.rig().driver();
        long address = driver.reserve(bytes);
        long[] handles = new long[SHARED];
        for (int i = 0; i < SHARED; i++) {
            handles[i] = driver.create(GRANULE);
        }
        add(Measured.slow(
                "bare map+access",
                "48 × 2 MiB",
                ROUNDS,
                () -> {},
                () -> {
                    for (int i = 0; i < SHARED; i++) {
                        driver.map(address + i * GRANULE, GRANULE, handles[i]);
                    }
                    driver.protect(address, bytes, Access.READ);
                },
                () -> driver.unmap(address, bytes)));
        for (long handle : handles) {
            driver.release(handle, GRANULE);
        }
        driver.free(address, bytes);
    }

    /** Each release meets a kernel that runs for a second in another stream. */
    private void whileComputing(BoundRig bound) throws Exception {
        var session = bound.session();
        long[] token = new long[1];
        try (var work = new CudaWork()) {
            add(Measured.slow(
                    "granule release under a kernel",
                    "2 MiB",
                    4,
                    () -> {
                        token[0] = session.allocate(GRANULE, 1);
                        work.hold(KERNEL_NANOS);
                    },
                    () -> session.release(token[0]),
                    work::await));
            var pointer = new CUdeviceptr();
            add(Measured.slow(
                    "cuMemFree under a kernel",
                    "2 MiB",
                    4,
                    () -> {
                        require(JCudaDriver.cuMemAlloc(pointer, GRANULE));
                        work.hold(KERNEL_NANOS);
                    },
                    () -> require(JCudaDriver.cuMemFree(pointer)),
                    work::await));
        }
    }
}
