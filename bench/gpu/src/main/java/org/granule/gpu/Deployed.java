package org.granule.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.granule.cuda.CudaDevice;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.Governor;
import org.granule.provider.ExecutionProvider;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.BundleException;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.wiring.FrameworkWiring;

/** The CUDA allocator as it is deployed in this framework, and what depends on it. */
final class Deployed {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final String ALLOCATOR = "org.granule.cuda.vmm";
    private static final String JAR = "cuda.vmm.jar";
    private static final String PROVIDER = "(granule.provider=cuda0)";

    private final BundleContext context =
            FrameworkUtil.getBundle(Deployed.class).getBundleContext();

    void update(Bundle bundle) throws BundleException, IOException {
        try (var jar = Deployed.class.getResourceAsStream(JAR)) {
            bundle.update(jar);
        }
    }

    Bundle install() throws BundleException, IOException {
        try (var jar = Deployed.class.getResourceAsStream(JAR)) {
            return context.installBundle("test:" + ALLOCATOR, jar);
        }
    }

    void refresh(Bundle bundle) {
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

    Bundle find() {
        return Arrays.stream(context.getBundles())
                .filter(bundle -> ALLOCATOR.equals(bundle.getSymbolicName()))
                .findFirst()
                .orElse(null);
    }

    ExecutionProvider provider() {
        return service(ExecutionProvider.class, PROVIDER);
    }

    CudaDevice device() {
        return service(CudaDevice.class, "(granule.device=cuda:0)");
    }

    <T> T service(Class<T> type, String filter) {
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

    long owned() {
        return service(Governor.class, "(objectClass=*)").ledger().stream()
                .filter(row -> "cuda:0".equals(row.path))
                .mapToLong(row -> row.ownedBytes)
                .sum();
    }

    void await(String what, BooleanSupplier condition) {
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

    long driverCalls() {
        return service(AllocationRegistry.class, "(objectClass=*)").bindings().stream()
                .filter(binding -> "cuda0".equals(binding.holder))
                .mapToLong(binding -> binding.driverCalls)
                .sum();
    }

    List<AllocationDTO> quarantined() {
        return service(AllocationRegistry.class, "(objectClass=*)").allocations().stream()
                .filter(allocation -> AllocationDTO.QUARANTINED.equals(allocation.state))
                .toList();
    }
}
