package org.granule.ledger;

import org.granule.memory.BudgetExceededException;

/**
 * The last refusal of an account.
 *
 * @param nanos when, by {@link System#nanoTime()}
 * @param error what was thrown
 */
record Refusal(long nanos, BudgetExceededException error) {}
