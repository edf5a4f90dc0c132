package org.granule.shell;

import java.util.Collection;
import org.granule.memory.InvalidRequestException;

/** The one-line errors of commands that were typed wrongly. Each says what would have been right. */
final class Misuse {

    private static final int NAMED = 12;

    private Misuse() {}

    static InvalidRequestException usage(String usage) {
        return new InvalidRequestException("usage: granule:" + usage);
    }

    static InvalidRequestException unknown(String noun, String name, Collection<String> known) {
        return new InvalidRequestException(
                "there is no " + noun + " '" + Text.clean(name) + "'; " + known(noun, known));
    }

    static String known(String noun, Collection<String> known) {
        var names = known.stream().distinct().sorted().toList();
        if (names.isEmpty()) {
            return "there is none now";
        }
        var shown = String.join(", ", names.subList(0, Math.min(NAMED, names.size())));
        return "known " + noun + "s: " + Text.clean(shown)
                + (names.size() > NAMED ? " and " + (names.size() - NAMED) + " more" : "");
    }

    /** Refuses options that Gogo did not recognise and passed on as arguments. */
    static void refuseOptions(String usage, String... arguments) {
        for (var argument : arguments) {
            if (argument.startsWith("--")) {
                throw new InvalidRequestException(
                        "unknown option '" + Text.clean(argument) + "'; usage: granule:" + usage);
            }
        }
    }

    static long token(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "'" + Text.clean(text) + "' is not a token; tokens are the numbers that granule:allocations lists");
        }
    }
}
