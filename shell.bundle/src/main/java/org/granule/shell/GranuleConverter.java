package org.granule.shell;

import org.apache.felix.service.command.Converter;
import org.granule.governor.AccountDTO;
import org.granule.governor.AllocationDTO;
import org.granule.governor.AllocatorDTO;
import org.granule.governor.DeviceDTO;
import org.granule.provider.ProviderDTO;
import org.osgi.service.component.annotations.Component;

/**
 * Shows results in the shell: {@link Converter#INSPECT} in full, {@link Converter#LINE} as a row, {@link
 * Converter#PART} by the id that commands take.
 */
@Component(
        property = {
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Listing",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Candidate",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Explanation",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.HandAllocation",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Limit",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Outcome",
            Converter.CONVERTER_CLASSES + "=org.granule.shell.Reconciled",
            Converter.CONVERTER_CLASSES + "=org.granule.governor.AccountDTO",
            Converter.CONVERTER_CLASSES + "=org.granule.governor.AllocationDTO",
            Converter.CONVERTER_CLASSES + "=org.granule.governor.AllocatorDTO",
            Converter.CONVERTER_CLASSES + "=org.granule.governor.DeviceDTO",
            Converter.CONVERTER_CLASSES + "=org.granule.provider.ProviderDTO"
        })
public final class GranuleConverter implements Converter {

    /** Makes nothing: commands take names and tokens, which are text. */
    @Override
    public Object convert(Class<?> desiredType, Object in) {
        return null;
    }

    /** Gogo asks every converter for every result; null passes the question on. */
    @Override
    public CharSequence format(Object target, int level, Converter escape) {
        return switch (target) {
            case Listing<?> listing -> level == INSPECT ? listing.table() : listing.toString();
            case Answer answer -> show(answer, level);
            case Candidate item -> show(Candidate.View.INSTANCE, item, level);
            case AccountDTO item -> show(AccountFace.FLAT, item, level);
            case AllocationDTO item -> show(AllocationFace.LIVE, item, level);
            case AllocatorDTO item -> show(AllocatorFace.INSTANCE, item, level);
            case DeviceDTO item -> show(DeviceFace.INSTANCE, item, level);
            case ProviderDTO item -> show(ProviderFace.INSTANCE, item, level);
            case null, default -> null;
        };
    }

    private static <T> String show(Face<T> face, T item, int level) {
        return switch (level) {
            case INSPECT -> face.details(item).render();
            case LINE -> face.row(item);
            case PART -> face.id(item);
            default -> throw unknown(level);
        };
    }

    private static String show(Answer answer, int level) {
        return switch (level) {
            case INSPECT -> Answer.wrapped(answer.text());
            case LINE -> answer.text().lines().findFirst().map(Text::clean).orElse("");
            case PART -> answer.id();
            default -> throw unknown(level);
        };
    }

    private static IllegalArgumentException unknown(int level) {
        return new IllegalArgumentException("format level " + level + " is none of INSPECT, LINE and PART");
    }
}
