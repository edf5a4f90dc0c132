import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Adds up the test reports of a build and fails it when a test failed or when a run that had to take place ran none: a
 * test runner that finds nothing to do is otherwise content.
 *
 * <p>Arguments: the root folder, then the report folders that must hold tests, relative to it. Every other
 * {@code target/surefire-reports} below the root is counted too. The last line printed is {@code N passed, N failed, N
 * skipped}.
 */
public final class CountTests {

    private int run;
    private int failed;
    private int skipped;
    private final List<String> failures = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]).toRealPath();
        List<Path> required = new ArrayList<>();
        for (int i = 1; i < arguments.length; i++) {
            required.add(root.resolve(arguments[i]));
        }

        CountTests count = new CountTests();
        List<String> empty = new ArrayList<>();
        for (Path folder : required) {
            int before = count.run - count.skipped;
            count.add(folder);
            if (count.run - count.skipped == before) {
                empty.add(root.relativize(folder).toString());
            }
        }
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(root)) {
            for (Path module : modules) {
                Path folder = module.resolve("target/surefire-reports");
                if (!required.contains(folder)) {
                    count.add(folder);
                }
            }
        }

        count.failures.forEach(failure -> System.out.println("FAILED " + failure));
        empty.forEach(folder -> System.out.println("NO TEST RAN in " + folder));
        System.out.printf(
                "%d passed, %d failed, %d skipped%n",
                count.run - count.failed - count.skipped, count.failed, count.skipped);
        if (count.failed > 0 || !empty.isEmpty()) {
            System.exit(1);
        }
    }

    private void add(Path folder) throws Exception {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (DirectoryStream<Path> reports = Files.newDirectoryStream(folder, "TEST-*.xml")) {
            for (Path report : reports) {
                Element suite = DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(report.toFile())
                        .getDocumentElement();
                NodeList cases = suite.getElementsByTagName("testcase");
                for (int i = 0; i < cases.getLength(); i++) {
                    add((Element) cases.item(i), folder);
                }
            }
        }
    }

    private void add(Element test, Path folder) {
        run++;
        if (has(test, "failure") || has(test, "error")) {
            failed++;
            failures.add(folder.getFileName() + ": " + test.getAttribute("classname") + "." + test.getAttribute("name"));
        } else if (has(test, "skipped")) {
            skipped++;
        }
    }

    private static boolean has(Element test, String child) {
        return test.getElementsByTagName(child).getLength() > 0;
    }
}
