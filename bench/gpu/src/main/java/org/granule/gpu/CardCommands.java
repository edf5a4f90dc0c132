package org.granule.gpu;

import org.osgi.service.component.annotations.Component;

/** Commands that need a card. */
@Component(
        service = CardCommands.class,
        property = {"osgi.command.scope=gpu", "osgi.command.function=test"})
public final class CardCommands {

    /**
     * Runs the tests.
     *
     * @param part of the names of the classes to run; empty for all
     * @return 0 when none failed and one passed
     */
    public int test(String... part) {
        var tests = new CardTests(System.out);
        tests.run(part.length == 0 ? null : part[0]);
        return tests.failed().isEmpty() && !tests.passed().isEmpty() ? 0 : 1;
    }
}
