import type { ChainTraits } from '../port/chain-adapter.ts';

/**
 * One wallet holds what comes to any of its subaddresses, and pays from it. A payment dies when
 * another transaction spends one of its outputs, which its key image shows.
 */
export const moneroTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'per_order',
  paysFromDeposits: true,
  mempool: true,
  reorgs: true,
  sweepFee: 'wallet',
  death: { conflict: true, expiry: 'none' },
  exclusive: true,
  furtherAttempts: 3,
};
