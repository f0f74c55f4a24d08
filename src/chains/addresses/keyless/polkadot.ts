import { type KeylessAccounts, systemReason } from './keyless-accounts.ts';

export const polkadotKeyless: readonly KeylessAccounts[] = [
  {
    // The treasury: `modl`, `py/trsry` and zeros.
    reason: systemReason,
    source: 'https://github.com/paritytech/polkadot-sdk/blob/master/substrate/frame/support/src/lib.rs',
    accounts: ['13UVJyLnbVp9RBZYFwFGyDvVd1y27Tt8tkntv6Q7JVPhFsTB'],
  },
];
