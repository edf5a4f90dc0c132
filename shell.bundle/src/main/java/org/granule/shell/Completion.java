package org.granule.shell;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.CommandSessionListener;
import org.apache.felix.service.command.Function;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/**
 * Teaches interactive sessions to complete the arguments of our commands. Gogo's JLine shell keeps completions in a
 * session variable and offers no service for them, so each session is taught before its first line; other shells
 * have no such variable and are left alone.
 */
@Component(immediate = true)
public final class Completion implements CommandSessionListener {

    private static final String COMPLETIONS = ".completions";
    private static final String ARGUMENTS = "__granule_arguments";

    private final Arguments arguments;
    /** Sessions hold a function of ours: it must go with this bundle, or its class loader would stay. */
    private final Map<CommandSession, Boolean> taught = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * Creates the listener.
     *
     * @param arguments knows what can be typed
     */
    @Activate
    public Completion(@Reference Arguments arguments) {
        this.arguments = arguments;
    }

    @Override
    public void beforeExecute(CommandSession session, CharSequence command) {
        // Teaching runs commands in the session and so comes here again; the map ends that.
        if (session.get(COMPLETIONS) instanceof Map && taught.putIfAbsent(session, true) == null) {
            Function function = (current, ignored) -> complete(current);
            session.put(ARGUMENTS, function);
            Arguments.COMMANDS.forEach((name, described) -> teach(session, name, described));
        }
    }

    private static void teach(CommandSession session, String name, Arguments.Command command) {
        var complete = "gogo:complete -c granule:" + name;
        var script = new StringBuilder(complete)
                .append(" -d '")
                .append(command.description())
                .append('\'');
        for (var option : command.options()) {
            script.append('\n').append(complete).append(" -l ").append(option.substring(2));
        }
        script.append('\n').append(complete).append(" -a ").append(ARGUMENTS);
        try {
            session.execute(script);
        } catch (Exception e) {
            // Without completion the commands work all the same; the session's user did not ask for anything.
            session.put(ARGUMENTS, null);
        }
    }

    private List<String> complete(CommandSession session) throws Exception {
        // Asked in Gogo's own language, so that this bundle does not depend on JLine.
        var words = session.execute("$.commandLine words");
        var index = session.execute("$.commandLine wordIndex");
        return words instanceof Collection<?> list && index instanceof Number number
                ? arguments.at(list.stream().map(String::valueOf).toList(), number.intValue())
                : List.of();
    }

    @Override
    public void afterExecute(CommandSession session, CharSequence command, Exception exception) {
        // Nothing to do.
    }

    @Override
    public void afterExecute(CommandSession session, CharSequence command, Object result) {
        // Nothing to do.
    }

    @Deactivate
    void stop() {
        synchronized (taught) {
            taught.keySet().forEach(session -> session.put(ARGUMENTS, null));
        }
    }
}
