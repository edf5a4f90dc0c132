/** The ledger: a tree of accounts with exact limits, charged without a lock in the common case. */
package org.granule.ledger;
