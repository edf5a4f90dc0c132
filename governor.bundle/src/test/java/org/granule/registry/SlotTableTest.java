package org.granule.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slots by address, and their lives. */
class SlotTableTest {

    private static final Owner OWNER = new Owner(1, null, "here");

    private static Slot live(SlotTable table, long address, long bytes) {
        var slot = table.claim(address, bytes);
        assertThat(slot.phase()).isEqualTo(Slot.CLAIMED);
        slot.owner = OWNER;
        slot.bytes = bytes;
        slot.publish(Slot.LIVE);
        return slot;
    }

    private static long token(Slot slot) {
        return Token.of(1, slot.index, slot.generation());
    }

    private static void release(SlotTable table, Slot slot) {
        assertThat(slot.seize(slot.generation())).isTrue();
        table.free(slot);
    }

    @Test
    void tokensHaveTheirParts() {
        long token = Token.of(Token.MAX_BINDING, Token.MAX_SLOTS - 1, Token.MAX_GENERATION);
        assertThat(token).isPositive();
        assertThat(Token.binding(token)).isEqualTo(Token.MAX_BINDING);
        assertThat(Token.slot(token)).isEqualTo(Token.MAX_SLOTS - 1);
        assertThat(Token.generation(token)).isEqualTo(Token.MAX_GENERATION);
        assertThat(Token.binding(0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    @DisplayName("A08 A14 random ranges that come, go, grow and shrink: overlaps are found, tokens never repeat")
    void agreesWithAPlainModel(int seed) {
        var random = new Random(seed);
        var table = new SlotTable(0);
        var model = new TreeMap<Long, Slot>();
        Set<Long> tokens = new HashSet<>();
        for (int step = 0; step < 20_000; step++) {
            if (random.nextInt(5) < 2 && !model.isEmpty()) {
                var keys = new ArrayList<>(model.keySet());
                var slot = model.remove(keys.get(random.nextInt(keys.size())));
                long token = token(slot);
                release(table, slot);
                assertThat(table.find(token) == slot && slot.phase() == Slot.LIVE)
                        .isFalse();
                continue;
            }
            long address = 4096 + random.nextInt(200) * 16L;
            long bytes = 1 + random.nextInt(random.nextInt(8) == 0 ? 400 : 40);
            var below = model.lowerEntry(address + bytes);
            boolean overlaps = below != null && below.getKey() + below.getValue().bytes > address;
            var slot = table.claim(address, bytes);
            if (overlaps) {
                assertThat(slot.phase())
                        .as("overlap of %d + %d", address, bytes)
                        .isEqualTo(Slot.LIVE);
                assertThat(model).containsValue(slot);
                assertThat(slot.address < address + bytes && slot.address + slot.bytes > address)
                        .isTrue();
            } else {
                assertThat(slot.phase()).as("%d + %d", address, bytes).isEqualTo(Slot.CLAIMED);
                assertThat(slot.address).isEqualTo(address);
                slot.owner = OWNER;
                slot.bytes = bytes;
                slot.publish(Slot.LIVE);
                assertThat(tokens.add(token(slot)))
                        .as("a token is never issued twice")
                        .isTrue();
                assertThat(table.find(token(slot))).isSameAs(slot);
                model.put(address, slot);
            }
        }
        Set<Slot> found = new HashSet<>();
        table.forEach(slot -> {
            if (slot.phase() == Slot.LIVE) {
                found.add(slot);
            }
        });
        assertThat(found).containsExactlyInAnyOrderElementsOf(model.values());
    }

    @Test
    void aRangeSeenBeforeKeepsItsSlot() {
        var table = new SlotTable(0);
        var slot = live(table, 4096, 100);
        for (int generation = 2; generation < 1000; generation++) {
            release(table, slot);
            assertThat(live(table, 4096, generation % 100 + 1)).isSameAs(slot);
            assertThat(slot.generation()).isEqualTo(generation);
        }
        assertThat(table.reachedGeneration()).isEqualTo(999);
    }

    @Test
    void manyRangesAreForgottenAndFoundAgain() {
        var table = new SlotTable(0);
        int count = 200_000;
        for (int i = 0; i < count; i++) {
            release(table, live(table, 4096 + i * 64L, 64));
        }
        List<Slot> live = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            live.add(live(table, 4096 + i * 6400L, 6400));
        }
        assertThat(table.claim(4096 + 6400 * 10 + 64, 1)).isSameAs(live.get(10));
        int[] slots = new int[1];
        table.forEach(slot -> slots[0] += slot.phase() == Slot.LIVE ? 1 : 0);
        assertThat(slots[0]).isEqualTo(1000);
    }

    @Test
    @DisplayName("A08 a slot whose generations are used up is never used again")
    void generationsRunOut() {
        var table = new SlotTable(Token.MAX_GENERATION - 3);
        Set<Long> tokens = new HashSet<>();
        for (int life = 0; life < 10; life++) {
            var slot = live(table, 4096, 100);
            assertThat(slot.generation()).isLessThanOrEqualTo(Token.MAX_GENERATION);
            assertThat(tokens.add(token(slot))).isTrue();
            release(table, slot);
            var unplaced = table.claimUnplaced();
            unplaced.publish(Slot.LIVE);
            assertThat(unplaced.generation()).isLessThanOrEqualTo(Token.MAX_GENERATION);
            assertThat(tokens.add(token(unplaced))).isTrue();
            release(table, unplaced);
        }
        assertThat(table.reachedGeneration()).isEqualTo(Token.MAX_GENERATION);
        var slot = live(table, 4096, 100);
        assertThat(table.claim(4100, 1)).isSameAs(slot);
    }

    @Test
    @DisplayName("A08 slots that were re-keyed carry their generations on")
    void reKeyed() {
        var table = new SlotTable(5);
        Set<Long> tokens = new HashSet<>();
        for (int round = 0; round < 100; round++) {
            var small = List.of(live(table, 4096, 64), live(table, 4160, 64));
            small.forEach(slot -> assertThat(tokens.add(token(slot))).isTrue());
            small.forEach(slot -> release(table, slot));
            var large = live(table, 4096, 128);
            assertThat(tokens.add(token(large))).isTrue();
            assertThat(table.claim(4160, 64)).isSameAs(large);
            release(table, large);
        }
    }

    @Test
    @DisplayName("A05 of 8 threads that seize a slot one succeeds, while others pin and unpin it")
    void seizedByMany() throws Exception {
        var table = new SlotTable(0);
        int rounds = 300;
        var slots = new AtomicReferenceArray<Slot>(rounds);
        for (int i = 0; i < rounds; i++) {
            slots.set(i, live(table, 4096 + i * 64L, 64));
        }
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            tasks.add(() -> {
                int seized = 0;
                for (int i = 0; i < rounds; i++) {
                    var slot = slots.get(i);
                    for (int pin = 0; pin < 20 && slot.pin(1); pin++) {
                        slot.unpin();
                    }
                    if (slot.seize(1)) {
                        seized++;
                        table.free(slot);
                    }
                    assertThat(slot.pin(1)).isFalse();
                }
                return seized;
            });
        }
        int seized = 0;
        try (var threads = Executors.newFixedThreadPool(8)) {
            for (var result : threads.invokeAll(tasks)) {
                seized += result.get();
            }
        }
        assertThat(seized).isEqualTo(rounds);
        table.forEach(slot -> assertThat(slot.generation()).isEqualTo(1));
    }

    @Test
    void whatIsTouchedCanBeSetAside() {
        var slot = live(new SlotTable(0), 4096, 100);
        assertThat(slot.pin(1)).isTrue();
        assertThat(slot.quarantinePinned(2)).isFalse();
        assertThat(slot.quarantinePinned(1)).isTrue();
        assertThat(slot.seizeFrom(Slot.QUARANTINED)).as("still touched").isFalse();
        assertThat(slot.pin(1)).isFalse();
        slot.unpin();
        assertThat(slot.generation()).isEqualTo(1);
        assertThat(slot.seizeFrom(Slot.QUARANTINED)).isTrue();
        assertThat(slot.quarantinePinned(1)).isFalse();
    }
}
