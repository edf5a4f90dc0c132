package org.granule.shell;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.granule.memory.ByteSize;
import org.granule.memory.FindingDTO;
import org.granule.memory.ReconciliationDTO;

/**
 * What a comparison of books and devices has found.
 *
 * @param results one for each device
 */
public record Reconciled(List<ReconciliationDTO> results) implements Answer {

    /** Whether books and devices agree as far as they could be compared, and no allocator failed to. */
    boolean isClean() {
        return results.stream().allMatch(result -> result.findingCount == 0 && result.faults.isEmpty());
    }

    /** Returns one line for each device. */
    String summary() {
        return results.isEmpty()
                ? "no devices: no allocator is bound"
                : results.stream().map(Reconciled::summary).collect(Collectors.joining("\n"));
    }

    private static String summary(ReconciliationDTO result) {
        var verdict = result.findingCount == 0
                ? result.faults.isEmpty() ? "no difference" : "no difference as far as it could be compared"
                : Text.plural(result.findingCount, "difference") + ", " + ByteSize.format(result.differenceBytes);
        return result.device + ": " + Text.plural(result.handlesChecked, "handle") + " and "
                + Text.plural(result.mappingsChecked, "mapping") + " checked, " + verdict;
    }

    @Override
    public String text() {
        if (results.isEmpty()) {
            return summary();
        }
        var lines = new ArrayList<String>();
        for (var result : results) {
            lines.add(summary(result));
            result.findings.forEach(finding -> lines.add("  " + line(finding)));
            if (result.findingCount > result.findings.size()) {
                lines.add("  and " + Text.plural(result.findingCount - result.findings.size(), "difference") + " more");
            }
            remarks(result).forEach(remark -> lines.add("    " + remark));
        }
        return String.join("\n", lines);
    }

    private static List<String> remarks(ReconciliationDTO result) {
        var remarks = new ArrayList<String>(result.faults);
        remarks.addAll(result.remarks);
        if (ReconciliationDTO.NOT_COMPARED.equals(result.ledger)) {
            remarks.add("so the sum was not compared with the ledger");
        } else if (ReconciliationDTO.MOVING.equals(result.ledger)) {
            remarks.add("the sum was not compared with the ledger: it is moving; try again when less goes on");
        }
        if (result.quarantinedBytes > 0) {
            remarks.add(ByteSize.format(result.quarantinedBytes)
                    + " in quarantine not looked for: nobody knows whether they are there, see granule:quarantine");
        }
        if (result.uncheckedBytes > 0) {
            remarks.add(ByteSize.format(result.uncheckedBytes) + " of addresses without memory not looked at");
        }
        return remarks;
    }

    private static String line(FindingDTO finding) {
        var line = new StringBuilder(finding.kind.toLowerCase(Locale.ROOT).replace('_', ' '));
        if (finding.address != 0) {
            line.append(" at 0x").append(Long.toHexString(finding.address));
        }
        line.append(", ").append(ByteSize.format(finding.bytes));
        if (finding.handle != -1) {
            line.append(", handle ").append(finding.handle);
        }
        line.append(", ").append(finding.account == null ? "nobody is charged" : finding.account);
        if (finding.allocator != null) {
            line.append(", ").append(finding.allocator);
        }
        return line.toString();
    }

    @Override
    public String id() {
        return results.stream().map(result -> result.device).collect(Collectors.joining(" "));
    }
}
