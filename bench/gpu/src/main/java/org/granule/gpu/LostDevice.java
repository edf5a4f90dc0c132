package org.granule.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintStream;
import org.granule.conformance.CudaWork;
import org.granule.memory.DriverFaultException;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;

/**
 * Loses the card for good, with a kernel that writes where nothing is mapped, and gets it back. For a container of its
 * own: whatever else it has on the card is gone with the context.
 */
final class LostDevice {

    private static final long MIB = 1 << 20;
    private static final int TRIES = 100_000;

    private final Deployed deployed = new Deployed();
    private final PrintStream out;

    LostDevice(PrintStream out) {
        this.out = out;
    }

    void run() throws Exception {
        var session = deployed.provider().open("work");
        long block = session.allocate(4 * MIB, 1);
        long range = session.reserve(64 * MIB, 1, Ranges.of(0, 8 * MIB), Extents.PIECES);
        session.fill(block, 0, 4 * MIB, (byte) 1);
        long queued = session.allocate(2 * MIB, 1);
        long pending = session.allocate(2 * MIB, 1);
        long owned = deployed.owned();
        // The kernel writes behind what is committed.
        var work = new CudaWork().hold().poke(session.address(range) + 32 * MIB);
        session.usedUntil(queued, 0, 2 * MIB, deployed.device().fence(work.stream()));
        session.releaseAfter(pending, deployed.device().fence(work.stream()));
        work.letGo();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < TRIES; i++) {
                        session.fill(block, 0, 4 * MIB, (byte) 2);
                    }
                })
                .isInstanceOfSatisfying(DriverFaultException.class, this::isLost);
        long calls = deployed.driverCalls();
        assertThatThrownBy(() -> session.allocate(64 * MIB, 1))
                .isInstanceOfSatisfying(DriverFaultException.class, this::isLost);
        assertThat(session.decommit(range, 0, 2 * MIB)).isNotInstanceOf(ReleaseOutcome.Complete.class);
        assertThat(session.release(block)).isNotInstanceOf(ReleaseOutcome.Complete.class);
        assertThat(deployed.driverCalls())
                .as("driver calls after the device was lost")
                .isEqualTo(calls);
        assertThat(deployed.owned()).as("bytes charged while it is lost").isEqualTo(owned);
        out.println("lost: " + owned + " bytes stay charged, no driver call was made");
        deployed.find().stop();
        assertThat(deployed.owned())
                .as("bytes charged when its context is gone")
                .isZero();
        deployed.find().start();
        try (var next = deployed.provider().open("work")) {
            long token = next.allocate(4 * MIB, 1);
            next.fill(token, 0, 4 * MIB, (byte) 3);
            next.release(token);
        }
        out.println("back: a new generation works on the same card");
    }

    private void isLost(DriverFaultException e) {
        assertThat(e.kind()).isEqualTo(DriverFaultException.Kind.DEVICE_LOST);
    }
}
