package org.granule.shell;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.Parameter;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.memory.ByteSize;
import org.granule.memory.ClosedException;
import org.granule.memory.Extents;
import org.granule.memory.InvalidRequestException;
import org.granule.memory.Ranges;
import org.granule.memory.StaleTokenException;
import org.granule.provider.ExecutionProvider;
import org.granule.provider.MemorySession;
import org.granule.provider.ProviderStatus;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;

/**
 * Allocates and releases by hand, to try things. What is allocated lives until it is released, its provider's
 * generation ends, or this bundle stops.
 *
 * <p>Immediate, because the shell gets the command for each use and gives it back: a delayed component would end
 * its sessions after every line.
 */
@Component(service = HandCommands.class, immediate = true)
@GogoCommand(
        scope = "granule",
        function = {"allocate", "release"})
public final class HandCommands {

    private static final String ALLOCATE =
            "allocate PROVIDER SIZE [--role ROLE] [--align SIZE] [--reserve [--commit SIZE]]";

    private record Hand(HandSessions sessions, MemorySession session) {}

    private final List<HandSessions> generations = new CopyOnWriteArrayList<>();
    private final Map<Long, Hand> byToken = new ConcurrentHashMap<>();

    /** Tells why a provider is not there; replaced as a whole by the component runtime. */
    @Reference
    volatile List<ProviderStatus> statuses = List.of();

    /** Creates the commands without any session. */
    public HandCommands() {}

    @Reference(
            name = "provider",
            cardinality = ReferenceCardinality.MULTIPLE,
            policy = ReferencePolicy.DYNAMIC,
            unbind = "unbindProvider")
    void bindProvider(ExecutionProvider provider, Map<String, Object> properties) {
        var name = String.valueOf(properties.get(ExecutionProvider.NAME_PROPERTY));
        long generation = properties.get(ExecutionProvider.GENERATION_PROPERTY) instanceof Long number ? number : 0;
        generations.add(new HandSessions(name, generation, provider));
    }

    void unbindProvider(ExecutionProvider provider) {
        generations.stream().filter(one -> one.serves(provider)).forEach(this::drop);
    }

    @Deactivate
    void stop() {
        HandSessions.tryAll(generations.stream().map(one -> () -> drop(one)));
    }

    private void drop(HandSessions ended) {
        generations.remove(ended);
        byToken.values().removeIf(hand -> hand.sessions == ended);
        ended.end();
    }

    /**
     * Allocates or reserves memory.
     *
     * @param role what for
     * @param align a power of two
     * @param reserve whether to reserve addresses in place of allocating
     * @param commit how much of a reservation to commit from its start
     * @param arguments a provider's name and a size
     * @return the allocation, whose token {@code release} takes
     */
    @Descriptor("allocates memory by hand and shows its token")
    public Object allocate(
            @Descriptor("what for; the account is DEVICE/TENANT/ROLE (shell)")
                    @Parameter(
                            names = {"-r", "--role"},
                            absentValue = "shell")
                    String role,
            @Descriptor("alignment, a power of two (64)")
                    @Parameter(
                            names = {"-a", "--align"},
                            absentValue = "64")
                    String align,
            @Descriptor("reserve addresses only, in place of allocating")
                    @Parameter(
                            names = {"--reserve"},
                            presentValue = "true",
                            absentValue = "false")
                    boolean reserve,
            @Descriptor("with --reserve: how much to commit from the start (0)")
                    @Parameter(
                            names = {"-c", "--commit"},
                            absentValue = "")
                    String commit,
            @Descriptor("PROVIDER SIZE: such as host0 64MiB") String... arguments) {
        Misuse.refuseOptions(ALLOCATE, arguments);
        if (arguments.length != 2) {
            throw Misuse.usage(ALLOCATE);
        }
        if (!commit.isEmpty() && !reserve) {
            throw new InvalidRequestException("--commit needs --reserve; an allocation is committed as a whole");
        }
        long bytes = ByteSize.parse(arguments[1]);
        long alignment = ByteSize.parse(align);
        long committed = commit.isEmpty() ? 0 : ByteSize.parse(commit);

        var sessions = find(arguments[0]);
        var session = sessions.open(role);
        long token = reserve
                ? session.reserve(bytes, alignment, Ranges.of(0, committed), Extents.PIECES)
                : session.allocate(bytes, alignment);
        byToken.put(token, new Hand(sessions, session));
        if (!generations.contains(sessions)) {
            // Dropped while we allocated: nobody else would forget the token.
            byToken.remove(token);
            throw new ClosedException("provider '" + arguments[0] + "' ended meanwhile; nothing is allocated");
        }
        return new HandAllocation(
                token, session.account(), bytes, session.committedBytes(token), session.address(token));
    }

    /**
     * Releases what was allocated by hand.
     *
     * @param tokens one token
     * @return what became of it
     */
    @Descriptor("releases memory that granule:allocate has allocated")
    public Object release(@Descriptor("TOKEN: as allocate has shown it") String... tokens) {
        Misuse.refuseOptions("release TOKEN", tokens);
        if (tokens.length != 1) {
            throw Misuse.usage("release TOKEN");
        }
        long token = Misuse.token(tokens[0]);
        var hand = byToken.get(token);
        if (hand == null) {
            throw new InvalidRequestException("token " + token
                    + " was not allocated by hand, or is gone with its provider; " + Misuse.known("token", tokens()));
        }
        try {
            var outcome = Outcome.of(token, hand.session.release(token));
            byToken.remove(token);
            return outcome;
        } catch (StaleTokenException | ClosedException e) {
            byToken.remove(token);
            throw e;
        }
    }

    /** Returns the tokens that can be released. */
    List<String> tokens() {
        return byToken.keySet().stream().sorted().map(String::valueOf).toList();
    }

    /** Returns the providers that can serve now. */
    List<String> providers() {
        return generations.stream().map(HandSessions::name).distinct().sorted().toList();
    }

    private HandSessions find(String name) {
        // While one generation drains, the next may be there already.
        return generations.stream()
                .filter(one -> one.name().equals(name))
                .max(Comparator.comparingLong(HandSessions::generation))
                .orElseThrow(() -> missing(name));
    }

    private RuntimeException missing(String name) {
        var known = statuses.stream().map(ProviderStatus::describe).toList();
        for (var provider : known) {
            if (name.equals(provider.name)) {
                return new ClosedException("provider '" + name + "' serves nothing now, it is " + provider.state
                        + (provider.reason == null ? "" : ": " + provider.reason));
            }
        }
        return Misuse.unknown(
                "provider", name, known.stream().map(one -> one.name).toList());
    }
}
