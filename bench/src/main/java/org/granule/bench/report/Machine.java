package org.granule.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says in one line where something was measured. */
final class Machine {

    private Machine() {}

    static String describe() throws IOException {
        return processor() + ", " + Runtime.getRuntime().availableProcessors() + " cores, "
                + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch");
    }

    private static String processor() throws IOException {
        var file = Path.of("/proc/cpuinfo");
        if (!Files.isReadable(file)) {
            return "unknown processor";
        }
        try (var lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown processor");
        }
    }
}
