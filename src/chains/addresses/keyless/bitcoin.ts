import { burnReason, type KeylessAccounts } from './keyless-accounts.ts';

// Hashes of zeros need no row: the codecs refuse them.

/** Their hashes have no key on Litecoin, Dogecoin, Bitcoin Cash, Dash and Zcash either. */
export const bitcoinKeyless: readonly KeylessAccounts[] = [
  {
    reason: burnReason,
    source: 'https://en.bitcoin.it/wiki/Proof_of_burn',
    accounts: ['1BitcoinEaterAddressDontSendf59kuE'],
  },
  {
    reason: burnReason,
    source:
      'https://github.com/CounterpartyXCP/counterparty-core/blob/master/counterparty-core/counterpartycore/lib/config.py',
    accounts: ['1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
  },
  {
    // The hash of nothing. No signature fits an empty key.
    reason: burnReason,
    source: 'https://github.com/bitcoin/bips/blob/master/bip-0066.mediawiki',
    accounts: ['1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E'],
  },
  {
    // The point H, which was chosen so that its private key is not known.
    reason: burnReason,
    source: 'https://github.com/bitcoin/bips/blob/master/bip-0341.mediawiki#constructing-and-spending-taproot-outputs',
    accounts: ['bc1p2zffkaxp5py4fdutfdsrt6t6tcrc5ks09rkfd428hlhf4n5q8tqqwv7ahk'],
  },
];

export const dogecoinKeyless: readonly KeylessAccounts[] = [
  {
    reason: burnReason,
    source: 'https://github.com/Dogeparty/dogepartyd/blob/master/lib/config.py',
    accounts: ['DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
  },
];
