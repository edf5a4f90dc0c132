package org.granule.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;

/** What JMH wrote into the JSON files of one folder. */
final class Results {

    private static final String SUFFIX = "Benchmark";

    private final Map<Scenario, Result> all = new LinkedHashMap<>();
    private String virtualMachine = "";

    /** Reads all files of a folder that end in .json, in the order of their names. */
    static Results in(Path folder) throws IOException {
        var results = new Results();
        try (var files = Files.list(folder)) {
            for (var file : files.filter(path -> path.toString().endsWith(".json"))
                    .sorted()
                    .toList()) {
                new ObjectMapper().readTree(file.toFile()).forEach(results::add);
            }
        }
        if (results.all.isEmpty()) {
            throw new IOException("no results in " + folder);
        }
        return results;
    }

    private void add(JsonNode run) {
        var names = run.get("benchmark").asText().split("\\.");
        var suite = names[names.length - 2];
        var parameters = run.path("params").elements();
        var scenario = new Scenario(
                suite.endsWith(SUFFIX) ? suite.substring(0, suite.length() - SUFFIX.length()) : suite,
                names[names.length - 1],
                parameters.hasNext() ? parameters.next().asText() : "",
                run.get("threads").asInt());
        var times = Figure.of(iterations(run.get("primaryMetric")));
        // The last iteration counts what the end of the trial makes.
        var garbage = Arrays.stream(iterations(run.get("secondaryMetrics").path("gc.alloc.rate.norm")))
                .min()
                .orElse(Double.NaN);
        all.put(scenario, new Result(times, garbage));
        virtualMachine = run.get("vmName").asText() + " " + run.get("vmVersion").asText();
    }

    /** The figures of all iterations of all forks. JMH writes what is not a number as a text. */
    private static double[] iterations(JsonNode metric) {
        var figures = DoubleStream.builder();
        for (var fork : metric.path("rawData")) {
            for (var iteration : fork) {
                if (iteration.isNumber()) {
                    figures.add(iteration.asDouble());
                }
            }
        }
        return figures.build().toArray();
    }

    Map<Scenario, Result> all() {
        return all;
    }

    Optional<Result> find(String suite, String name, String parameter, int threads) {
        return Optional.ofNullable(all.get(new Scenario(suite, name, parameter, threads)));
    }

    /** What ran them. */
    String virtualMachine() {
        return virtualMachine;
    }
}
