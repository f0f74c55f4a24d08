import type { ChainTraits } from '../port/chain-adapter.ts';

/** A payment dies when another transaction takes its nonce. */
export const evmTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'per_order',
  paysFromDeposits: false,
  mempool: true,
  reorgs: true,
  sweepFee: 'swept',
  death: { conflict: true, expiry: 'none' },
  exclusive: true,
  furtherAttempts: 3,
};
