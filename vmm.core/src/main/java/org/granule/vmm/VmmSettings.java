package org.granule.vmm;

import org.granule.memory.DeviceKey;
import org.granule.memory.InvalidRequestException;

/**
 * How an engine is set up.
 *
 * @param device what it serves
 * @param arenaBytes addresses reserved at a time; larger requests get an arena of their own
 * @param keptBytes how much released memory stays mapped for the next allocation of the same size, at most; a single
 *     block may be as large as this
 * @param idleBytes how much unmapped physical memory is kept for the next commit, at most
 * @param maxExtentBytes the largest single handle
 */
public record VmmSettings(DeviceKey device, long arenaBytes, long keptBytes, long idleBytes, long maxExtentBytes) {

    private static final long GIB = 1L << 30;

    /**
     * Checks the figures.
     *
     * @throws InvalidRequestException when one is out of range
     */
    public VmmSettings {
        if (arenaBytes <= 0 || keptBytes < 0 || idleBytes < 0 || maxExtentBytes <= 0) {
            throw new InvalidRequestException(
                    "arena of " + arenaBytes + ", kept " + keptBytes + ", idle " + idleBytes + ", extent "
                            + maxExtentBytes + " bytes: arena and extent must be positive, the others at least 0");
        }
    }

    /**
     * Returns settings that suit a device with some GiB of memory.
     *
     * @param device what the engine serves
     * @return an arena of 1 TiB, 256 MiB kept mapped, 1 GiB of idle handles, extents up to 1 GiB
     */
    public static VmmSettings of(DeviceKey device) {
        return new VmmSettings(device, 1024 * GIB, GIB / 4, GIB, GIB);
    }
}
