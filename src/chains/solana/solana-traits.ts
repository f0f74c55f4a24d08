import type { ChainTraits } from '../port/chain-adapter.ts';

/**
 * Only final blocks are read, and nothing shows what waits. Each attempt of a payment first makes
 * the same marker, which the chain makes once, so that it confirms at most one of them.
 */
export const solanaTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'per_order',
  paysFromDeposits: false,
  mempool: false,
  reorgs: false,
  sweepFee: 'wallet',
  death: { conflict: false, expiry: 'height' },
  exclusive: true,
  furtherAttempts: 3,
};
