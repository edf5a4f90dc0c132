package org.granule.gpu;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.granule.conformance.CudaDriverRules;
import org.granule.conformance.CudaStreamsConformance;
import org.granule.conformance.CudaVmmConformance;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the tests that need a card inside this framework, and keeps what they say. */
final class CardTests implements TestExecutionListener {

    /** Test classes in the order in which they run. */
    private static final List<Class<?>> CLASSES = List.of(
            CudaDriverRules.class,
            CudaVmmConformance.class,
            CudaStreamsConformance.class,
            CudaBridge.class,
            CudaDeployment.class);

    private final PrintStream out;
    private final List<String> passed = new ArrayList<>();
    private final Map<String, String> failed = new TreeMap<>();
    private final Map<String, String> skipped = new TreeMap<>();
    private TestPlan plan;

    CardTests(PrintStream out) {
        this.out = out;
    }

    /** Runs all whose name contains a text. */
    void run(String part) {
        var thread = Thread.currentThread();
        var loader = thread.getContextClassLoader();
        // Listeners are looked up there; ours is given.
        thread.setContextClassLoader(LauncherFactory.class.getClassLoader());
        try {
            var launcher = LauncherFactory.create(LauncherConfig.builder()
                    .enableTestEngineAutoRegistration(false)
                    .enableLauncherSessionListenerAutoRegistration(false)
                    .enableLauncherDiscoveryListenerAutoRegistration(false)
                    .enablePostDiscoveryFilterAutoRegistration(false)
                    .enableTestExecutionListenerAutoRegistration(false)
                    .addTestEngines(new JupiterTestEngine())
                    .build());
            var request = LauncherDiscoveryRequestBuilder.request();
            CLASSES.stream()
                    .filter(type -> part == null || type.getSimpleName().contains(part))
                    .forEach(type -> request.selectors(selectClass(type)));
            launcher.execute(request.build(), this);
        } finally {
            thread.setContextClassLoader(loader);
        }
        failed.forEach((name, reason) -> out.println("FAILED  " + name + ": " + reason));
        skipped.forEach((name, reason) -> out.println("skipped " + name + ": " + reason));
        out.printf("%d passed, %d failed, %d skipped%n", passed.size(), failed.size(), skipped.size());
    }

    List<String> passed() {
        return passed;
    }

    Map<String, String> failed() {
        return failed;
    }

    Map<String, String> skipped() {
        return skipped;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier test, String reason) {
        skipped.put(nameOf(test), reason);
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        var thrown = result.getThrowable().orElse(null);
        switch (result.getStatus()) {
            case SUCCESSFUL -> {
                if (test.isTest()) {
                    passed.add(nameOf(test));
                }
            }
            case ABORTED -> skipped.put(nameOf(test), String.valueOf(thrown == null ? null : thrown.getMessage()));
            case FAILED -> {
                failed.put(nameOf(test), String.valueOf(thrown));
                if (thrown != null) {
                    thrown.printStackTrace(out);
                }
            }
        }
    }

    private String nameOf(TestIdentifier test) {
        var parent = plan.getParent(test).filter(above -> above.getParentId().isPresent());
        return parent.map(above -> nameOf(above) + " / ").orElse("") + test.getDisplayName();
    }
}
