package org.granule.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.granule.conformance.CudaWork;
import org.granule.cuda.CudaDevice;
import org.granule.governor.Governor;
import org.granule.memory.Extents;
import org.granule.memory.MemoryException;
import org.granule.memory.Ranges;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.BundleWiring;
import org.osgi.framework.wiring.FrameworkWiring;

/** The allocator's bundle is stopped, updated, refreshed and reinstalled while its memory is in use. */
@DisplayName("F. Hot deployment of the CUDA allocator")
public class CudaDeployment {

    private static final int UPDATES = 100;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long MIB = 1 << 20;
    private static final String ALLOCATOR = "org.granule.cuda.vmm";
    private static final String JAR = "cuda.vmm.jar";
    private static final String PROVIDER = "(granule.provider=cuda0)";

    private final BundleContext context =
            FrameworkUtil.getBundle(CudaDeployment.class).getBundleContext();

    /** How the allocator goes away and comes back. */
    private interface Change {
        void apply(Bundle bundle) throws BundleException, IOException;
    }

    @AfterEach
    void allocatorIsBack() throws BundleException, IOException {
        if (find() == null) {
            install();
        }
        find().start();
        provider();
    }

    @Test
    @DisplayName("F06 stopped with live, queued and shared memory")
    void stopped() throws Exception {
        goesAway(bundle -> {
            bundle.stop();
            await("nothing is owned", () -> owned() == 0);
            bundle.start();
        });
    }

    @Test
    @DisplayName("F06 updated with live, queued and shared memory")
    void updated() throws Exception {
        goesAway(this::update);
    }

    @Test
    @DisplayName("F06 refreshed with live, queued and shared memory")
    void refreshed() throws Exception {
        goesAway(bundle -> {
            update(bundle);
            refresh(bundle);
        });
    }

    @Test
    @DisplayName("F06 uninstalled with live, queued and shared memory, and installed again")
    void uninstalled() throws Exception {
        goesAway(bundle -> {
            bundle.uninstall();
            install().start();
        });
    }

    private void goesAway(Change change) throws Exception {
        var provider = provider();
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
            session.usedUntil(block, 0, 5 * MIB, device().fence(work.stream()));
            change.apply(find());
        }
        assertThatThrownBy(() -> session.fill(block, 0, 1, (byte) 1))
                .isInstanceOfAny(StaleTokenException.class, MemoryException.class);
        assertThat(owned()).as("bytes that the ledger still charges").isZero();
        var next = provider();
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
            var bundle = find();
            loaders.add(new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader()));
            update(bundle);
            use();
        }
        await("all loaders but a last one are collected", () -> {
            System.gc();
            return loaders.stream().filter(loader -> loader.get() != null).count() <= 1;
        });
        assertThat(mappedLibraries()).as("native libraries that are mapped").isEqualTo(libraries);
        assertThat(temporaryFiles()).as("files in the temporary folder").isLessThanOrEqualTo(files);
    }

    private void use() {
        try (var session = provider().open("work")) {
            long token = session.allocate(3 * MIB, 1);
            session.fill(token, 0, 3 * MIB, (byte) 1);
            session.release(token);
        }
    }

    private void update(Bundle bundle) throws BundleException, IOException {
        try (var jar = CudaDeployment.class.getResourceAsStream(JAR)) {
            bundle.update(jar);
        }
    }

    private Bundle install() throws BundleException, IOException {
        try (var jar = CudaDeployment.class.getResourceAsStream(JAR)) {
            return context.installBundle("test:" + ALLOCATOR, jar);
        }
    }

    private void refresh(Bundle bundle) {
        var done = new boolean[1];
        context.getBundle(0).adapt(FrameworkWiring.class).refreshBundles(List.of(bundle), event -> {
            synchronized (done) {
                done[0] = true;
            }
        });
        await("the refresh", () -> {
            synchronized (done) {
                return done[0];
            }
        });
    }

    private Bundle find() {
        return Arrays.stream(context.getBundles())
                .filter(bundle -> ALLOCATOR.equals(bundle.getSymbolicName()))
                .findFirst()
                .orElse(null);
    }

    private ExecutionProvider provider() {
        return service(ExecutionProvider.class, PROVIDER);
    }

    private CudaDevice device() {
        return service(CudaDevice.class, "(granule.device=cuda:0)");
    }

    private <T> T service(Class<T> type, String filter) {
        var found = new ArrayList<T>();
        await("a " + type.getSimpleName() + " with " + filter, () -> {
            try {
                // All: the ledger is also registered under a class of which this bundle has a copy.
                var references = context.getAllServiceReferences(type.getName(), filter);
                for (var reference : references == null ? new ServiceReference<?>[0] : references) {
                    var service = context.getService(reference);
                    if (type.isInstance(service)) {
                        found.add(type.cast(service));
                    }
                }
            } catch (InvalidSyntaxException e) {
                throw new IllegalArgumentException(e);
            }
            return !found.isEmpty();
        });
        return found.getFirst();
    }

    private long owned() {
        return service(Governor.class, "(objectClass=*)").ledger().stream()
                .filter(row -> "cuda:0".equals(row.path))
                .mapToLong(row -> row.ownedBytes)
                .sum();
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

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline)
                    .as("time left for: " + what)
                    .isNegative();
            Thread.onSpinWait();
            try {
                TimeUnit.MILLISECONDS.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
