package org.granule.workload.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.granule.workload.replay.ReplayResult;

/** A result as one HTML page that needs no network: styles, charts and data are written into it. */
public final class HtmlReport {

    private static final String FOLDER = "/chart/";
    private static final Pattern PLACE = Pattern.compile("\\{\\{([^}]+)}}");

    private HtmlReport() {}

    /** Makes the page. */
    public static String page(RunInfo info, ReplayResult result) {
        return PLACE.matcher(resource("report.html")).replaceAll(place -> {
            var name = place.group(1);
            return Matcher.quoteReplacement(name.equals("data") ? data(info, result) : resource(name));
        });
    }

    /** A name in a trace must not be able to end the script element that the data stand in. */
    private static String data(RunInfo info, ReplayResult result) {
        return new JsonReport(info, result).compact().replace("<", "\\u003c");
    }

    private static String resource(String name) {
        try (var stream = HtmlReport.class.getResourceAsStream(FOLDER + name)) {
            if (stream == null) {
                throw new IllegalStateException("this bundle lacks its resource " + FOLDER + name);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
