import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import fc from 'fast-check';
import { checkAddress } from '../../../src/chains/address.ts';
import { depositTag, deriveDepositAddress } from '../../../src/chains/deposit-address.ts';
import { allNetworks, networkById } from '../../../src/chains/networks.ts';

const phrase = `${'abandon '.repeat(11)}about`;
const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
const account = (networkId: string) => root.derive(networkById(networkId)?.accountPath ?? '');
const derived = allNetworks().filter((network) => network.deposit === 'derived');

describe('deriveDepositAddress', () => {
  // Known addresses of the well-known test phrase, as wallets show them.
  it.each([
    ['BTC', 0, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
    ['BTC', 1, 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
    ['LTC', 0, 'ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'],
    ['DOGE', 0, 'DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC'],
    ['BCH', 0, 'bitcoincash:qqyx49mu0kkn9ftfj6hje6g2wfer34yfnq5tahq3q6'],
    ['DASH', 0, 'XoJA8qE3N2Y3jMLEtZ3vcN42qseZ8LvFf5'],
    ['ZEC', 0, 't1XVXWCvpMgBvUaed4XDqWtgQgJSu1Ghz7F'],
    ['ETH', 0, '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'],
    ['TRC20', 0, 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'],
  ])('gives the known address on %s at %d', (id, index, address) => {
    expect(deriveDepositAddress(id, account(id).publicExtendedKey, index)).toBe(address);
  });

  it.each(derived.map(({ id }) => id))('gives addresses on %s that the network accepts, one for each index', (id) => {
    const xpub = account(id).publicExtendedKey;
    const addresses = Array.from({ length: 20 }, (_, i) => deriveDepositAddress(id, xpub, i + 1));
    expect(new Set(addresses).size).toBe(20);
    for (const address of addresses) expect(checkAddress(id, address, null)).toMatchObject({ ok: true, address });
  });

  it('refuses a private key, and a network that derives nothing', () => {
    expect(() => deriveDepositAddress('BTC', account('BTC').privateExtendedKey, 0)).toThrow('must be a public key');
    expect(() => deriveDepositAddress('XRP', account('BTC').publicExtendedKey, 0)).toThrow('not derived');
  });
});

describe('depositTag', () => {
  it('is a destination tag of its own for each index, far from its neighbour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0xfffffffe }), fc.integer({ min: 1, max: 0xffffffff }), (index, other) => {
        const tag = BigInt(depositTag('XRP', index));
        expect(tag >= 1n && tag <= 0xffffffffn).toBe(true);
        expect(depositTag('XRP', index) === depositTag('XRP', other)).toBe(index === other);
        const gap = BigInt(depositTag('XRP', index + 1)) - tag;
        expect(gap > 1_000_000n || gap < -1_000_000n).toBe(true);
      }),
    );
  });

  it('knows its range', () => {
    for (const index of [0, -1, 1.5, 2 ** 32]) expect(() => depositTag('XRP', index)).toThrow();
  });
});

describe('the table of networks', () => {
  it('gives networks with one keychain one family and one account', () => {
    const accounts = new Map<string, string>();
    for (const { keychain, family, accountPath, deposit } of allNetworks()) {
      const rule = `${family} ${accountPath} ${deposit}`;
      expect(accounts.get(keychain) ?? rule).toBe(rule);
      accounts.set(keychain, rule);
    }
    expect(new Set([...accounts.values()].map((rule) => rule.split(' ')[1])).size).toBe(accounts.size);
  });
});
