package org.granule.registry;

/**
 * The parts of a token: the number of the binding, the slot in its table, and the slot's generation. A slot whose
 * generations are used up is never used again, and neither is a binding's number before the generations that it
 * reached, so no token is ever issued twice.
 */
final class Token {

    static final int GENERATION_BITS = 26;
    static final int SLOT_BITS = 22;
    static final int BINDING_BITS = 15;

    static final int MAX_SLOTS = 1 << SLOT_BITS;
    static final int MAX_BINDING = (1 << BINDING_BITS) - 1;
    static final int MAX_GENERATION = (1 << GENERATION_BITS) - 1;

    private Token() {}

    static long of(int binding, int slot, int generation) {
        return (long) binding << SLOT_BITS + GENERATION_BITS | (long) slot << GENERATION_BITS | generation;
    }

    static int binding(long token) {
        return (int) (token >>> SLOT_BITS + GENERATION_BITS);
    }

    static int slot(long token) {
        return (int) (token >>> GENERATION_BITS) & MAX_SLOTS - 1;
    }

    static int generation(long token) {
        return (int) token & MAX_GENERATION;
    }
}
