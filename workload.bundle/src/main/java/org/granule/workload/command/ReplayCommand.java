package org.granule.workload.command;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.Governor;
import org.osgi.framework.BundleContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/** The shell command {@code granule:replay}. */
@Component(name = "org.granule.workload.replay", service = ReplayCommand.class)
@GogoCommand(scope = "granule", function = "replay")
public final class ReplayCommand {

    /** Less than the time that the component runtime waits for a deactivation. */
    private static final long STOP_SECONDS = 4;

    private final BundleContext context;
    private final Governor governor;
    private final AllocationRegistry registry;
    /** Two runs would share one account, and neither could tell at its end what it has left behind. */
    private final Semaphore turn = new Semaphore(1);

    private volatile ReplayRun running;

    @Activate
    public ReplayCommand(
            BundleContext context,
            @Reference(name = "governor") Governor governor,
            @Reference(name = "registry") AllocationRegistry registry) {
        this.context = context;
        this.governor = governor;
        this.registry = registry;
    }

    /** Ends a run that goes on, so that everything it holds is given back before the bundle stops. */
    @Deactivate
    public void stop() throws InterruptedException {
        var run = running;
        if (run != null) {
            run.stop();
            if (turn.tryAcquire(STOP_SECONDS, TimeUnit.SECONDS)) {
                turn.release();
            }
        }
    }

    /**
     * Replays a trace.
     *
     * @param session of the shell
     * @param arguments as listed by {@code --help}
     */
    @Descriptor("serve the requests of a trace from a provider's memory, checked; --help lists the options")
    public void replay(CommandSession session, @Descriptor("[FILE] [options]") Object... arguments) throws Exception {
        var options = ReplayOptions.parse(arguments);
        if (options.help) {
            ReplayOptions.printHelp(session.getConsole());
            return;
        }
        if (!turn.tryAcquire()) {
            throw new IllegalStateException("another replay is running; stop it or wait for its end");
        }
        // Ctrl-C in a terminal ends the JVM, not the command; its exit waits for hooks, not for bundles to stop.
        var atExit = new Thread(this::stopAtExit, "granule-replay-stop");
        try {
            var run = new ReplayRun(options, session);
            running = run;
            Runtime.getRuntime().addShutdownHook(atExit);
            if (options.dry) {
                run.dry();
            } else {
                run.on(context, governor, registry);
            }
        } finally {
            running = null;
            forget(atExit);
            turn.release();
        }
    }

    private void stopAtExit() {
        try {
            stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook is what made us stop.
        }
    }
}
