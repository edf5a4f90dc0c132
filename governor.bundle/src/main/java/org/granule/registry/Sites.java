package org.granule.registry;

import java.util.Set;

/** Where in the program something was asked for: the first frame outside this bundle and its callers here. */
final class Sites {

    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final Set<String> OWN =
            Set.of("org.granule.registry", "org.granule.provider", "org.granule.execution");

    private Sites() {}

    static String here() {
        return WALKER.walk(frames -> frames.filter(frame -> !OWN.contains(packageOf(frame.getClassName())))
                .findFirst()
                .map(frame -> frame.toStackTraceElement().toString())
                .orElse("unknown"));
    }

    private static String packageOf(String className) {
        int dot = className.lastIndexOf('.');
        return dot < 0 ? "" : className.substring(0, dot);
    }
}
