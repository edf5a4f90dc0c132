package org.granule.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** Prints how a change did against its base, which ran before it and once more after it. */
public final class Comparison {

    private static final double NOTE = 15;
    private static final double ALARM = 30;

    private Comparison() {}

    /**
     * Prints a table.
     *
     * @param arguments folders with JMH's results: the base, the change, the base again; then the names of both
     * @throws IOException when results cannot be read
     */
    public static void main(String[] arguments) throws IOException {
        var base = Results.in(Path.of(arguments[0]));
        var change = Results.in(Path.of(arguments[1]));
        var again = Results.in(Path.of(arguments[2]));
        System.out.println("## " + arguments[4] + " against " + arguments[3]);
        System.out.println();
        System.out.println(Machine.describe() + ", " + change.virtualMachine()
                + ". Nanoseconds, medians of all iterations; the base is the mean of its two runs, before and after the change. Noise is by how"
                + " much those two differ. ⚠ from " + (int) NOTE + " % slower, ❌ from " + (int) ALARM
                + " %, ✅ as much faster; none when the noise is as large.");
        System.out.println();
        System.out.println("| Scenario | Base | Change | % | Noise % | |");
        System.out.println("| --- | --- | --- | --- | --- | --- |");
        double sum = 0;
        double most = 0;
        int count = 0;
        for (var entry : change.all().entrySet()) {
            var first = base.all().get(entry.getKey());
            var second = again.all().get(entry.getKey());
            if (first == null || second == null) {
                System.out.println(
                        "| " + entry.getKey() + " | | " + entry.getValue().nanos() + " | | | new |");
                continue;
            }
            double before = (first.nanos().median() + second.nanos().median()) / 2;
            double noise = Math.abs(first.nanos().median() - second.nanos().median()) / before * 100;
            double percent = (entry.getValue().nanos().median() / before - 1) * 100;
            System.out.println("| " + entry.getKey() + " | " + Figure.rounded(before) + " | "
                    + Figure.rounded(entry.getValue().nanos().median()) + " | "
                    + String.format(Locale.ROOT, "%+.1f | %.1f", percent, noise) + " | " + mark(percent, noise)
                    + garbage(first, entry.getValue()) + " |");
            sum += noise;
            most = Math.max(most, noise);
            count++;
        }
        base.all().keySet().stream()
                .filter(scenario -> !change.all().containsKey(scenario))
                .forEach(scenario -> System.out.println("| " + scenario + " | | | | | gone |"));
        System.out.println();
        System.out.printf(
                Locale.ROOT,
                "Noise, measured by running the base twice: %.1f %% in the mean, %.1f %% at most, over %d scenarios.%n",
                count == 0 ? 0 : sum / count,
                most,
                count);
    }

    private static String mark(double percent, double noise) {
        if (Math.abs(percent) < NOTE || Math.abs(percent) <= noise) {
            return "";
        }
        boolean strong = Math.abs(percent) >= ALARM;
        return percent < 0 ? strong ? "✅✅" : "✅" : strong ? "❌" : "⚠";
    }

    private static String garbage(Result before, Result after) {
        return after.garbage() - before.garbage() < 1
                ? ""
                : " garbage " + Figure.rounded(before.garbage()) + " → " + Figure.rounded(after.garbage()) + " B";
    }
}
