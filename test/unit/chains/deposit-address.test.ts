import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bech32, createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { checkAddress } from '../../../src/chains/addresses/address.ts';
import { encodeCashaddr } from '../../../src/chains/addresses/bitcoin-cash.ts';
import { deriveDepositAddress } from '../../../src/chains/addresses/deposit-address.ts';
import { type AddressFamily, allNetworks, networkById } from '../../../src/chains/networks/networks.ts';

const phrase = `${'abandon '.repeat(11)}about`;
const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
const account = (networkId: string) => root.derive(networkById(networkId)?.accountPath ?? '');

/**
 * The address of a compressed public key, by each chain's own rules and the libraries of the field.
 */
function addressOf(networkId: string, key: Uint8Array): string {
  const keyHash = ripemd160(sha256(key));
  const point = secp256k1.Point.fromBytes(key).toBytes(false).subarray(1);
  const base58 = (...version: number[]) => createBase58check(sha256).encode(Uint8Array.from([...version, ...keyHash]));
  const witness = (hrp: string) => bech32.encode(hrp, [0, ...bech32.toWords(keyHash)]);
  const ofFamily: Partial<Record<AddressFamily, () => string>> = {
    bitcoin: () => witness('bc'),
    litecoin: () => witness('ltc'),
    dogecoin: () => base58(0x1e),
    'bitcoin-cash': () => encodeCashaddr(keyHash),
    dash: () => base58(0x4c),
    zcash: () => base58(0x1c, 0xb8),
    evm: () => getAddress(`0x${Buffer.from(keccak_256(point).subarray(-20)).toString('hex')}`),
    tron: () => createBase58check(sha256).encode(Uint8Array.from([0x41, ...keccak_256(point).subarray(-20)])),
  };
  return ofFamily[networkById(networkId)?.family ?? 'solana']?.() ?? '';
}

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
  ])('gives the known address on %s at %d', async (id, index, address) => {
    expect(await deriveDepositAddress(id, account(id).publicExtendedKey, index)).toBe(address);
  });

  it.each(
    derived.map(({ id }) => id),
  )('gives addresses on %s that the network accepts, one for each index', async (id) => {
    const xpub = account(id).publicExtendedKey;
    const addresses = await Promise.all(Array.from({ length: 20 }, (_, i) => deriveDepositAddress(id, xpub, i + 1)));
    expect(new Set(addresses).size).toBe(20);
    for (const address of addresses) expect(checkAddress(id, address, null)).toMatchObject({ ok: true, address });
  });

  it('gives the address of the child that BIP32 gives, on every network', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.oneof(fc.constantFrom(0, 1, 2 ** 31 - 1), fc.nat({ max: 2 ** 31 - 1 })),
        async (seed, index) => {
          const xpub = HDKey.fromMasterSeed(seed).deriveChild(2 ** 31).publicExtendedKey;
          const { publicKey } = HDKey.fromExtendedKey(xpub).deriveChild(0).deriveChild(index);
          for (const { id } of derived)
            expect(await deriveDepositAddress(id, xpub, index)).toBe(addressOf(id, publicKey ?? new Uint8Array()));
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each([-1, 1.5, 2 ** 31, 2 ** 32, Number.NaN])('refuses the index %d', async (index) => {
    const { publicExtendedKey } = account('BTC');
    await expect(deriveDepositAddress('BTC', publicExtendedKey, index)).rejects.toThrow('no public key at');
  });

  it('refuses a tweak that is no scalar of the curve, or that ends at infinity', async () => {
    const { addTweakPublicKeyCompressed: add } = await instantiateSecp256k1();
    const { Point } = secp256k1;
    const order = Point.Fn.ORDER;
    const key = Point.BASE.multiply(5n).toBytes();
    expect(add(key, Point.Fn.toBytes(0n))).toEqual(key);
    expect(add(key, Point.Fn.toBytes(order - 4n))).toEqual(Point.BASE.toBytes());
    expect(typeof add(key, Point.Fn.toBytes(order - 5n))).toBe('string');
    for (const tweak of [order, order + 1n, 2n ** 256n - 1n])
      expect(typeof add(key, Buffer.from(tweak.toString(16), 'hex'))).toBe('string');
  });

  it('refuses a private key, and a network that derives nothing', async () => {
    const { privateExtendedKey, publicExtendedKey } = account('BTC');
    await expect(deriveDepositAddress('BTC', privateExtendedKey, 0)).rejects.toThrow('must be a public key');
    await expect(deriveDepositAddress('XRP', publicExtendedKey, 0)).rejects.toThrow('not derived');
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
