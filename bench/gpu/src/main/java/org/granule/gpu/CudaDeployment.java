package org.granule.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.granule.conformance.CudaWork;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.StaleTokenException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.wiring.BundleWiring;

/** The allocator's bundle is stopped, updated, refreshed and reinstalled while its memory is in use. */
@DisplayName("F. Hot deployment of the CUDA allocator")
public class CudaDeployment {

    private static final int UPDATES = 100;
    private static final long MIB = 1 << 20;

    private final Deployed deployed = new Deployed();

    /** How the allocator goes away and comes back. */
    private interface Change {
        void apply(Bundle bundle) throws BundleException, IOException;
    }

    @AfterEach
    void allocatorIsBack() throws BundleException, IOException {
        if (deployed.find() == null) {
            deployed.install();
        }
        deployed.find().start();
        deployed.provider();
    }

    @Test
    @DisplayName("F06 stopped with live, queued and shared memory")
    void stopped() throws Exception {
        goesAway(bundle -> {
            bundle.stop();
            deployed.await("nothing is owned", () -> deployed.owned() == 0);
            bundle.start();
        });
    }

    @Test
    @DisplayName("F06 updated with live, queued and shared memory")
    void updated() throws Exception {
        goesAway(deployed::update);
    }

    @Test
    @DisplayName("F06 refreshed with live, queued and shared memory")
    void refreshed() throws Exception {
        goesAway(bundle -> {
            deployed.update(bundle);
            deployed.refresh(bundle);
        });
    }

    @Test
    @DisplayName("F06 uninstalled with live, queued and shared memory, and installed again")
    void uninstalled() throws Exception {
        goesAway(bundle -> {
            bundle.uninstall();
            deployed.install().start();
        });
    }

    private void goesAway(Change change) throws Exception {
        var provider = deployed.provider();
        long generation = provider.describe().generation;
        var session = provider.open("work");
        long block = session.allocate(5 * MIB, 256);
        session.fill(block, 0, 5 * MIB, (byte) 1);
        long tokens = session.reserve(64 * MIB, 1, Ranges.of(0, 8 * MIB), Extents.PIECES);
        long prefix = session.share(tokens, 0, 4 * MIB);
        long sharer = session.reserve(64 * MIB, 1, Ranges.none(), Extents.PIECES);
        session.attach(sharer, 0, prefix);
        try (var work = new CudaWork()) {
            work.hold(TimeUnit.MILLISECONDS.toNanos(200)).fill(session.address(block), 5 * MIB, (byte) 2);
            session.usedUntil(block, 0, 5 * MIB, deployed.device().fence(work.stream()));
            change.apply(deployed.find());
        }
        assertThatThrownBy(() -> session.fill(block, 0, 1, (byte) 1))
                .isInstanceOfAny(StaleTokenException.class, MemoryException.class);
        assertThat(deployed.owned()).as("bytes that the ledger still charges").isZero();
        var next = deployed.provider();
        assertThat(next.describe().generation).isGreaterThan(generation);
        try (var again = next.open("work")) {
            long token = again.allocate(MIB, 1);
            again.fill(token, 0, MIB, (byte) 3);
            again.release(token);
        }
    }

    @Test
    @DisplayName("F07 100 updates: class loaders are collected, nothing is mapped or left in files more than once")
    void manyUpdates() throws Exception {
        var loaders = new ArrayList<WeakReference<ClassLoader>>();
        use();
        long libraries = mappedLibraries();
        long files = temporaryFiles();
        for (int i = 0; i < UPDATES; i++) {
            var bundle = deployed.find();
            loaders.add(new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader()));
            deployed.update(bundle);
            use();
        }
        deployed.await("all loaders but a last one are collected", () -> {
            System.gc();
            return loaders.stream().filter(loader -> loader.get() != null).count() <= 1;
        });
        assertThat(mappedLibraries()).as("native libraries that are mapped").isEqualTo(libraries);
        assertThat(temporaryFiles()).as("files in the temporary folder").isLessThanOrEqualTo(files);
    }

    private void use() {
        try (var session = deployed.provider().open("work")) {
            long token = session.allocate(3 * MIB, 1);
            session.fill(token, 0, 3 * MIB, (byte) 1);
            session.release(token);
        }
    }

    private static long mappedLibraries() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("libJCudaDriver") && line.contains("r-xp"))
                    .count();
        }
    }

    private static long temporaryFiles() throws IOException {
        try (var files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.count();
        }
    }
}
