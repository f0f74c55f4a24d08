import type { ChainTraits } from '../port/chain-adapter.ts';

/**
 * A payment dies when the chain's time passes its last second, and in no other way. Two attempts
 * have two query ids, so that the wallet's contract takes both.
 */
export const tonTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'shared',
  paysFromDeposits: true,
  mempool: false,
  reorgs: false,
  sweepFee: 'swept',
  death: { conflict: false, expiry: 'time' },
  exclusive: false,
  furtherAttempts: 3,
};
