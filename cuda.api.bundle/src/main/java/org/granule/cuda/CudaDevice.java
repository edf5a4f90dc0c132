package org.granule.cuda;

import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import org.granule.memory.DeviceKey;
import org.granule.memory.Fence;
import org.granule.provider.MemorySession;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A CUDA device for those who work on it with JCuda. One service for each device that has an allocator, with the
 * same {@code granule.device} property.
 *
 * <pre>{@code
 * long token = session.allocate(bytes, 256);
 * launch(kernel, stream, cuda.pointer(session, token, 0));
 * session.usedUntil(token, 0, bytes, cuda.fence(stream));
 * session.release(token);      // waits for the kernel, and for nothing else of the device
 * }</pre>
 *
 * <p>Work goes into the device's primary context, in which the memory is accessible. All methods may be called from
 * any thread, whatever context is current there.
 */
@ProviderType
public interface CudaDevice {

    /**
     * Returns the device.
     *
     * @return {@code cuda:} and its ordinal
     */
    DeviceKey device();

    /**
     * Returns the primary context. It is held for as long as this service is registered; do not destroy or release it.
     *
     * @return the context
     */
    CUcontext context();

    /**
     * Makes a point behind all work that is in a stream now.
     *
     * <p>While a graph is captured in the stream, the fence is passed when the capture has ended and the work that was
     * in the stream before it is done, so that nothing which the capture may refer to is unmapped before. Each launch
     * of the graph is work of its own and needs a fence of its own.
     *
     * <p>On a lost device, or once its allocator has ended, a fence is passed: no work runs any more. A fence costs an
     * event of the driver until it is seen to have passed; hand it to a session, or ask it.
     *
     * @param stream a stream of the {@linkplain #context() primary context}, which must exist until the fence is passed
     * @return the fence; cheap to ask, from any thread
     * @throws org.granule.memory.DriverFaultException when the driver refuses the stream, or the device is lost
     */
    Fence fence(CUstream stream);

    /**
     * Returns a byte of an allocation as JCuda's pointer. It is good until the allocation is released or the range
     * decommitted; nobody checks what is done with it.
     *
     * @param session whose token it is, of a provider on this device
     * @param token an allocation or reservation
     * @param offset bytes from its start, at least 0 and less than its length
     * @return the pointer
     * @throws org.granule.memory.StaleTokenException when the token is not live
     * @throws org.granule.memory.ForeignTokenException when it is another session's
     * @throws org.granule.memory.InvalidRequestException when the offset is outside, or the session is on another device
     */
    CUdeviceptr pointer(MemorySession session, long token, long offset);

    /**
     * Exports the physical memory behind a byte for another process, as a whole handle: one granule of a reservation
     * that is made of pieces. Its bytes exist until the other process lets go of them too, which the ledger here cannot
     * see once the memory is released.
     *
     * @param session whose token it is
     * @param token an allocation or reservation
     * @param offset of a committed byte
     * @return a file descriptor that the caller closes
     * @throws org.granule.memory.NotSupportedException when handles are not exportable; set {@code exportable} in the
     *     configuration {@code org.granule.cuda.vmm}
     * @throws org.granule.memory.DriverFaultException when nothing is mapped there
     */
    int export(MemorySession session, long token, long offset);
}
