package org.granule.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Hashtable;
import jcuda.driver.JCudaDriver;
import org.granule.cuda.vmm.CudaRig;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.NotSupportedException;
import org.granule.memory.Ranges;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.service.cm.ConfigurationAdmin;

/** What those who work on the device with JCuda get: pointers, and handles for other processes. */
@DisplayName("The bridge to JCuda and to other processes")
public class CudaBridge {

    private static final long MIB = 1 << 20;
    private static final String SETTINGS = "org.granule.cuda.vmm";

    private final Deployed deployed = new Deployed();

    @Test
    @DisplayName("JCuda writes through a pointer, and the session reads it")
    void pointer() {
        try (var session = deployed.provider().open("bridge")) {
            long token = session.allocate(4 * MIB, 1);
            var pointer = deployed.device().pointer(session, token, MIB);
            CudaRig.run("cuMemsetD8", () -> JCudaDriver.cuMemsetD8(pointer, (byte) 9, MIB));
            var read = MemorySegment.ofArray(new byte[2]);
            session.copyOut(read, token, 2 * MIB - 2);
            assertThat(read.toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
            session.release(token);
            assertThatThrownBy(() -> deployed.device().pointer(session, token, 0))
                    .isInstanceOf(StaleTokenException.class);
        }
    }

    @Test
    @DisplayName("an offset outside, a prefix, and a session of another device are refused")
    void refused() {
        var host = deployed.service(ExecutionProvider.class, "(granule.provider=host0)");
        try (var session = deployed.provider().open("bridge");
                var other = host.open("bridge")) {
            long token = session.reserve(8 * MIB, 1, Ranges.of(0, 4 * MIB), Extents.PIECES);
            long prefix = session.share(token, 0, 2 * MIB);
            long foreign = other.allocate(MIB, 1);
            var device = deployed.device();
            assertThatThrownBy(() -> device.pointer(session, token, 8 * MIB))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> device.pointer(session, token, -1)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> device.pointer(session, prefix, 0)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> device.pointer(other, foreign, 0)).isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    @DisplayName("memory is exported only where that was asked for before")
    void export() throws Exception {
        try (var session = deployed.provider().open("bridge")) {
            long token = session.allocate(2 * MIB, 1);
            assertThatThrownBy(() -> deployed.device().export(session, token, 0))
                    .isInstanceOf(NotSupportedException.class)
                    .hasMessageContaining("exportable");
        }
        var configuration =
                deployed.service(ConfigurationAdmin.class, "(objectClass=*)").getConfiguration(SETTINGS, null);
        long generation = deployed.provider().describe().generation;
        var settings = new Hashtable<String, Object>();
        settings.put("exportable", true);
        configuration.update(settings);
        try {
            deployed.await("a new generation", () -> deployed.provider().describe().generation > generation);
            try (var session = deployed.provider().open("bridge")) {
                long token = session.allocate(2 * MIB, 1);
                int descriptor = deployed.device().export(session, token, 0);
                assertThat(Files.exists(Path.of("/proc/self/fd/" + descriptor))).isTrue();
            }
        } finally {
            long last = deployed.provider().describe().generation;
            configuration.delete();
            deployed.await("the allocator as before", () -> deployed.provider().describe().generation > last);
        }
    }
}
