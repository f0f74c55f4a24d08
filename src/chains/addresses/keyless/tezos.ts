import { burnReason, type KeylessAccounts } from './keyless-accounts.ts';

export const tezosKeyless: readonly KeylessAccounts[] = [
  {
    reason: burnReason,
    source: 'https://tzkt.io/tz1burnburnburnburnburnburnburjAYjjX',
    accounts: ['tz1burnburnburnburnburnburnburjAYjjX'],
  },
];
