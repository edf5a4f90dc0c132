package org.granule.bench.report;

/**
 * What was measured.
 *
 * @param suite the class, without its package and the word Benchmark
 * @param name the method
 * @param parameter its parameter's value, or an empty text
 * @param threads how many ran it at once
 */
record Scenario(String suite, String name, String parameter, int threads) {

    @Override
    public String toString() {
        return suite + " " + name + (parameter.isEmpty() ? "" : " " + parameter) + ", " + threads
                + (threads == 1 ? " thread" : " threads");
    }
}
