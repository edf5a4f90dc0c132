package org.granule.workload.trace;

/** Understands one line of a trace. May keep what earlier lines said, such as when the trace starts. */
interface LineParser {

    /**
     * Reads a line.
     *
     * @param line not blank
     * @param index the index of the request, should it be one
     * @return the request, or null for a heading
     */
    Request parse(String line, long index) throws BadLineException;
}
