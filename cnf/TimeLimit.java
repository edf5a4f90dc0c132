import java.time.Duration;
import java.time.Instant;

/**
 * Runs beside a build and ends those of its child processes that take too long.
 *
 * <p>Arguments: the limit in minutes, and a text in the command line of the processes it is for. Ends with the build.
 */
public final class TimeLimit {

    public static void main(String[] arguments) throws InterruptedException {
        Duration limit = Duration.ofMinutes(Long.parseLong(arguments[0]));
        String text = arguments[1];
        ProcessHandle build = ProcessHandle.current().parent().orElseThrow();
        while (build.isAlive()) {
            Instant oldest = Instant.now().minus(limit);
            build.descendants()
                    .filter(process -> process.pid() != ProcessHandle.current().pid())
                    .filter(process -> process.info().commandLine().orElse("").contains(text))
                    .filter(process -> process.info().startInstant().orElse(Instant.MAX).isBefore(oldest))
                    .forEach(process -> {
                        System.out.println("[ERROR] A test run took more than " + limit.toMinutes()
                                + " minutes and was ended: process " + process.pid());
                        process.destroyForcibly();
                    });
            Thread.sleep(1000);
        }
    }
}
