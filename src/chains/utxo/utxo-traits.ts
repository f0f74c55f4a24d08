import type { ChainTraits } from '../port/chain-adapter.ts';

/** A payment dies when another transaction spends one of its inputs. */
export const utxoTraits: ChainTraits = {
  ledger: 'outputs',
  deposits: 'per_order',
  paysFromDeposits: false,
  mempool: true,
  reorgs: true,
  sweepFee: 'swept',
  death: { conflict: true, expiry: 'none' },
  exclusive: true,
  furtherAttempts: 3,
};
