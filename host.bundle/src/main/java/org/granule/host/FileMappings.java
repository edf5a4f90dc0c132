package org.granule.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;

/**
 * Where parts of one file are mapped, by the kernel, at one moment. What did not change while the kernel was asked
 * is right; what changed may be seen as before or as after.
 */
final class FileMappings {

    private static final Path MAPS = Path.of("/proc/self/maps");

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private record Part(long end, long offset) {}

    private final TreeMap<Long, Part> parts = new TreeMap<>();

    private FileMappings() {}

    /**
     * Asks the kernel.
     *
     * @param file the descriptor of a file in memory
     */
    static FileMappings of(int file) {
        var mappings = new FileMappings();
        // The lines of other files may have names in any encoding.
        try (var lines = Files.lines(MAPS, StandardCharsets.ISO_8859_1)) {
            // Files in memory are all on one device, where this number is theirs alone.
            long inode = (Long) Files.getAttribute(DESCRIPTORS.resolve(Integer.toString(file)), "unix:ino");
            lines.filter(line -> line.contains(" /memfd:")).forEach(line -> mappings.add(line, inode));
        } catch (IOException e) {
            var fault = new DriverFaultException(Kind.INVALID, "the mappings of this process cannot be read: " + e);
            fault.initCause(e);
            throw fault;
        }
        return mappings;
    }

    /** Reads {@code start-end rights offset device inode name}. */
    private void add(String line, long inode) {
        var fields = line.split(" +", 6);
        if (Long.parseLong(fields[4]) == inode) {
            int dash = fields[0].indexOf('-');
            long start = Long.parseUnsignedLong(fields[0], 0, dash, 16);
            long end = Long.parseUnsignedLong(fields[0], dash + 1, fields[0].length(), 16);
            parts.put(start, new Part(end, Long.parseUnsignedLong(fields[2], 16)));
        }
    }

    /** Whether the part of the file from an offset is mapped over a whole range; the kernel may show it in pieces. */
    boolean show(long address, long bytes, long offset) {
        for (long at = address; at < address + bytes; ) {
            var part = parts.floorEntry(at);
            if (part == null
                    || part.getValue().end <= at
                    || part.getValue().offset + (at - part.getKey()) != offset + (at - address)) {
                return false;
            }
            at = part.getValue().end;
        }
        return true;
    }

    /** Whether anything of the file is mapped in a range. */
    boolean touch(long address, long bytes) {
        var part = parts.lowerEntry(address + bytes);
        return part != null && part.getValue().end > address;
    }
}
