import { type KeylessAccounts, systemReason } from './keyless-accounts.ts';

// The zero account needs no row: the codec refuses it.

export const tonKeyless: readonly KeylessAccounts[] = [
  {
    // The configuration and the elector.
    reason: systemReason,
    source: 'https://docs.ton.org/v3/documentation/smart-contracts/contracts-specs/governance',
    accounts: ['Uf9VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVeGi', 'Uf8zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMxYA'],
  },
];
