import type { ChainTraits } from '../port/chain-adapter.ts';

/** A payment dies when the chain's time passes the expiration in its bytes, and in no other way. */
export const tronTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'per_order',
  paysFromDeposits: false,
  mempool: false,
  reorgs: true,
  sweepFee: 'swept',
  death: { conflict: false, expiry: 'time' },
  exclusive: false,
  furtherAttempts: 3,
};
