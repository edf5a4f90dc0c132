package org.granule.itest;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.granule.itest.probe.Probe;
import org.granule.memory.DeviceKey;
import org.osgi.framework.FrameworkUtil;

/**
 * The recipe of a bundle that a test deploys, such as {@code TestBundle.eager(device).ranking(5)}. Its classes are
 * copies of this bundle's, so that it has a class space of its own.
 */
final class TestBundle {

    private final Map<String, String> headers = new LinkedHashMap<>();
    private final List<String> folders;
    private final Probe probe = new Probe();

    private TestBundle(String name, String... folders) {
        this.folders = List.of(folders);
        headers.put("Manifest-Version", "1.0");
        headers.put("Bundle-ManifestVersion", "2");
        headers.put("Bundle-SymbolicName", name);
        headers.put("Bundle-Version", "1.0.0");
    }

    /** An allocator that charges nothing and has no facet. */
    static TestBundle eager(DeviceKey device) {
        return allocator("eager", device, "/org/granule/itest/allocator");
    }

    /** An allocator with all facets: the engine over the strict driver. */
    static TestBundle engine(DeviceKey device) {
        return allocator(
                "engine", device, "/org/granule/itest/allocator", "/org/granule/vmm", "/org/granule/vmm/strict");
    }

    /** A bundle without classes, for its context. */
    static TestBundle user(String name) {
        return new TestBundle(name);
    }

    private static TestBundle allocator(String kind, DeviceKey device, String... folders) {
        var recipe = new TestBundle("test.allocator." + kind, folders);
        return recipe.header("Bundle-Activator", "org.granule.itest.allocator.AllocatorActivator")
                .header("Import-Package", "org.granule.itest.probe,org.granule.memory,org.osgi.framework")
                .header("Test-Probe", recipe.probe.id())
                .header("Test-Kind", kind)
                .header("Test-Device", device.toString())
                .header("Test-Claim", device.toString())
                .header("Test-Ranking", "0");
    }

    private TestBundle header(String name, String value) {
        headers.put(name, value);
        return this;
    }

    TestBundle named(String name) {
        return header("Bundle-SymbolicName", name);
    }

    TestBundle version(String version) {
        return header("Bundle-Version", version);
    }

    TestBundle ranking(int ranking) {
        return header("Test-Ranking", Integer.toString(ranking));
    }

    /** What the service's property says; the allocator itself answers otherwise. */
    TestBundle claiming(DeviceKey device) {
        return header("Test-Claim", device.toString());
    }

    /** Its activator does not unregister the service: the framework does, once the activator has stopped. */
    TestBundle leavingUnregisteringToTheFramework() {
        return header("Test-Stop", "framework");
    }

    String name() {
        return headers.get("Bundle-SymbolicName");
    }

    Probe probe() {
        return probe;
    }

    InputStream content() {
        var content = new ByteArrayOutputStream();
        var manifest = new Manifest();
        headers.forEach((name, value) -> manifest.getMainAttributes().put(new Attributes.Name(name), value));
        try (var jar = new JarOutputStream(content, manifest)) {
            for (var folder : folders) {
                copy(folder, jar);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ByteArrayInputStream(content.toByteArray());
    }

    private static void copy(String folder, JarOutputStream jar) throws IOException {
        var classes = FrameworkUtil.getBundle(TestBundle.class).findEntries(folder, "*.class", false);
        for (var entry : Collections.list(classes)) {
            jar.putNextEntry(new JarEntry(entry.getPath().substring(1)));
            try (var in = entry.openStream()) {
                in.transferTo(jar);
            }
            jar.closeEntry();
        }
    }
}
