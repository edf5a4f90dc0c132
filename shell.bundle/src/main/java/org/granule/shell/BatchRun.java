package org.granule.shell;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.apache.felix.gogo.runtime.Parser;
import org.apache.felix.gogo.runtime.Parser.Executable;
import org.apache.felix.gogo.runtime.Parser.Operator;
import org.apache.felix.service.command.CommandProcessor;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Converter;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.startlevel.BundleStartLevel;
import org.osgi.framework.startlevel.FrameworkStartLevel;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;

/**
 * Runs one command line instead of the interactive shell, and ends the container with its status.
 *
 * <p>The line is the property {@value #LINE}. Where it is empty, the shell of the terminal goes on until somebody stops
 * the container, which is status 0; where it is not set, the container belongs to somebody else. The values of {@code granule.exec.1}, {@code
 * granule.exec.2} and so on are appended to that line as its arguments, exactly as they are: nothing in them is read as
 * shell syntax.
 *
 * <p>The line runs when every bundle is started and every component with a configuration below {@code org.granule} is
 * active or has failed, yet at the latest {@link #SETTLE_LIMIT} after the start. The status is 0, or 1 when the command
 * threw an exception, or the command's result where that is an {@code Integer}; any other result is printed as the
 * interactive shell prints it.
 */
@Component(service = {})
public final class BatchRun implements Callable<Integer> {

    static final String LINE = "granule.exec";

    /** How long a command waits for components that do not become active. */
    private static final Duration SETTLE_LIMIT = Duration.ofSeconds(5);

    /** Nothing may have changed for this long: configurations arrive on a thread of their own. */
    private static final Duration QUIET = Duration.ofMillis(200);

    private final BundleContext context;
    private final String line;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CommandProcessor processor;
    private final ServiceComponentRuntime components;
    private final ConfigurationAdmin configurations;

    @Activate
    public BatchRun(
            BundleContext context,
            @Reference(name = "processor") CommandProcessor processor,
            @Reference(name = "components") ServiceComponentRuntime components,
            @Reference(name = "configurations") ConfigurationAdmin configurations) {
        this.context = context;
        this.processor = processor;
        this.components = components;
        this.configurations = configurations;
        this.line = context.getProperty(LINE);
        if (line != null) {
            // The launcher calls this service on the main thread and then ends the JVM with what it returns.
            Dictionary<String, Object> properties = new Hashtable<>(Map.of("main.thread", "true"));
            context.registerService(Callable.class, this, properties);
        }
    }

    @Deactivate
    void stop() {
        stopped.countDown();
    }

    @Override
    public Integer call() throws InterruptedException {
        if (line.isEmpty()) {
            stopped.await();
            return 0;
        }
        PrintStream out = stream(FileDescriptor.out, System.out);
        PrintStream err = stream(FileDescriptor.err, System.err);
        awaitQuiet(err);
        try (CommandSession session = processor.createSession(new FileInputStream(FileDescriptor.in), out, err)) {
            Object result = null;
            for (String statement : statements(line(session))) {
                print(session, result, out);
                result = session.execute(statement);
                out.flush();
            }
            if (result instanceof Integer status) {
                return status;
            }
            print(session, result, out);
            return 0;
        } catch (Exception e) {
            out.flush();
            err.println("granule: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            return 1;
        } finally {
            out.flush();
            err.flush();
        }
    }

    private static void print(CommandSession session, Object result, PrintStream out) {
        if (result != null) {
            out.println(session.format(result, Converter.INSPECT));
        }
    }

    /**
     * The commands of a line, each of which prints its result: executed as one line, Gogo would keep that of the last
     * only. A line with other operators than a semicolon stays whole.
     */
    private static List<String> statements(String line) {
        List<Executable> parts = new Parser(line).program().tokens();
        boolean plain =
                parts.stream().filter(Operator.class::isInstance).allMatch(operator -> ";".contentEquals(operator));
        return plain
                ? parts.stream()
                        .filter(part -> !(part instanceof Operator))
                        .map(Executable::toString)
                        .toList()
                : List.of(line);
    }

    /** Gogo puts streams of its own in the place of {@code System.out}: a session on those would write to itself. */
    private static PrintStream stream(FileDescriptor descriptor, PrintStream like) {
        return new PrintStream(new FileOutputStream(descriptor), true, like.charset());
    }

    private String line(CommandSession session) {
        StringBuilder all = new StringBuilder(line);
        for (int i = 1; ; i++) {
            String argument = context.getProperty(LINE + "." + i);
            if (argument == null) {
                return all.toString();
            }
            session.put("argument" + i, argument);
            all.append(" $argument").append(i);
        }
    }

    private void awaitQuiet(PrintStream err) throws InterruptedException {
        long start = System.nanoTime();
        Map<String, Boolean> last = Map.of();
        long since = start;
        while (true) {
            Map<String, Boolean> now = settled();
            long time = System.nanoTime();
            if (!now.equals(last)) {
                last = now;
                since = time;
            }
            boolean started = started();
            if (started && !now.containsValue(false) && time - since >= QUIET.toNanos()) {
                return;
            }
            if (started && time - start >= SETTLE_LIMIT.toNanos()) {
                now.values().removeIf(settled -> settled);
                err.println("granule: going on although not active after " + SETTLE_LIMIT.toSeconds() + " seconds: "
                        + String.join(", ", now.keySet()));
                return;
            }
            Thread.sleep(20);
        }
    }

    private boolean started() {
        Bundle framework = context.getBundle(Constants.SYSTEM_BUNDLE_ID);
        int level = framework.adapt(FrameworkStartLevel.class).getStartLevel();
        return framework.getState() == Bundle.ACTIVE
                && Arrays.stream(context.getBundles())
                        .allMatch(bundle -> bundle.getBundleId() == 0
                                || bundle.adapt(BundleStartLevel.class).getStartLevel() <= level);
    }

    /** The configurations of the platform's components, and whether each is in use or has failed. */
    private Map<String, Boolean> settled() {
        List<ComponentConfigurationDTO> instances = components.getComponentDescriptionDTOs().stream()
                .flatMap(component -> components.getComponentConfigurationDTOs(component).stream())
                .toList();
        Map<String, Boolean> settled = new TreeMap<>();
        for (Configuration configuration : configurations()) {
            String pid = configuration.getPid();
            settled.put(pid, instances.stream().anyMatch(instance -> isSettled(instance, pid)));
        }
        return settled;
    }

    private Configuration[] configurations() {
        try {
            Configuration[] found = configurations.listConfigurations("(service.pid=org.granule.*)");
            return found == null ? new Configuration[0] : found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InvalidSyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isSettled(ComponentConfigurationDTO instance, String pid) {
        Object pids = instance.properties.get(Constants.SERVICE_PID);
        boolean configuredByIt = pids instanceof Collection<?> several ? several.contains(pid) : pid.equals(pids);
        return configuredByIt
                && instance.state != ComponentConfigurationDTO.UNSATISFIED_CONFIGURATION
                && instance.state != ComponentConfigurationDTO.UNSATISFIED_REFERENCE;
    }
}
