import { type KeylessAccounts, systemReason } from './keyless-accounts.ts';

export const algorandKeyless: readonly KeylessAccounts[] = [
  {
    // The pool of rewards, and the sink of fees.
    reason: systemReason,
    source: 'https://github.com/algorand/go-algorand/blob/master/installer/genesis/mainnet/genesis.json',
    accounts: [
      '737777777777777777777777777777777777777777777777777UFEJ2CI',
      'Y76M3MSY6DKBRHBL7C3NNDXGS5IIMQVQVUAB6MP4XEMMGVF2QWNPL226CA',
    ],
  },
];
