import { sha256 } from '@noble/hashes/sha2.js';
import { addressExample, checkAddress, otherNetworksOf } from '../../../src/chains/addresses/address.ts';
import { encodeCashaddr } from '../../../src/chains/addresses/bitcoin-cash.ts';
import { encodeCosmos } from '../../../src/chains/addresses/cosmos.ts';
import { keylessAccounts, keylessReason } from '../../../src/chains/addresses/keyless.ts';
import { type AddressFamily, allNetworks } from '../../../src/chains/networks/networks.ts';

const hex = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;

/** Accounts from which no one can spend, or everybody. */
const keyless: readonly (readonly [network: string, address: string])[] = [
  ...['ETH', 'ERC20', 'BEP20', 'POLYGON', 'ARBITRUM', 'OPTIMISM', 'BASE', 'AVAXC', 'ETC'].flatMap((network) =>
    [0, 1, 0x11, 0x64, 0x100, 0x1000, 0x1010, 0xdead].map((number) => [network, hex(number)] as const),
  ),
  ['ETH', '0x00000000219ab540356cBB839Cbe05303d7705Fa'],
  ['ETH', '0x00000000219AB540356CBB839CBE05303D7705FA'],
  ['ETH', '0xfffffffffffffffffffffffffffffffffffffffe'],
  ['ETH', '0xdEAD000000000000000042069420694206942069'],
  ['ETH', '0xdeaDDeADDEaDdeaDdEAddEADDEAdDeadDEADDEaD'],
  ['ETH', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'],
  ['BASE', '0x4200000000000000000000000000000000000006'],
  ['OPTIMISM', '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001'],
  ['AVAXC', '0x0100000000000000000000000000000000000000'],
  ['TRX', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
  ['TRX', 'T9yD14Nj9j7xAB4dbGeiX9h8upfCg3PBbY'],
  ['TRC20', 'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
  ['SOL', '11111111111111111111111111111111'],
  ['SOL', 'SysvarC1ock11111111111111111111111111111111'],
  ['SOL', 'SysvarRent111111111111111111111111111111111'],
  ['SOL', 'Sysvar1nstructions1111111111111111111111111'],
  ['SOL', 'Config1111111111111111111111111111111111111'],
  ['SOL', 'ComputeBudget111111111111111111111111111111'],
  ['SOL', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
  ['SOL', '1nc1nerator11111111111111111111111111111111'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrBZbvji'],
  ['XRP', 'rrrrrrrrrrrrrrrrrNAMEtxvNvQ'],
  ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
  ['XLM', 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF'],
  ['TON', 'EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c'],
  ['TON', `-1:${'5'.repeat(64)}`],
  ['BTC', '1111111111111111111114oLvT2'],
  ['BTC', '1BitcoinEaterAddressDontSendf59kuE'],
  ['BTC', '1CounterpartyXXXXXXXXXXXXXXXUWLpVr'],
  ['BTC', '1HT7xU2Ngenf7D4yocz2SAcnNLW7rK8d4E'],
  // The same hash on a chain concurrent.
  ['BCH', encodeCashaddr(Buffer.from('759d6677091e973b9e9d99f19c68fbf43e3f05f9', 'hex'))],
  ['DOGE', 'DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr'],
  ['ATOM', encodeCosmos(sha256(Buffer.from('fee_collector')).subarray(0, 20))],
  ['ATOM', encodeCosmos(sha256(Buffer.from('gov')).subarray(0, 20))],
  ['DOT', '13UVJyLnbVp9RBZYFwFGyDvVd1y27Tt8tkntv6Q7JVPhFsTB'],
  ['ALGO', '737777777777777777777777777777777777777777777777777UFEJ2CI'],
  ['XTZ', 'tz1burnburnburnburnburnburnburjAYjjX'],
];

describe('an account without a key', () => {
  it.each(keyless)('is refused on %s: %s', (network, address) => {
    expect(checkAddress(network, address, null)).toMatchObject({
      ok: false,
      field: 'address',
      code: 'invalid_address',
    });
  });

  it('is an address of no other network', () => {
    for (const [, address] of keyless) {
      expect([address, otherNetworksOf('XMR', address)]).toEqual([address, []]);
    }
  });

  it('has a source and its one form in the list of its family, and is refused', () => {
    for (const [family, rows] of Object.entries(keylessAccounts)) {
      const network = allNetworks().find((one) => one.family === family)?.id ?? '';
      for (const { source, reason, accounts = [], pattern } of rows) {
        expect(source).toMatch(/^https:\/\/\S+$/);
        expect([family, accounts.length > 0 || pattern !== undefined]).toEqual([family, true]);
        for (const account of accounts) {
          expect([account, keylessReason(family as AddressFamily, account)]).toEqual([account, reason]);
          expect([account, checkAddress(network, account, null)]).toMatchObject([account, { code: 'invalid_address' }]);
        }
      }
    }
  });

  it('is none of our examples', () => {
    for (const { id, family } of allNetworks()) expect(keylessReason(family, addressExample(id))).toBeNull();
  });
});
