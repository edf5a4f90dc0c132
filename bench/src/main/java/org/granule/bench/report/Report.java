package org.granule.bench.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;

/** Writes a page on the results of one run. */
public final class Report {

    private static final Map<String, String> BASES =
            Map.of("Provider", "granule", "Ledger", "chargeAndRefund", "PagedCache", "tokenByToken");

    private Report() {}

    /**
     * Writes {@code report.md} into the folder that holds JMH's results.
     *
     * @param arguments the folder, and the command that made the results
     * @throws IOException when they cannot be read
     */
    public static void main(String[] arguments) throws IOException {
        var folder = Path.of(arguments[0]);
        var results = Results.in(folder);
        var page = folder.resolve("report.md");
        try (var out = new PrintWriter(Files.newBufferedWriter(page, StandardCharsets.UTF_8))) {
            write(results, arguments[1], out);
        }
        System.out.print(Files.readString(page));
        System.out.println();
        System.out.println("Written to " + page.toAbsolutePath());
    }

    private static void write(Results results, String command, PrintWriter out) throws IOException {
        out.println("# Benchmarks");
        out.println();
        out.println("Machine: " + Machine.describe() + ". JVM: " + results.virtualMachine() + ". Day: "
                + LocalDate.now(ZoneOffset.UTC) + ". Command: `" + command + "`.");
        out.println();
        out.println("Times are nanoseconds for an operation, the median of all iterations ± half of the range of their"
                + " middle half. Ratios carry the spread of both sides. Compare within one run only.");
        out.println();
        out.println("## Aims");
        out.println();
        out.println("| Aim | Bound | Measured | |");
        out.println("| --- | --- | --- | --- |");
        var aims = Aims.of(results);
        aims.forEach(aim -> out.println(aim.row()));
        out.println();
        out.println(aims.stream().filter(Aim::isMet).count() + " of " + aims.size() + " are met.");
        var suites =
                results.all().keySet().stream().map(Scenario::suite).distinct().toList();
        for (var suite : suites) {
            out.println();
            table(results, suite, out);
        }
    }

    private static void table(Results results, String suite, PrintWriter out) {
        out.println("## " + suite);
        out.println();
        out.println("| Scenario | Parameter | Threads | ns | B | Against Granule |");
        out.println("| --- | --- | --- | --- | --- | --- |");
        results.all().forEach((scenario, result) -> {
            if (scenario.suite().equals(suite)) {
                out.println("| " + scenario.name() + " | " + scenario.parameter() + " | " + scenario.threads() + " | "
                        + result.nanos() + " | " + Figure.rounded(result.wholeBytes()) + " | "
                        + ratio(results, scenario, result)
                        + " |");
            }
        });
    }

    private static String ratio(Results results, Scenario scenario, Result result) {
        var base = Objects.requireNonNullElse(BASES.get(scenario.suite()), scenario.name());
        if (scenario.suite().equals("Engine")) {
            base = scenario.name().replaceFirst("bare|session", "engine");
        }
        if (scenario.name().equals(base)) {
            return "";
        }
        return results.find(scenario.suite(), base, scenario.parameter(), scenario.threads())
                .map(own -> result.nanos().over(own.nanos()) + " ×")
                .orElse("");
    }
}
