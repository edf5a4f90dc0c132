package org.granule.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The aims of the design, as far as there are results to judge them by. */
final class Aims {

    private static final Map<String, String> SIZES =
            Map.of("64", "64 B", "4096", "4 KiB", "65536", "64 KiB", "2097152", "2 MiB");
    private static final List<String> SMALL = List.of("64", "4096");
    private static final List<String> LARGE = List.of("65536", "2097152");
    private static final String PROVIDER = "Provider";

    private final Results results;
    private final List<Aim> aims = new ArrayList<>();

    private Aims(Results results) {
        this.results = results;
    }

    static List<Aim> of(Results results) {
        var aims = new Aims(results);
        for (int threads = 1; threads <= 2; threads++) {
            aims.netty(SMALL, 1, threads);
            aims.netty(LARGE, 3, threads);
            aims.arrow(threads);
        }
        aims.scaling();
        aims.garbage();
        aims.engine();
        aims.ledger();
        aims.cache("tokenByToken", "token by token", 2_500);
        aims.cache("byRanges", "by ranges", 200);
        return aims.aims;
    }

    private Optional<Figure> nanos(String suite, String name, String parameter, int threads) {
        return results.find(suite, name, parameter, threads).map(Result::nanos);
    }

    private void netty(List<String> sizes, double times, int threads) {
        for (var size : sizes) {
            var adaptive = nanos(PROVIDER, "nettyAdaptive", size, threads);
            var pooled = nanos(PROVIDER, "nettyPooled", size, threads);
            var better = adaptive.flatMap(a -> pooled.map(p -> a.median() <= p.median() ? a : p));
            faster("the better of Netty's two", better, size, times, threads);
        }
    }

    private void arrow(int threads) {
        for (var size : List.of("64", "4096", "65536", "2097152")) {
            faster("Arrow", nanos(PROVIDER, "arrow", size, threads), size, 4, threads);
        }
    }

    private void faster(String whom, Optional<Figure> other, String size, double times, int threads) {
        var own = nanos(PROVIDER, "granule", size, threads);
        if (own.isPresent() && other.isPresent()) {
            aims.add(Aim.least(
                    "Provider, " + SIZES.get(size) + ", " + threads(threads) + ": faster than " + whom,
                    times,
                    " ×",
                    other.get().over(own.get())));
        }
    }

    private void scaling() {
        for (var size : List.of("64", "4096", "65536", "2097152")) {
            var one = nanos(PROVIDER, "granule", size, 1);
            var two = nanos(PROVIDER, "granule", size, 2);
            if (one.isPresent() && two.isPresent()) {
                aims.add(Aim.most(
                        "Provider, " + SIZES.get(size) + ": two threads against one",
                        1.3,
                        " ×",
                        two.get().over(one.get())));
            }
        }
    }

    private void garbage() {
        results.all().forEach((scenario, result) -> {
            if (scenario.suite().equals(PROVIDER) && scenario.name().startsWith("granule")) {
                aims.add(Aim.most("Garbage: " + scenario, 0, " B", new Figure(result.wholeBytes(), Double.NaN)));
            }
        });
    }

    private void engine() {
        for (var granule : List.of("64KiB", "2MiB")) {
            for (var way : List.of("engineOne", "sessionOne", "engineRun", "sessionRun", "enginePieces")) {
                var bare = nanos("Engine", way.replaceFirst("engine|session", "bare"), granule, 1);
                var own = nanos("Engine", way, granule, 1);
                if (own.isPresent() && bare.isPresent()) {
                    aims.add(Aim.most(
                            "Commit and decommit, " + way + ", " + granule + ": against the bare calls",
                            1.3,
                            " ×",
                            own.get().over(bare.get())));
                }
            }
        }
    }

    private void ledger() {
        for (int threads = 1; threads <= 2; threads++) {
            int count = threads;
            nanos("Ledger", "chargeAndRefund", "", threads)
                    .ifPresent(figure -> aims.add(Aim.most(
                            "Ledger, charge and refund at three levels, " + threads(count), 20, " ns", figure)));
        }
    }

    private void cache(String name, String text, double most) {
        nanos("PagedCache", name, "", 1)
                .ifPresent(figure -> aims.add(Aim.most("Paged cache, " + text, most, " ns", figure)));
    }

    private static String threads(int count) {
        return count == 1 ? "1 thread" : count + " threads";
    }
}
