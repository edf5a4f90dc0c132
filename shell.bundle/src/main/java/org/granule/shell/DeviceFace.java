package org.granule.shell;

import java.util.stream.Collectors;
import org.granule.governor.DeviceDTO;
import org.granule.memory.ByteSize;

/** Devices. The table shows the ledger's figures, which are of all allocators; one in full shows both sides. */
final class DeviceFace extends Face<DeviceDTO> {

    static final DeviceFace INSTANCE = new DeviceFace();

    @Override
    Table columns() {
        return new Table()
                .name("DEVICE")
                .name("NAME")
                .figure("TOTAL")
                .figure("FREE")
                .figure("OWNED")
                .figure("MAPPED")
                .figure("POOLED")
                .figure("QUARANTINED")
                .figure("DIFFERENCE");
    }

    @Override
    void add(Table table, DeviceDTO item) {
        table.row(
                        item.device,
                        Text.orDash(item.name),
                        size(item.totalBytes),
                        size(item.freeBytes),
                        size(item.ledgerOwnedBytes),
                        size(item.ledgerMappedBytes),
                        size(item.ledgerPooledBytes),
                        size(item.ledgerQuarantinedBytes),
                        size(item.differenceBytes))
                .note(allocators(item));
    }

    private static String allocators(DeviceDTO item) {
        var names = item.allocators.stream().map(AllocatorFace::brief).collect(Collectors.joining(", "));
        int others = item.allocators.size() - item.inspected;
        return others == 0
                ? names
                : names + "; " + others + " of " + item.allocators.size()
                        + " cannot be inspected, only the ledger knows what it holds";
    }

    private static String size(long bytes) {
        return bytes < 0 ? "-" : ByteSize.format(bytes);
    }

    @Override
    Details details(DeviceDTO item) {
        return new Details()
                .add("device", item.device)
                .add("name", item.name)
                .add("allocators", allocators(item))
                .add("total", size(item.totalBytes))
                .add("free", size(item.freeBytes))
                .add("owned", both(item.ledgerOwnedBytes, item.ownedBytes))
                .add("mapped", both(item.ledgerMappedBytes, item.mappedBytes))
                .add("pooled", both(item.ledgerPooledBytes, item.pooledBytes))
                .add("quarantined", both(item.ledgerQuarantinedBytes, item.quarantinedBytes))
                .add("difference", item.differenceBytes < 0 ? "not compared yet" : size(item.differenceBytes));
    }

    private static String both(long ledger, long allocators) {
        return size(ledger) + " by the ledger" + (allocators < 0 ? "" : ", " + size(allocators) + " by its allocators");
    }

    @Override
    String id(DeviceDTO item) {
        return item.device;
    }
}
