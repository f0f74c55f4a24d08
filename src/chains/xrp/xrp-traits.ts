import type { ChainTraits } from '../port/chain-adapter.ts';

/**
 * Validated ledgers are final. Each attempt of a payment uses the same ticket, or the same sequence
 * number, so that the ledger takes at most one of them.
 */
export const xrpTraits: ChainTraits = {
  ledger: 'accounts',
  deposits: 'shared',
  paysFromDeposits: true,
  mempool: false,
  reorgs: false,
  sweepFee: 'swept',
  death: { conflict: true, expiry: 'height' },
  exclusive: true,
  furtherAttempts: 3,
};
