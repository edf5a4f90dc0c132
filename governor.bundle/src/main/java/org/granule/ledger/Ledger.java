package org.granule.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Pattern;
import org.granule.governor.AccountDTO;
import org.granule.governor.Governor;
import org.granule.governor.Lease;
import org.granule.memory.Account;
import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;

/** The trees of all devices. */
@Component(
        name = "org.granule.governor",
        service = {Governor.class, Ledger.class})
public final class Ledger implements Governor {

    static final String IDLE = "idle";
    static final int ROLE_DEPTH = 2;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private final ConcurrentSkipListMap<DeviceKey, DeviceTree> trees = new ConcurrentSkipListMap<>();

    /** Makes an empty ledger. */
    @Activate
    public Ledger() {}

    @Override
    public LedgerAccount account(DeviceKey device, String tenant, String role) {
        requireName("tenant", tenant);
        requireName("role", role);
        return (LedgerAccount) tree(device).node(new String[] {device.toString(), tenant, role});
    }

    /**
     * Returns a device's account of idle memory.
     *
     * @param device the device
     * @return the account
     */
    public LedgerAccount idle(DeviceKey device) {
        return tree(device).idle;
    }

    @Override
    public long limit(String path, long bytes) {
        if (bytes < 0) {
            throw new InvalidRequestException("a limit of " + bytes + " bytes: it must be at least 0");
        }
        var names = split(path);
        var tree = tree(DeviceKey.parse(names[0]));
        var node = tree.node(names);
        return tree.exactly(root -> {
            node.limit = bytes;
            return Math.max(0, node.drawn - bytes);
        });
    }

    @Override
    public Lease claim(Account account, long bytes) {
        var own = own(account);
        own.charge(bytes, 0);
        return new LedgerLease(own, bytes);
    }

    @Override
    public Lease record(Account account, long bytes) {
        var own = own(account);
        if (bytes < 0) {
            throw new InvalidRequestException(bytes + " bytes cannot be recorded: at least 0");
        }
        own.tree.record(own, bytes);
        own.stripes.addUnowned(-bytes);
        return new LedgerLease(own, bytes);
    }

    @Override
    public List<AccountDTO> ledger() {
        var all = new ArrayList<AccountDTO>();
        for (var tree : trees.values()) {
            tree.exactly(root -> describe(root, all));
        }
        return all;
    }

    /**
     * Reads the accounts of one device at one moment.
     *
     * @param device which
     * @return the device first, then what is below it
     */
    public List<AccountDTO> ledger(DeviceKey device) {
        var all = new ArrayList<AccountDTO>();
        tree(device).exactly(root -> describe(root, all));
        return all;
    }

    @Override
    public long alarms() {
        return trees.values().stream().mapToLong(DeviceTree::alarms).sum();
    }

    @Override
    public List<String> explain(String path) {
        var names = split(path);
        var tree = trees.get(DeviceKey.parse(names[0]));
        if (tree == null) {
            throw new InvalidRequestException(unknown(path));
        }
        return tree.exactly(root -> Explanation.of(find(root, path)));
    }

    private DeviceTree tree(DeviceKey device) {
        return trees.computeIfAbsent(device, DeviceTree::new);
    }

    private LedgerAccount own(Account account) {
        if (account instanceof LedgerAccount own && trees.get(own.device()) == own.tree) {
            return own;
        }
        throw new InvalidRequestException(account.path() + " is no account of this ledger");
    }

    private static Node find(Node node, String path) {
        if (node.path.equals(path)) {
            return node;
        }
        for (Node child : node.children) {
            if (path.equals(child.path) || path.startsWith(child.path + "/")) {
                return find(child, path);
            }
        }
        throw new InvalidRequestException(unknown(path));
    }

    private static String unknown(String path) {
        return "there is no account " + path + "; granule:ledger lists them";
    }

    /** Describes a node and all below; returns its own row. */
    private static AccountDTO describe(Node node, List<AccountDTO> all) {
        var dto = new AccountDTO();
        all.add(dto);
        dto.path = node.path;
        dto.depth = node.depth;
        dto.limitBytes = node.limit;
        dto.ownedBytes = node.drawn;
        dto.peakOwnedBytes = node.peak;
        dto.excessBytes = Math.max(0, node.drawn - node.limit);
        dto.refusals = node.refusals;
        if (node instanceof LedgerAccount leaf) {
            dto.mappedBytes = Math.max(0, node.drawn + leaf.stripes.unowned());
            dto.reservedBytes = leaf.reserved.get();
            dto.quarantinedBytes = leaf.quarantined.get();
            dto.leases = leaf.leases.get();
            dto.leasedBytes = leaf.leased.get();
        }
        for (Node child : node.children) {
            var part = describe(child, all);
            dto.mappedBytes += part.mappedBytes;
            dto.reservedBytes += part.reservedBytes;
            dto.quarantinedBytes += part.quarantinedBytes;
            dto.leases += part.leases;
            dto.leasedBytes += part.leasedBytes;
            dto.refusals += part.refusals;
        }
        return dto;
    }

    private static String[] split(String path) {
        var names = path.split("/", -1);
        if (names.length > ROLE_DEPTH + 1) {
            throw new InvalidRequestException("'" + path + "' is not an account; write device, device/tenant or"
                    + " device/tenant/role, such as host:0/tenant-a/kv");
        }
        for (int i = 1; i < names.length; i++) {
            requireName(i == 1 ? "tenant" : "role", names[i]);
        }
        return names;
    }

    private static void requireName(String what, String name) {
        if (name == null || !NAME.matcher(name).matches() || "tenant".equals(what) && IDLE.equals(name)) {
            throw new InvalidRequestException(what + " '" + name + "' is not 1 to 64 letters, digits, '.', '_' or '-'"
                    + (IDLE.equals(name) ? ", and idle is taken" : ""));
        }
    }
}
