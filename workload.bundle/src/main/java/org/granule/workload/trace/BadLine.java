package org.granule.workload.trace;

/**
 * A line of a trace that is no request.
 *
 * @param file the trace
 * @param line its number, from 1
 * @param problem what is wrong with it
 */
public record BadLine(String file, long line, String problem) {

    @Override
    public String toString() {
        return file + ":" + line + ": " + problem;
    }
}
