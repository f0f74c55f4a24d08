import { burnReason, type KeylessAccounts } from './keyless-accounts.ts';

export const rippleKeyless: readonly KeylessAccounts[] = [
  {
    // ACCOUNT_ZERO, ACCOUNT_ONE, NaN, and the reservation of names begin with zeros.
    reason: burnReason,
    source: 'https://xrpl.org/docs/concepts/accounts/addresses#special-addresses',
    pattern: /^0x0{20}/,
  },
  {
    reason: 'is the account of the first ledger, whose secret is public',
    source: 'https://xrpl.org/docs/concepts/accounts/addresses#special-addresses',
    accounts: ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
  },
];
