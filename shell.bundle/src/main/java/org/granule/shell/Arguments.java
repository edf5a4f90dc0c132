package org.granule.shell;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.Governor;
import org.granule.provider.ProviderStatus;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/** Knows what can be typed at each place of a command line. */
@Component(service = Arguments.class)
public final class Arguments {

    record Command(String description, List<String> options) {}

    /** Descriptions stand between single quotes in a script, so they have none. */
    static final Map<String, Command> COMMANDS = Map.ofEntries(
            command("allocators", "Allocator services"),
            command("providers", "Providers and what they have bound"),
            command("candidates", "Allocators that a provider could have bound"),
            command("devices", "Devices and what is held of each"),
            command("ledger", "What is owned, mapped and reserved"),
            command("allocations", "Live allocations", "--provider", "--tenant", "--role"),
            command("explain", "Why an account was refused"),
            command("quarantine", "Memory whose release did not finish"),
            command("reconcile", "Compares the books with the devices"),
            command("limit", "Shows and sets limits"),
            command("allocate", "Allocates by hand", "--role", "--align", "--reserve", "--commit"),
            command("release", "Releases by hand"));

    private static Map.Entry<String, Command> command(String name, String description, String... options) {
        return Map.entry(name, new Command(description, List.of(options)));
    }

    private static final Set<String> FLAGS = Set.of("--reserve");

    private final Governor governor;
    private final AllocationRegistry registry;
    private final HandCommands hand;

    /** Replaced as a whole by the component runtime. */
    @Reference
    volatile List<ProviderStatus> statuses = List.of();

    /**
     * Creates the component.
     *
     * @param governor knows accounts
     * @param registry knows allocators and allocations
     * @param hand knows what was allocated by hand
     */
    @Activate
    public Arguments(
            @Reference Governor governor, @Reference AllocationRegistry registry, @Reference HandCommands hand) {
        this.governor = governor;
        this.registry = registry;
        this.hand = hand;
    }

    /**
     * Lists what can stand at a place.
     *
     * @param words the command line, the command first
     * @param index which word is asked for, at least 1
     * @return the words that fit there, none when anything may
     */
    List<String> at(List<String> words, int index) {
        var name = words.getFirst();
        var command = name.substring(name.indexOf(':') + 1);
        var before = words.get(index - 1);
        if (index > 1 && takesValue(before)) {
            return ofOption(before);
        }
        int position = 0;
        for (int i = 1; i < index; i++) {
            boolean counts = !words.get(i).startsWith("-") && !(i > 1 && takesValue(words.get(i - 1)));
            position += counts ? 1 : 0;
        }
        return position == 0 ? first(command) : position == 1 ? second(command, before) : List.of();
    }

    private static boolean takesValue(String word) {
        return word.startsWith("--") && !FLAGS.contains(word);
    }

    private List<String> ofOption(String option) {
        return switch (option) {
            case "--provider" -> providers();
            case "--tenant" -> accounts().tenants();
            case "--role" -> accounts().roles();
            default -> List.of();
        };
    }

    private List<String> first(String command) {
        return switch (command) {
            case "allocators" ->
                registry.allocators().stream().map(AllocatorFace.INSTANCE::id).toList();
            case "providers", "candidates" -> providers();
            case "devices", "reconcile" ->
                registry.devices().stream().map(DeviceFace.INSTANCE::id).toList();
            case "ledger", "explain", "limit" -> accounts().paths();
            case "allocations" -> tokens(registry.allocations());
            case "quarantine" -> List.of("settle");
            case "allocate" -> hand.providers();
            case "release" -> hand.tokens();
            default -> List.of();
        };
    }

    private List<String> second(String command, String before) {
        return switch (command) {
            case "limit" -> List.of("unlimited");
            case "quarantine" ->
                "settle".equals(before)
                        ? tokens(registry.allocations().stream()
                                .filter(QuarantineCommand::isQuarantined)
                                .toList())
                        : List.of();
            default -> List.of();
        };
    }

    private List<String> providers() {
        return statuses.stream().map(status -> status.describe().name).sorted().toList();
    }

    private Accounts accounts() {
        return new Accounts(governor.ledger());
    }

    private static List<String> tokens(List<AllocationDTO> allocations) {
        return allocations.stream().map(AllocationFace.LIVE::id).toList();
    }
}
