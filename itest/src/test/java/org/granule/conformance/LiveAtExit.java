package org.granule.conformance;

import java.util.function.Function;
import org.granule.memory.Extents;
import org.granule.memory.Ranges;

/** A program that ends while it holds memory in every way there is. Its arguments: which allocator, and how to end. */
final class LiveAtExit {

    static final String RETURN = "return";
    static final String EXIT = "exit";

    /** The status when a driver was called after its context had ended. */
    private static final int CALLED_LATE = 3;

    private LiveAtExit() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        Function<String, Subject> subjects = name -> switch (name) {
            case "EagerSubject" -> new EagerSubject(Keeping.MUCH);
            case "LinuxSubject" -> new LinuxSubject(Keeping.MUCH);
            case "StrictSubject" -> new StrictSubject(Keeping.MUCH);
            default -> throw new IllegalArgumentException(name);
        };
        var stand = new Stand(subjects.apply(args[0]));
        var session = stand.open("anna");
        long unit = stand.subject.unit();
        long block = session.allocate(3 * unit, 1);
        Stand.fill(session, block, 0, 3 * unit, 1);
        session.releaseAfter(session.allocate(unit, 1), () -> false);
        if (stand.subject.isLazy()) {
            long token = session.reserve(8 * unit, 1, Ranges.of(0, 3 * unit), Extents.PIECES);
            session.attach(
                    session.reserve(8 * unit, 1, Ranges.none(), Extents.PIECES), 0, session.share(token, 0, unit));
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> stand.subject.gate().endForGood(() -> Runtime.getRuntime()
                            .halt(CALLED_LATE))));
        }
        System.out.println("holds " + stand.all().owned());
        if (EXIT.equals(args[1])) {
            System.exit(0);
        }
    }
}
