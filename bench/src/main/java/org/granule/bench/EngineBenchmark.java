package org.granule.bench;

import java.util.concurrent.TimeUnit;
import org.granule.memory.ByteSize;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.VirtualBacking;
import org.granule.provider.MemorySession;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Commit and decommit, per granule, of one and of sixteen at a time: the system calls alone, through the engine, and
 * through a session. Nothing is touched, so no page is made. A run of sixteen is one extent, one mapping; in pieces it
 * is sixteen extents, since each may leave alone.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g", "--enable-native-access=ALL-UNNAMED"})
public class EngineBenchmark {

    private static final int RUN = 16;

    /** The granule. */
    @Param({"64KiB", "2MiB"})
    public String granule;

    private long one;
    private BareCalls bare;
    private Provider provider;
    private VirtualBacking engine;
    private MemorySession session;
    private long whole;
    private long pieces;
    private long token;

    /** Reserves room for a run on each way. */
    @Setup(Level.Trial)
    public void open() throws Throwable {
        one = ByteSize.parse(granule);
        long room = RUN * one;
        bare = new BareCalls(room);
        var allocator = Framework.hostVmm(granule);
        provider = new Provider(allocator);
        engine = allocator.virtualBacking().orElseThrow();
        var account = provider.account();
        whole = engine.reserve(room, one, Ranges.none(), Extents.WHOLE, account);
        pieces = engine.reserve(room, one, Ranges.none(), Extents.PIECES, account);
        session = provider.session();
        token = session.reserve(room, one, Ranges.none(), Extents.WHOLE);
    }

    /** Gives it back. */
    @TearDown(Level.Trial)
    public void close() {
        provider.close();
    }

    /** Two system calls. */
    @Benchmark
    public void bareOne() throws Throwable {
        bare.commit(0, one);
        bare.decommit(0, one);
    }

    /** Two system calls for all sixteen. */
    @Benchmark
    @OperationsPerInvocation(RUN)
    public void bareRun() throws Throwable {
        bare.commit(0, RUN * one);
        bare.decommit(0, RUN * one);
    }

    /** Sixteen mappings, covered by one. */
    @Benchmark
    @OperationsPerInvocation(RUN)
    public void barePieces() throws Throwable {
        for (int i = 0; i < RUN; i++) {
            bare.commit(i * one, one);
        }
        bare.decommit(0, RUN * one);
    }

    /** The engine. */
    @Benchmark
    public void engineOne() {
        engine.commit(whole, 0, one);
        engine.decommit(whole, 0, one);
    }

    /** The engine, one extent. */
    @Benchmark
    @OperationsPerInvocation(RUN)
    public void engineRun() {
        engine.commit(whole, 0, RUN * one);
        engine.decommit(whole, 0, RUN * one);
    }

    /** The engine, sixteen extents. */
    @Benchmark
    @OperationsPerInvocation(RUN)
    public void enginePieces() {
        engine.commit(pieces, 0, RUN * one);
        engine.decommit(pieces, 0, RUN * one);
    }

    /** A session. */
    @Benchmark
    public void sessionOne() {
        session.commit(token, 0, one);
        session.decommit(token, 0, one);
    }

    /** A session, one extent. */
    @Benchmark
    @OperationsPerInvocation(RUN)
    public void sessionRun() {
        session.commit(token, 0, RUN * one);
        session.decommit(token, 0, RUN * one);
    }
}
