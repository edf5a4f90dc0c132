package org.granule.bench.report;

/**
 * A measurement.
 *
 * @param nanos time of an operation
 * @param garbage bytes that an operation left on the heap
 */
record Result(Figure nanos, double garbage) {

    /** The smallest object is 16 bytes; what is far below one in a hundred operations is the harness's own. */
    private static final double NONE = 0.1;

    /** The garbage, without the harness's. */
    double wholeBytes() {
        return garbage < NONE ? 0 : garbage;
    }
}
