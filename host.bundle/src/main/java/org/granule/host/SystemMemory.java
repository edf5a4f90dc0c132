package org.granule.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says of this machine's memory. */
final class SystemMemory {

    private static final Path FIGURES = Path.of("/proc/meminfo");

    private SystemMemory() {}

    /** Reads a figure, such as {@code MemTotal:  16384 kB}; −1 when there is none of that name. */
    static long bytes(String name) {
        try {
            for (var line : Files.readAllLines(FIGURES)) {
                var fields = line.split("[: ]+");
                if (fields[0].equals(name)) {
                    return Long.parseLong(fields[1]) << 10;
                }
            }
            return -1;
        } catch (IOException e) {
            return -1;
        }
    }
}
