package org.granule.conformance;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import org.granule.cuda.vmm.CudaRig;
import org.granule.memory.Extents;
import org.granule.memory.InUseException;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome.Complete;
import org.granule.provider.MemorySession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Real kernels, streams and graphs on memory whose mappings change. */
@DisplayName("Streams, fences and graphs on a card")
public class CudaStreamsConformance extends Conformance {

    private final CudaWork work = new CudaWork();
    private final CudaWork other = new CudaWork();

    @Override
    Subject subject(Keeping keeping) {
        return new CudaSubject(keeping);
    }

    @AfterEach
    void endWork() {
        work.close();
        other.close();
    }

    private static CudaRig rig(Stand stand) {
        return ((CudaSubject) stand.subject).rig();
    }

    private static byte read(MemorySession session, long token, long offset) {
        var one = MemorySegment.ofArray(new byte[1]);
        session.copyOut(one, token, offset);
        return one.get(JAVA_BYTE, 0);
    }

    @Test
    @DisplayName("D09 a kernel is queued on a range: nothing is unmapped until it is done, and then it goes")
    void kernelIsQueued() throws Exception {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long bytes = 4 * stand.subject.unit();
        long token = session.allocate(bytes, 1);
        work.hold().fill(session.address(token), bytes, (byte) 7);
        session.usedUntil(token, 0, bytes, rig(stand).fence(work.stream()));
        assertThatThrownBy(() -> session.release(token)).isInstanceOf(InUseException.class);
        assertThat(stand.subject.gate().unmapCalls()).isEmpty();
        var release = CompletableFuture.supplyAsync(() -> {
            while (true) {
                try {
                    return session.release(token);
                } catch (InUseException e) {
                    // The kernel still runs.
                }
            }
        });
        assertThat(stand.subject.gate().unmapCalls()).isEmpty();
        work.letGo();
        assertThat(release.get(30, TimeUnit.SECONDS)).isEqualTo(new Complete(bytes));
        work.await();
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("D09 while a kernel runs on one range, others are committed, shared, copied on write and released")
    void othersGoOn() {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long unit = stand.subject.unit();
        long busy = session.reserve(8 * unit, 1, Ranges.of(0, 4 * unit), Extents.PIECES);
        work.hold().fill(session.address(busy), unit, (byte) 7);
        var fence = rig(stand).fence(work.stream());
        session.usedUntil(busy, 0, unit, fence);
        session.commit(busy, 4 * unit, 2 * unit);
        assertThat(session.decommit(busy, 2 * unit, 4 * unit)).isEqualTo(new Complete(4 * unit));
        long prefix = session.share(busy, unit, unit);
        long sharer = session.reserve(8 * unit, 1, Ranges.none(), Extents.PIECES);
        session.attach(sharer, 0, prefix);
        session.privatise(sharer, 0, unit);
        session.release(sharer);
        session.retire(prefix);
        session.release(session.allocate(16 * unit, 1));
        assertThat(fence.passed())
                .as("the kernel has ended, so nothing was shown")
                .isFalse();
        work.letGo();
        work.await();
        assertThat(read(session, busy, unit - 1)).isEqualTo((byte) 7);
        session.release(busy);
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("D08 releases wait each for its own stream: one that is stuck holds back nothing of another")
    void stuckStream() throws Exception {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long bytes = stand.subject.unit();
        long stuck = session.allocate(bytes, 1);
        long free = session.allocate(bytes, 1);
        work.hold().fill(session.address(stuck), bytes, (byte) 1);
        other.hold().fill(session.address(free), bytes, (byte) 2);
        var first = session.releaseAfter(stuck, rig(stand).fence(work.stream())).toCompletableFuture();
        var second =
                session.releaseAfter(free, rig(stand).fence(other.stream())).toCompletableFuture();
        other.letGo();
        assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(new Complete(bytes));
        assertThat(first).isNotDone();
        stand.expect(session, bytes, bytes);
        stand.check();
        work.letGo();
        assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(new Complete(bytes));
        stand.expect(session, 0, 0);
        stand.check();
    }

    @Test
    @DisplayName("a range that a capture may refer to is not unmapped; its graph writes what is mapped when it runs")
    void graph() {
        var stand = stand(Keeping.NOTHING);
        var session = stand.open("anna");
        long unit = stand.subject.unit();
        long token = session.reserve(4 * unit, 1, Ranges.of(0, unit), Extents.PIECES);
        CudaRig.run(
                "cuStreamBeginCapture",
                () -> JCudaDriver.cuStreamBeginCapture(
                        work.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
        work.fill(session.address(token), unit, (byte) 9);
        session.usedUntil(token, 0, unit, rig(stand).fence(work.stream()));
        assertThatThrownBy(() -> session.decommit(token, 0, unit)).isInstanceOf(InUseException.class);
        // Everything else goes on, from the thread that captures too.
        session.commit(token, unit, 2 * unit);
        Stand.fill(session, token, unit, unit, 5);
        assertThat(session.decommit(token, 2 * unit, unit)).isEqualTo(new Complete(unit));
        session.release(session.allocate(3 * unit, 1));
        var graph = new CUgraph();
        var runnable = new CUgraphExec();
        CudaRig.run("cuStreamEndCapture", () -> JCudaDriver.cuStreamEndCapture(work.stream(), graph));
        CudaRig.run("cuGraphInstantiate", () -> JCudaDriver.cuGraphInstantiate(runnable, graph, 0));
        for (int round = 0; round < 3; round++) {
            // Other memory at the same address each time.
            session.usedUntil(token, 0, unit, rig(stand).fence(work.stream()));
            assertThat(session.decommit(token, 0, unit)).isEqualTo(new Complete(unit));
            session.commit(token, 0, unit);
            Stand.fill(session, token, 0, unit, 1);
            CudaRig.run("cuGraphLaunch", () -> JCudaDriver.cuGraphLaunch(runnable, work.stream()));
            work.await();
            assertThat(read(session, token, 0)).isEqualTo((byte) 9);
            assertThat(read(session, token, unit - 1)).isEqualTo((byte) 9);
            assertThat(read(session, token, unit)).isEqualTo((byte) 5);
        }
        CudaRig.run("cuGraphExecDestroy", () -> JCudaDriver.cuGraphExecDestroy(runnable));
        CudaRig.run("cuGraphDestroy", () -> JCudaDriver.cuGraphDestroy(graph));
        session.release(token);
        stand.expect(session, 0, 0);
        stand.check();
    }
}
