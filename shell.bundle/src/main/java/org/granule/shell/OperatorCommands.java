package org.granule.shell;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.felix.service.command.Descriptor;
import org.apache.felix.service.command.Parameter;
import org.apache.felix.service.command.annotations.GogoCommand;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocationRegistry;
import org.granule.governor.Governor;
import org.granule.memory.ByteSize;
import org.granule.provider.ProviderDTO;
import org.granule.provider.ProviderStatus;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Reference;

/** The commands that only look. */
@Component(service = OperatorCommands.class)
@GogoCommand(
        scope = "granule",
        function = {"allocators", "providers", "candidates", "devices", "ledger", "allocations", "explain"})
public final class OperatorCommands {

    private final Governor governor;
    private final AllocationRegistry registry;

    /** Replaced as a whole by the component runtime whenever a provider comes or goes. */
    @Reference
    volatile List<ProviderStatus> statuses = List.of();

    /**
     * Creates the commands.
     *
     * @param governor the ledger
     * @param registry the bindings
     */
    @Activate
    public OperatorCommands(@Reference Governor governor, @Reference AllocationRegistry registry) {
        this.governor = governor;
        this.registry = registry;
    }

    /**
     * Lists the allocator services.
     *
     * @param ids a service id, or nothing
     * @return a list, or one allocator
     */
    @Descriptor("lists allocator services, best first, and why one cannot be used")
    public Object allocators(@Descriptor("[ID]: one allocator in full") String... ids) {
        var all = registry.allocators();
        if (ids.length > 0) {
            var id = only("allocators [ID]", ids);
            return all.stream()
                    .filter(one -> Long.toString(one.serviceId).equals(id))
                    .findFirst()
                    .orElseThrow(() -> Misuse.unknown(
                            "allocator",
                            id,
                            all.stream().map(AllocatorFace.INSTANCE::id).toList()));
        }
        var summary = all.isEmpty()
                ? "no allocators: no active bundle registers one, lb shows the bundles"
                : Text.plural(all.size(), "allocator");
        return new Listing<>(all, AllocatorFace.INSTANCE, summary, null);
    }

    /**
     * Lists the providers.
     *
     * @param names a provider's name, or nothing
     * @return a list, or one provider
     */
    @Descriptor("lists providers, what each has bound or waits for, and its health")
    public Object providers(@Descriptor("[PROVIDER]: one provider in full") String... names) {
        if (names.length > 0) {
            return find(only("providers [PROVIDER]", names));
        }
        var all = describe();
        var summary = all.isEmpty()
                ? "no providers: none is configured, or the provider bundle is not active"
                : Text.plural(all.size(), "provider");
        return new Listing<>(all, ProviderFace.INSTANCE, summary, null);
    }

    /**
     * Lists the allocators that providers could have bound.
     *
     * @param names a provider's name, or nothing
     * @return the list
     */
    @Descriptor("lists allocators that match a provider and are not bound by it, best first")
    public Object candidates(@Descriptor("[PROVIDER]: only of this one") String... names) {
        var providers = names.length > 0 ? List.of(find(only("candidates [PROVIDER]", names))) : describe();
        var all = providers.stream()
                .flatMap(provider -> provider.candidates.stream().map(one -> new Candidate(provider.name, one)))
                .toList();
        var without = providers.stream()
                .filter(provider -> provider.candidates.isEmpty())
                .map(provider -> provider.name)
                .collect(Collectors.joining(", "));
        var footer = all.isEmpty() || without.isEmpty() ? null : "no other allocator matches: " + without;
        var summary = all.isEmpty() ? "no candidates" : Text.plural(all.size(), "candidate");
        return new Listing<>(all, Candidate.View.INSTANCE, summary, footer);
    }

    /**
     * Lists the devices.
     *
     * @param devices a device, or nothing
     * @return a list, or one device
     */
    @Descriptor("lists devices: memory by the device, what is owned, mapped, pooled, and the last difference")
    public Object devices(@Descriptor("[DEVICE]: one device in full") String... devices) {
        var all = registry.devices();
        if (devices.length > 0) {
            var name = only("devices [DEVICE]", devices);
            return all.stream()
                    .filter(one -> one.device.equals(name))
                    .findFirst()
                    .orElseThrow(() -> Misuse.unknown(
                            "device",
                            name,
                            all.stream().map(DeviceFace.INSTANCE::id).toList()));
        }
        var summary = all.isEmpty()
                ? "no devices: no allocator is bound, see granule:allocators"
                : Text.plural(all.size(), "device");
        return new Listing<>(all, DeviceFace.INSTANCE, summary, null);
    }

    /**
     * Shows the ledger.
     *
     * @param paths an account's path, or nothing
     * @return the accounts
     */
    @Descriptor("shows the accounts of all devices: what is owned, mapped and reserved, and the limits")
    public Object ledger(@Descriptor("[ACCOUNT]: only this one and what is below it") String... paths) {
        var all = governor.ledger();
        var face = paths.length == 0 ? AccountFace.TREE : AccountFace.FLAT;
        var shown = paths.length == 0 ? all : new Accounts(all).below(only("ledger [ACCOUNT]", paths));
        long alarms = governor.alarms();
        var footer = alarms == 0
                ? null
                : "ALARM: more was refunded than was charged, " + Text.plural(alarms, "time")
                        + "; an allocator is defective, see the log";
        var summary = all.isEmpty() ? "no accounts: nothing was charged yet" : Text.plural(shown.size(), "account");
        return new Listing<>(shown, face, summary, footer);
    }

    /**
     * Lists allocations.
     *
     * @param provider only of this provider, or empty
     * @param tenant only of this tenant, or empty
     * @param role only of this role, or empty
     * @param tokens a token, or nothing
     * @return a list, or one allocation
     */
    @Descriptor("lists allocations that live, wait for a fence or are in quarantine")
    public Object allocations(
            @Descriptor("only of this provider")
                    @Parameter(
                            names = {"-p", "--provider"},
                            absentValue = "")
                    String provider,
            @Descriptor("only of this tenant")
                    @Parameter(
                            names = {"-t", "--tenant"},
                            absentValue = "")
                    String tenant,
            @Descriptor("only of this role")
                    @Parameter(
                            names = {"-r", "--role"},
                            absentValue = "")
                    String role,
            @Descriptor("[TOKEN]: one allocation in full") String... tokens) {
        var all = registry.allocations();
        if (tokens.length > 0) {
            var usage = "allocations [--provider PROVIDER] [--tenant TENANT] [--role ROLE] [TOKEN]";
            var token = Misuse.token(only(usage, tokens));
            return all.stream()
                    .filter(one -> one.token == token)
                    .findFirst()
                    .orElseThrow(() -> Misuse.unknown(
                            "token",
                            tokens[0],
                            all.stream().map(AllocationFace.LIVE::id).toList()));
        }
        requireKnown(provider, tenant, role, all);
        var shown = all.stream()
                .filter(one -> provider.isEmpty() || provider.equals(one.provider))
                .filter(one -> tenant.isEmpty() || tenant.equals(Accounts.part(one.account, 1)))
                .filter(one -> role.isEmpty() || role.equals(Accounts.part(one.account, 2)))
                .toList();
        var summary = shown.isEmpty() ? "no allocations" : sum(shown);
        return new Listing<>(shown, AllocationFace.LIVE, summary, shown.isEmpty() ? null : summary);
    }

    /** A filter with a typing error would show an empty list, which reads as "all is released". */
    private void requireKnown(String provider, String tenant, String role, List<AllocationDTO> all) {
        var names = Stream.concat(
                        describe().stream().map(one -> one.name), all.stream().map(one -> one.provider))
                .toList();
        requireKnown("provider", provider, names);
        var accounts = new Accounts(governor.ledger());
        requireKnown("tenant", tenant, accounts.tenants());
        requireKnown("role", role, accounts.roles());
    }

    private static void requireKnown(String noun, String name, List<String> known) {
        if (!name.isEmpty() && !known.contains(name)) {
            throw Misuse.unknown(noun, name, known);
        }
    }

    private static String sum(List<AllocationDTO> all) {
        long bytes = all.stream().mapToLong(one -> one.bytes).reduce(0, OperatorCommands::plus);
        return Text.plural(all.size(), "allocation") + ", " + ByteSize.format(bytes) + " asked for";
    }

    /** Reserved addresses can add up to more than a long holds. */
    private static long plus(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE - 1 : sum;
    }

    /**
     * Says why an account was refused.
     *
     * @param paths an account's path
     * @return the explanation
     */
    @Descriptor("says why an account was refused last, who holds what, and what would make it succeed")
    public Object explain(@Descriptor("ACCOUNT: such as host:0/tenant-a/kv") String... paths) {
        var path = only("explain ACCOUNT", paths);
        new Accounts(governor.ledger()).require(path);
        return new Explanation(path, governor.explain(path));
    }

    private static String only(String usage, String... arguments) {
        Misuse.refuseOptions(usage, arguments);
        if (arguments.length != 1) {
            throw Misuse.usage(usage);
        }
        return arguments[0];
    }

    private List<ProviderDTO> describe() {
        return statuses.stream()
                .map(ProviderStatus::describe)
                .sorted(Comparator.comparing(provider -> provider.name))
                .toList();
    }

    private ProviderDTO find(String name) {
        var all = describe();
        return all.stream()
                .filter(provider -> provider.name.equals(name))
                .findFirst()
                .orElseThrow(() -> Misuse.unknown(
                        "provider", name, all.stream().map(one -> one.name).toList()));
    }
}
