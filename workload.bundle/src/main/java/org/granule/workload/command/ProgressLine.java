package org.granule.workload.command;

import java.io.PrintStream;
import java.util.function.Consumer;
import org.apache.felix.service.command.CommandSession;
import org.apache.felix.service.command.Process;
import org.granule.workload.replay.Progress;

/**
 * Shows how far a replay is: on a terminal one line that changes every second, elsewhere (a log, a pipe) a
 * line every ten seconds.
 */
final class ProgressLine implements Consumer<Progress>, AutoCloseable {

    private static final int ERROR_STREAM = 2;
    private static final int COLUMNS = 100;
    private static final int SECONDS_WITHOUT_TERMINAL = 10;

    private final PrintStream out;
    private final boolean terminal;
    private boolean shown;
    private int ticks;

    ProgressLine(CommandSession session) {
        var process = Process.Utils.current();
        this.out = process == null ? session.getConsole() : process.err();
        this.terminal = process != null && process.isTty(ERROR_STREAM) && hasTerminal();
    }

    /** The shell takes its own streams for a terminal even when a pipe is behind them. */
    private static boolean hasTerminal() {
        var console = System.console();
        return console != null && console.isTerminal();
    }

    @Override
    public void accept(Progress progress) {
        var line = progress.line();
        if (terminal) {
            out.print('\r' + line + " ".repeat(Math.max(0, COLUMNS - 1 - line.length())));
            out.flush();
            shown = true;
        } else if (++ticks % SECONDS_WITHOUT_TERMINAL == 0) {
            out.println(line);
        }
    }

    @Override
    public void close() {
        if (shown) {
            out.print('\r' + " ".repeat(COLUMNS - 1) + '\r');
            out.flush();
        }
    }
}
