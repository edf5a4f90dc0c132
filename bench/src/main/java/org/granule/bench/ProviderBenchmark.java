package org.granule.bench;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.granule.host.HostAllocator;
import org.granule.provider.MemorySession;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Allocate, write the first byte, release: through the session that a provider hands out, and with others' allocators
 * at their best. All threads use one session, one allocator.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(
        jvmArgsAppend = {
            "-Xms1g",
            "-Xmx1g",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-Dio.netty.tryReflectionSetAccessible=true",
            "-Dio.netty.leakDetection.level=disabled",
            "-Darrow.memory.debug.allocator=false",
            "-Darrow.enable_unsafe_memory_access=true"
        })
public class ProviderBenchmark {

    private static final long ALIGNMENT = 64;

    /** Bytes of each allocation. */
    @Param({"64", "4096", "65536", "2097152"})
    public int size;

    /** Moves what lives long to where it is in a process that has run for a while; writes to it cost more there. */
    @Setup(Level.Iteration)
    public void age() {
        System.gc();
    }

    /** A provider on the eager host allocator. */
    @State(Scope.Benchmark)
    public static class Eager {
        private Provider provider;
        private MemorySession session;

        /** Binds it. */
        @Setup(Level.Trial)
        public void open() {
            provider = new Provider(new HostAllocator(256L << 20));
            session = provider.session();
        }

        /** Ends it. */
        @TearDown(Level.Trial)
        public void close() {
            provider.close();
        }
    }

    /** A provider on the host VMM allocator, whose granule is 2 MiB. */
    @State(Scope.Benchmark)
    public static class Vmm {
        private Provider provider;
        private MemorySession session;

        /** Binds it. */
        @Setup(Level.Trial)
        public void open() {
            provider = new Provider(Framework.hostVmm("2MiB"));
            session = provider.session();
        }

        /** Ends it. */
        @TearDown(Level.Trial)
        public void close() {
            provider.close();
        }
    }

    /** What this is all about. */
    @Benchmark
    public void granule(Eager eager) {
        cycle(eager.session);
    }

    /** Blocks that the VMM allocator keeps mapped. */
    @Benchmark
    public void granuleVmm(Vmm vmm) {
        cycle(vmm.session);
    }

    private void cycle(MemorySession session) {
        long token = session.allocate(size, ALIGNMENT);
        Memory.touch(session.address(token));
        session.release(token);
    }

    /** Netty's default. */
    @Benchmark
    public void nettyAdaptive(NettyAllocators netty) {
        var buffer = netty.adaptive.directBuffer(size);
        buffer.setByte(0, 1);
        buffer.release();
    }

    /** Netty's older one. */
    @Benchmark
    public void nettyPooled(NettyAllocators netty) {
        var buffer = netty.pooled.directBuffer(size);
        buffer.setByte(0, 1);
        buffer.release();
    }

    /** Arrow with Unsafe. */
    @Benchmark
    public void arrow(ArrowAllocator arrow) {
        try (var buffer = arrow.role.buffer(size)) {
            buffer.setByte(0, 1);
        }
    }

    /** The JDK's own; it zeroes. */
    @Benchmark
    public void arenaConfined() {
        try (var arena = Arena.ofConfined()) {
            arena.allocate(size, ALIGNMENT).set(JAVA_BYTE, 0, (byte) 1);
        }
    }

    /** No governance at all: glibc. */
    @Benchmark
    public void malloc() throws Throwable {
        long address = Malloc.allocate(size);
        Memory.touch(address);
        Malloc.free(address);
    }

    /** No governance at all: jemalloc. */
    @Benchmark
    public void jemalloc() throws Throwable {
        long address = Jemalloc.allocate(size);
        Memory.touch(address);
        Jemalloc.free(address);
    }
}
