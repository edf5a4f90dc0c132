package org.granule.provider;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletionStage;
import org.granule.memory.Extents;
import org.granule.memory.Fence;
import org.granule.memory.Ranges;
import org.granule.memory.ReleaseOutcome;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Memory for one purpose. A session allocates, and what it has allocated is its own.
 *
 * <pre>{@code
 * try (MemorySession memory = provider.open("kv")) {
 *     long block = memory.allocate(1 << 20, 64);
 *     memory.fill(block, 0, 1 << 20, (byte) 0);
 *     memory.release(block);
 * }
 * }</pre>
 *
 * <h2>Tokens</h2>
 *
 * An allocation is named by a {@code long} token, so that allocating makes no garbage. A token is never
 * issued twice in the life of the framework and is not derived from an address. Used after its release,
 * twice, in another session, or after the provider has ended, it is refused before the allocator is
 * called. 0 is never a token.
 *
 * <h2>Threads</h2>
 *
 * All methods may be called from any thread. Operations that touch memory hold it: a release or decommit
 * waits for them, up to a second, and then fails with {@link org.granule.memory.InUseException}.
 *
 * <h2>Queued work</h2>
 *
 * The operations of a session are done when they return. Work that a user queues on a stream of the device
 * is not, and memory that is unmapped under it takes the whole device context down. {@link #usedUntil} says
 * which range such work touches and until when. {@link #release}, {@link #decommit}, {@link #detach} and
 * {@link #privatise} then wait for the work on just the granules that they take away, up to a second; other
 * ranges, other tokens and the rest of the device are never waited for. {@link #releaseAfter} and {@link
 * #close} do not block: they let the memory wait.
 *
 * <pre>{@code
 * enqueue(stream, kernel, memory.address(cache) + offset, length);
 * memory.usedUntil(cache, offset, length, record(stream));
 * memory.decommit(cache, 0, offset); // at once: the kernel does not touch it
 * memory.release(cache); // when the kernel is done
 * }</pre>
 *
 * <h2>Errors</h2>
 *
 * Every method throws {@link org.granule.memory.StaleTokenException} for a token that was released or whose
 * session or provider has ended, {@link org.granule.memory.ForeignTokenException} for one of another session,
 * {@link org.granule.memory.InvalidRequestException} for an argument outside its bounds, {@link
 * org.granule.memory.NotSupportedException} where the allocator lacks the facet, {@link
 * org.granule.memory.AllocatorFaultException} when the allocator breaks its contract, and {@link
 * org.granule.memory.ClosedException} when new work is refused. After an error nothing has changed unless it
 * says so.
 *
 * <h2>End</h2>
 *
 * {@link #close()} releases what is left; what queued work still touches, when that is done. A session that is dropped without being closed is reported with the
 * place that opened it, and its memory is quarantined: still charged, and released only by an operator.
 */
@ProviderType
public interface MemorySession extends AutoCloseable {

    /**
     * Returns the account that this session charges.
     *
     * @return its path, such as {@code host:0/tenant-a/kv}
     */
    String account();

    /**
     * Allocates memory that can be read and written over its whole length.
     *
     * @param bytes at least 0; an allocation of 0 bytes has no address and charges nothing
     * @param alignment a power of two
     * @return a token
     * @throws org.granule.memory.BudgetExceededException when a limit would be passed
     * @throws org.granule.memory.DriverFaultException when the device refuses
     */
    long allocate(long bytes, long alignment);

    /**
     * Releases an allocation or reservation. The token is stale afterwards, unless the outcome is {@link
     * ReleaseOutcome.Failed}.
     *
     * @param token an allocation
     * @return what became of it
     * @throws org.granule.memory.InUseException when another operation or queued work holds the memory for
     *     too long
     */
    ReleaseOutcome release(long token);

    /**
     * Releases an allocation once a fence is passed, and all that {@link #usedUntil} has recorded for it. The
     * token is stale at once; the memory stays charged and untouched until then, and is listed as pending.
     *
     * @param token an allocation
     * @param fence what must be passed before
     * @return completes with what became of it, on a thread of the platform
     * @throws org.granule.memory.InvalidRequestException when the fence throws; nothing was released
     */
    CompletionStage<ReleaseOutcome> releaseAfter(long token, Fence fence);

    /**
     * Says that queued work touches a range until a fence is passed: the range is neither unmapped nor reused
     * before. Call it once for each piece of work and stream, after the work was queued and before anything
     * that could take the memory away; of several pieces of work in one stream the last fence will do, when
     * its range spans theirs. Fences that are passed are forgotten, so what is kept is bounded by the work
     * that is queued.
     *
     * <p>Ranges count in whole granules. The range should be committed for as long as the work runs; work on
     * addresses without memory faults on the device whatever is recorded here. An extent of several granules
     * ({@link Extents#WHOLE}) leaves with the last of its committed bytes, so for a range that is committed
     * to the end of its work it is enough that the ranges of a decommit are compared.
     *
     * <p>When this races with a release, either the release waits for the fence, or the token is stale here.
     *
     * @param token an allocation or reservation, not a prefix: name the reservation it is attached to
     * @param offset first byte
     * @param length bytes, at least 0
     * @param fence what the work passes when it is done; asked once here, and not kept when it has passed
     * @throws org.granule.memory.InvalidRequestException also for a prefix, and when the fence throws;
     *     nothing was recorded
     */
    void usedUntil(long token, long offset, long length, Fence fence);

    /**
     * Reserves addresses, with memory behind some ranges.
     *
     * @param bytes at least 1
     * @param alignment a power of two
     * @param committed what to commit at once
     * @param extents how memory will be taken away again
     * @return a token
     * @throws org.granule.memory.BudgetExceededException when the committed part would pass a limit
     * @throws org.granule.memory.DriverFaultException when the device refuses
     */
    long reserve(long bytes, long alignment, Ranges committed, Extents extents);

    /**
     * Puts memory behind a range of a reservation.
     *
     * @param token a reservation
     * @param offset first byte
     * @param length bytes, at least 1
     * @throws org.granule.memory.BudgetExceededException when a limit would be passed
     * @throws org.granule.memory.DriverFaultException when the device refuses
     */
    void commit(long token, long offset, long length);

    /**
     * Takes memory away from a range of a reservation. Queued work on other granules is not waited for.
     *
     * @param token a reservation
     * @param offset first byte
     * @param length bytes, at least 1
     * @return the bytes that left, or what stands in the way
     * @throws org.granule.memory.InUseException when another operation holds the memory for too long, or
     *     queued work this range of it
     */
    ReleaseOutcome decommit(long token, long offset, long length);

    /**
     * Returns what committing these ranges of a new reservation would charge.
     *
     * @param ranges offsets
     * @return bytes
     */
    long estimate(Ranges ranges);

    /**
     * Returns the allocator's granule.
     *
     * @return bytes
     */
    long granuleBytes();

    /**
     * Returns the memory behind an allocation.
     *
     * @param token an allocation
     * @return mapped bytes; for an allocator without virtual backing the length that was asked for
     */
    long committedBytes(long token);

    /**
     * Makes a prefix of committed granules, to be attached by any session of this provider.
     *
     * @param token a reservation with {@link Extents#PIECES}
     * @param offset a multiple of the granule
     * @param length a positive multiple of the granule
     * @return the prefix's token; it belongs to this session
     */
    long share(long token, long offset, long length);

    /**
     * Returns what attaching a prefix would charge as owned.
     *
     * @param prefix a prefix of any session of this provider
     * @return 0
     * @throws org.granule.memory.NotSupportedException when it cannot be mapped
     */
    long price(long prefix);

    /**
     * Maps a prefix read-only into a reservation.
     *
     * @param token a reservation of this session
     * @param offset a multiple of the granule; the range must not be committed
     * @param prefix a prefix of any session of this provider
     * @throws org.granule.memory.DriverFaultException when the device refuses
     */
    void attach(long token, long offset, long prefix);

    /**
     * Maps several prefixes, all or none: keys and values, for instance.
     *
     * @param token a reservation of this session
     * @param offsets where each goes
     * @param prefixes as many
     * @throws org.granule.memory.UndoFailedException when one failed and an earlier one could not be
     *     detached: do not fall back to private memory in this reservation, release it
     */
    void attach(long token, long[] offsets, long[] prefixes);

    /**
     * Unmaps a prefix. Queued work is waited for where it was recorded for this reservation and this range.
     *
     * @param token as attached
     * @param offset as attached
     * @param prefix as attached
     * @return what became of the mapping
     * @throws org.granule.memory.InUseException when another operation holds the memory for too long, or
     *     queued work this range of it
     */
    ReleaseOutcome detach(long token, long offset, long prefix);

    /**
     * Ends a prefix. Its memory stays for those who have attached it.
     *
     * @param prefix a prefix of this session
     * @return what became of it
     */
    ReleaseOutcome retire(long prefix);

    /**
     * Replaces attached granules by private copies that may be written.
     *
     * @param token a reservation
     * @param offset a multiple of the granule
     * @param length a positive multiple of the granule
     * @throws org.granule.memory.BudgetExceededException when a limit would be passed
     * @throws org.granule.memory.InUseException when another operation holds the memory for too long, or
     *     queued work this range of it
     */
    void privatise(long token, long offset, long length);

    /**
     * Returns where an allocation is, for native code. Who uses it directly must not release meanwhile; for
     * work that is queued there is {@link #usedUntil}.
     *
     * @param token an allocation
     * @return the address, 0 for an allocation of 0 bytes
     */
    long address(long token);

    /**
     * Returns how long an allocation is.
     *
     * @param token an allocation
     * @return bytes, as asked for
     */
    long bytes(long token);

    /**
     * Writes one value to every byte of a range.
     *
     * @param token an allocation
     * @param offset first byte
     * @param length bytes, at least 0
     * @param value the byte
     */
    void fill(long token, long offset, long length, byte value);

    /**
     * Copies within the device. The ranges may overlap.
     *
     * @param target an allocation
     * @param targetOffset first byte to write
     * @param source an allocation
     * @param sourceOffset first byte to read
     * @param length bytes, at least 0
     */
    void copy(long target, long targetOffset, long source, long sourceOffset, long length);

    /**
     * Copies from Java memory.
     *
     * @param target an allocation
     * @param offset first byte to write
     * @param source all of it is copied
     */
    void copyIn(long target, long offset, MemorySegment source);

    /**
     * Copies to Java memory.
     *
     * @param target all of it is written
     * @param source an allocation
     * @param offset first byte to read
     */
    void copyOut(MemorySegment target, long source, long offset);

    /** Waits until the work of this session's operations is done. */
    void synchronise();

    /**
     * Releases what is left, prefixes included, and ends the session. Memory with queued work on it is
     * released in the background when the work is done; until then it is charged and listed as pending. A
     * second call does nothing.
     */
    @Override
    void close();
}
