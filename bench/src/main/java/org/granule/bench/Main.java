package org.granule.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** JMH with its own command line, without the peers that are not installed here. */
@SuppressWarnings("restricted")
public final class Main {

    private Main() {}

    /**
     * Runs benchmarks.
     *
     * @param arguments as JMH's
     * @throws Exception when JMH cannot run
     */
    public static void main(String[] arguments) throws Exception {
        var asked = new CommandLineOptions(arguments);
        if (asked.shouldHelp() || asked.shouldList() || asked.shouldListProfilers()) {
            org.openjdk.jmh.Main.main(arguments);
            return;
        }
        var options = new OptionsBuilder().parent(asked);
        if (!isJemallocThere()) {
            System.out.println("jemalloc is left out: " + Jemalloc.LIBRARY + " cannot be loaded. Install it (Debian,"
                    + " Ubuntu: apt-get install libjemalloc2), and set"
                    + " GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384, which its thread-local state needs");
            options.exclude("ProviderBenchmark.jemalloc");
        }
        new Runner(options.build()).run();
    }

    private static boolean isJemallocThere() {
        try (var arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(Jemalloc.LIBRARY, arena);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
