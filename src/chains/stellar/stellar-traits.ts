import type { ChainTraits } from '../port/chain-adapter.ts';

/**
 * Closed ledgers are final. Each attempt of a payment uses the same sequence number of the same
 * account, so that the ledger takes at most one of them.
 */
export const stellarTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'shared',
  paysFromDeposits: true,
  mempool: false,
  reorgs: false,
  sweepFee: 'swept',
  death: { conflict: true, expiry: 'time' },
  exclusive: true,
  furtherAttempts: 3,
};
