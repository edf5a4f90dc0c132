package org.granule.ledger;

import org.granule.memory.BudgetExceededException;

/**
 * The last refusal of an account, noted there and at every node above.
 *
 * @param account who was refused
 * @param nanos when, by {@link System#nanoTime()}
 * @param error what was thrown
 */
record Refusal(LedgerAccount account, long nanos, BudgetExceededException error) {}
