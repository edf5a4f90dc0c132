package org.granule.vmm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.granule.vmm.TestLedger.TestAccount;

/** Idle handles by size against a list of them, oldest first. */
class HandlePoolTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private final TestLedger ledger = new TestLedger();
    private final TestAccount anna = ledger.account("anna", Long.MAX_VALUE);
    private final TestAccount bert = ledger.account("bert", Long.MAX_VALUE);
    private long nextHandle = 1;

    private Extent extent(long bytes, TestAccount writer) {
        var extent = new Extent(nextHandle++, bytes, ledger.idle);
        extent.writtenBy(writer);
        return extent;
    }

    private Extent add(HandlePool pool, long bytes, TestAccount writer) {
        var extent = extent(bytes, writer);
        assertThat(pool.admit(bytes)).isTrue();
        pool.add(extent);
        return extent;
    }

    @Example
    void handlesUpToOneGibibyteWaitUpToTheBound() {
        var pool = new HandlePool(2 * GIB);
        var large = add(pool, GIB, anna);
        var middle = add(pool, 512 * MIB, anna);
        var small = add(pool, 2 * MIB, anna);
        assertThat(pool.bytes()).isEqualTo(GIB + 514 * MIB);
        assertThat(pool.admit(GIB)).as("above the bound").isFalse();
        assertThat(pool.take(GIB, anna)).isSameAs(large);
        assertThat(pool.take(GIB, anna)).isNull();
        assertThat(pool.take(MIB, anna)).as("only the very size").isNull();
        assertThat(pool.admit(GIB)).isTrue();
        pool.add(large);
        assertThat(pool.take(512 * MIB, bert)).isSameAs(middle);
        assertThat(pool.take(2 * MIB, bert)).isSameAs(small);
        assertThat(pool.bytes()).isEqualTo(GIB);
    }

    @Example
    void oneHandleMayBeAsLargeAsTheBound() {
        var pool = new HandlePool(GIB);
        var large = add(pool, GIB, anna);
        assertThat(pool.admit(2 * MIB)).isFalse();
        assertThat(pool.evict()).isSameAs(large);
        assertThat(pool.bytes()).isZero();
        assertThat(pool.admit(GIB + 2 * MIB)).isFalse();
        assertThat(pool.admit(GIB)).isTrue();
    }

    @Example
    void theOldestOfTheLargestSizeIsGivenUpFirst() {
        var pool = new HandlePool(8 * GIB);
        var small = add(pool, 2 * MIB, anna);
        var first = add(pool, GIB, anna);
        var middle = add(pool, 32 * MIB, anna);
        var second = add(pool, GIB, bert);
        var third = add(pool, GIB, anna);
        assertThat(pool.take(GIB, bert)).isSameAs(second);
        assertThat(pool.evict()).isSameAs(first);
        assertThat(pool.evict()).isSameAs(third);
        assertThat(pool.evict()).isSameAs(middle);
        assertThat(pool.evict()).isSameAs(small);
        assertThat(pool.evict()).isNull();
        assertThat(pool.bytes()).isZero();
    }

    @Example
    void whatTheAccountWroteLastComesFirstThenTheYoungest() {
        var pool = new HandlePool(GIB);
        var old = add(pool, 2 * MIB, anna);
        var annas = add(pool, 2 * MIB, anna);
        var berts = add(pool, 2 * MIB, bert);
        assertThat(pool.take(2 * MIB, anna)).isSameAs(annas);
        pool.putBack(annas);
        assertThat(pool.take(2 * MIB, ledger.account("carl", 0))).isSameAs(annas);
        assertThat(pool.take(2 * MIB, anna)).isSameAs(old);
        assertThat(pool.take(2 * MIB, anna)).isSameAs(berts);
    }

    @Example
    void whatWasTakenGoesBackWhateverTheBound() {
        var pool = new HandlePool(4 * MIB);
        var taken = add(pool, 4 * MIB, anna);
        assertThat(pool.take(4 * MIB, anna)).isSameAs(taken);
        add(pool, 2 * MIB, anna);
        pool.putBack(taken);
        assertThat(pool.bytes()).isEqualTo(6 * MIB);
        assertThat(pool.admit(2 * MIB)).isFalse();
        assertThat(pool.evict()).isSameAs(taken);
    }

    @Property(tries = 200, seed = "5")
    void agreesWithAPlainModel(@ForAll long seed, @ForAll @IntRange(min = 0, max = 40) int boundMiB) {
        var random = new Random(seed);
        long bound = boundMiB * MIB;
        var pool = new HandlePool(bound);
        List<Extent> model = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            long size = (1L << random.nextInt(5)) * MIB;
            var account = random.nextBoolean() ? anna : bert;
            switch (random.nextInt(5)) {
                case 0, 1 -> {
                    boolean fits = size <= bound - bytes(model);
                    assertThat(pool.admit(size)).isEqualTo(fits);
                    if (fits) {
                        var extent = extent(size, account);
                        pool.add(extent);
                        model.add(extent);
                    }
                }
                case 2, 3 -> {
                    var taken = pool.take(size, account);
                    if (taken == null) {
                        assertThat(model).noneMatch(extent -> extent.bytes == size);
                    } else {
                        assertThat(taken.bytes).isEqualTo(size);
                        assertThat(model.remove(taken)).isTrue();
                    }
                }
                default -> {
                    var largest = model.stream().max(Comparator.comparingLong(extent -> extent.bytes));
                    var oldest = largest.flatMap(most -> model.stream()
                            .filter(extent -> extent.bytes == most.bytes)
                            .findFirst());
                    assertThat(pool.evict()).isSameAs(oldest.orElse(null));
                    oldest.ifPresent(model::remove);
                }
            }
            assertThat(pool.bytes()).isEqualTo(bytes(model)).isLessThanOrEqualTo(bound);
        }
    }

    private static long bytes(List<Extent> extents) {
        return extents.stream().mapToLong(extent -> extent.bytes).sum();
    }
}
