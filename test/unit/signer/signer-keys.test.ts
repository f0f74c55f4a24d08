import { inspect } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { algorandCodec } from '../../../src/chains/addresses/algorand.ts';
import { cardanoCodec } from '../../../src/chains/addresses/cardano.ts';
import type { AddressCodec } from '../../../src/chains/addresses/codec.ts';
import { cosmosCodec } from '../../../src/chains/addresses/cosmos.ts';
import { encodeMonero, moneroCodec } from '../../../src/chains/addresses/monero.ts';
import {
  type MoneroKeys,
  moneroKeys,
  moneroKeysOfSpend,
  moneroSubaddress,
} from '../../../src/chains/addresses/monero-keys.ts';
import { polkadotCodec } from '../../../src/chains/addresses/polkadot.ts';
import { rippleCodec } from '../../../src/chains/addresses/ripple.ts';
import { encodeSolana, solanaCodec } from '../../../src/chains/addresses/solana.ts';
import { stellarCodec } from '../../../src/chains/addresses/stellar.ts';
import { tezosCodec } from '../../../src/chains/addresses/tezos.ts';
import { tonCodec } from '../../../src/chains/addresses/ton.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';
import { deriveSlip10, slip10Key } from '../../../src/signer/slip10.ts';
import { tonWalletAddress } from '../../../src/signer/ton-wallet.ts';

const about = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
/** 23 times "abandon" and "art", the phrase with most published addresses. */
const zeroKeys = new SignerKeys(new Uint8Array(32));
const otherKeys = new SignerKeys(new Uint8Array(32).fill(1));

/** Of account 0 and index 0, which no order is given. */
function primaryAddress({ spend, view }: MoneroKeys): string {
  const { BASE } = ed25519.Point;
  return encodeMonero(18, BASE.multiply(spend).toBytes(), BASE.multiply(view).toBytes());
}

function firstSegwitAddress(accountXpub: string): string {
  const { publicKey } = HDKey.fromExtendedKey(accountXpub).deriveChild(0).deriveChild(0);
  if (!publicKey) throw new Error('no public key');
  return bech32.encode('bc', [0, ...bech32.toWords(ripemd160(sha256(publicKey)))]);
}

describe('SLIP-0010 derivation', () => {
  const seed1 = hexToBytes('000102030405060708090a0b0c0d0e0f');
  const seed2 = hexToBytes(
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
  );

  // https://github.com/satoshilabs/slips/blob/master/slip-0010.md, test vectors 1 and 2 for ed25519.
  it.each([
    [
      seed1,
      'm',
      '90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb',
      '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
      'a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed',
    ],
    [
      seed1,
      "m/0'",
      '8b59aa11380b624e81507a27fedda59fea6d0b779a778918a2fd3590e16e9c69',
      '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3',
      '8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c',
    ],
    [
      seed1,
      "m/0'/1'/2'/2'/1000000000'",
      '68789923a0cac2cd5a29172a475fe9e0fb14cd6adb5ad98a3fa70333e7afa230',
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
      '3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a',
    ],
    [
      seed2,
      "m/0'/2147483647'/1'/2147483646'/2'",
      '5d70af781f3a37b829f0d060924d5e960bdc02e85423494afc0b1a41bbe196d4',
      '551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d',
      '47150c75db263559a70d5778bf36abbab30fb061ad69f69ece61a72b0cfa4fc0',
    ],
  ])('gives the published keys of vector %# at %s', (seed, path, chainCode, privateKey, publicKey) => {
    const node = deriveSlip10(seed, path);
    expect(bytesToHex(node.chainCode)).toBe(chainCode);
    expect(bytesToHex(node.privateKey)).toBe(privateKey);
    expect(bytesToHex(slip10Key(seed, path).publicKey)).toBe(publicKey);
  });

  it.each(["m/44'/0", '44', "m/2147483648'", "m/-1'", "m//0'", "m/0h'"])('refuses the path %s', (path) => {
    expect(() => deriveSlip10(seed1, path)).toThrow(path);
  });

  it("gives the published Solana addresses of a wallet's phrase", () => {
    const seed = mnemonicToSeedSync(about);
    expect(encodeSolana(slip10Key(seed, "m/44'/501'/0'/0'").publicKey)).toBe(
      'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
    );
    expect(encodeSolana(slip10Key(seed, "m/44'/501'/1'/0'").publicKey)).toBe(
      'Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb',
    );
  });
});

describe('a TON wallet', () => {
  it('has the published address of its public key', () => {
    const key = hexToBytes('5754865e86d0ade1199301bbb0319a25ed6b129c4b0a57f28f62449b3df9c522');
    const address = tonWalletAddress(key);
    // The published form is the bounceable one, EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk.
    expect(address).toBe('UQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zMlh');
    expect(address.slice(2, -4)).toBe('EQA0D_5WdusaCB-SpnoE6l5TzdBmgOkzTcXrdh0px6g3zJSk'.slice(2, -4));
  });
});

describe('a Monero wallet', () => {
  // Published with the bip_utils library, whose authors checked them with the official wallet.
  const wallets: [spend: string, view: string, primary: string, second: string, account1: string, last: string][] = [
    [
      '3fc22d2b139182b29cae08fb2838ef458de7a62c4c1a2a53767a8f6c04874107',
      '66e7495a49d2f1b9458204386bd6aadf6402c270d37d503a1cebde58a0d38a00',
      '4B23epeYLCj3aCTG8X83ZM1xunHBjWEB5jmzM1zfrAKcGokjBPvS7eAcadEQZEgDhDeweod9KEZ5L2mXYVthxdxy3CQiRDK',
      '89EpSrB4wKB3UrLk8Zf4dHhvcfo1TqVfR6PAE8WPtwK9YuJhiEaU49y8w9fBaCTPUSCmaYTQbD3LhgbkHriuQLgDMM1dpsk',
      '87zT4PHnBDUJodyx5gzbenceaByre9ijiHa9FkZnu2yJP2xLEv9ivMTcLtkzaFp6pffWwcZ2htGU94VGiXMsR67q9yenKYT',
      '88gNnRiJ4q9BrcsaxoTxFMPeVHPuZELNwTZgqSNwbRKv9gSbfzJDgyKB1sKsH81mGVN991LaAaN9f5v8orhk6Yf64F2XmT8',
    ],
    [
      'b6514a29ff612189af1bba250606bb5b1e7846fe8f31a91fc0beb393cddb6101',
      '8f3461d947f48cebd597dade700b6f345be43af8139b85fef7d577007462b509',
      '43XWXXDCyHwQ2oZtBc8LUm4pAs5koPg2kdBHgwQNJBKRNxbwRnYufB5CeQvnbkGiWE4thv1A7GptxGVDDPN4d8ehNpQv99J',
      '87QhdsHjCjMdWax6htvM7P2jFP9JAVC2eUpFiVdewQSpPbg1M4WPVCdHvvxH18WgyDTkfQVCNQ8j23oBhJYoBEQiF8onTRb',
      '82tUn7VxgpfYdsjn8PygwLf8PyvinAGoEZxVG98d1FEsVVqUsWkJBL92NMUJ28hkGDdsZNCdcPH7McwSDxKYQ2UX1sHnDqD',
      '87XnCr9zqmpbkkydpbafUtbRbRrCwTRfKD9hRs387BCF4aFqJ9d3wRiEzstySVgcMuio513aEpgxKMQtyvy1HaHSUbb18ad',
    ],
  ];

  it.each(wallets)('with the spend key %s has the published view key and addresses', (spend, view, ...addresses) => {
    const keys = moneroKeysOfSpend(littleEndian(spend));
    expect(keys.view).toBe(littleEndian(view));
    expect([
      primaryAddress(keys),
      moneroSubaddress(keys, 0, 1),
      moneroSubaddress(keys, 1, 0),
      moneroSubaddress(keys, 1, 1),
    ]).toEqual(addresses);
  });

  it('uses the hash of its secret as the spend key, as wallets with a short seed do', () => {
    // From the same source: the seed 373d5f961ec5e26982bd08d7b9d19633 and its keys.
    const keys: MoneroKeys = moneroKeys(hexToBytes('373d5f961ec5e26982bd08d7b9d19633'));
    expect(keys.spend).toBe(littleEndian('1e0ecb4b35a5485194beb301df4bea5ad0cb411c9d3adca9338b4286d6ecc903'));
    expect(keys.view).toBe(littleEndian('64221cae902089ae247e24509865cd3e45a1c70f1c030587a709a5414d5c0603'));
  });

  it('has no subaddress (0, 0)', () => {
    expect(() => moneroSubaddress({ spend: 1n, view: 2n }, 0, 0)).toThrow('primary');
  });
});

function littleEndian(hex: string): bigint {
  return BigInt(`0x${bytesToHex(hexToBytes(hex).toReversed())}`);
}

describe('the signer', () => {
  it('has the published first BIP84 address, XRP, Cosmos and Solana addresses of the phrase with "art"', () => {
    expect(firstSegwitAddress(zeroKeys.accountXpub('BTC'))).toBe('bc1qzmtrqsfuaf6l6kkcsseumq26ukaphfj9skkug6');
    expect(zeroKeys.sharedAddress('XRP')).toBe('rKxpJQ6hLWYbo7p1oo7WHjrcrRFv1TUQeC');
    expect(zeroKeys.sharedAddress('ATOM')).toBe('cosmos1r5v5srda7xfth3hn2s26txvrcrntldjumt8mhl');
    expect(zeroKeys.poolAddress('SOL', 1)).toBe('5frqxtii9LeGq2bz3dSNokvZcEooF483MzeU24JrhcTA');
    expect(zeroKeys.poolAddress('SOL', 2)).toBe('3SuKj3MZU9dMZ9oR1R7afttihZFkWpfUmduuv9rmfMa1');
  });

  it('gives keys of both curves by their whole paths, and refuses an Ed25519 path that is not hardened', () => {
    const xpub = HDKey.fromExtendedKey(zeroKeys.accountXpub('BTC')).derive('m/0/7');
    expect(zeroKeys.secp256k1("m/84'/0'/0'/0/7").publicKey).toEqual(xpub.publicKey);
    const { privateKey, publicKey } = zeroKeys.ed25519("m/44'/501'/1'/0'");
    expect(encodeSolana(publicKey)).toBe(zeroKeys.poolAddress('SOL', 1));
    expect(ed25519.getPublicKey(privateKey)).toEqual(publicKey);
    for (const path of ["m/44'/501'/1'/0", 'm/0', "m/44'/501h/0'", "44'/501'", '']) {
      expect(() => zeroKeys.ed25519(path)).toThrow('is not a path of hardened steps');
    }
    expect(() => zeroKeys.secp256k1('m/x')).toThrow();
  });

  it('has the Stellar address of the third test of SEP-5', () => {
    const phrase =
      'bench hurt jump file august wise shallow faculty impulse spring exact slush ' +
      'thunder author capable act festival slice deposit sauce coconut afford frown better';
    const keys = new SignerKeys(mnemonicToEntropy(phrase, wordlist));
    expect(keys.sharedAddress('XLM')).toBe('GC3MMSXBWHL6CPOAVERSJITX7BH76YU252WGLUOM5CJX3E7UCYZBTPJQ');
  });

  it.each<[string, AddressCodec]>([
    ['SOL', solanaCodec],
    ['ADA', cardanoCodec],
    ['XMR', moneroCodec],
    ['DOT', polkadotCodec],
    ['ALGO', algorandCodec],
    ['XTZ', tezosCodec],
  ])('makes pool addresses on %s that are all different and parse to their own kind', (network, codec) => {
    const addresses = [zeroKeys, otherKeys].flatMap((keys) =>
      Array.from({ length: 20 }, (_, at) => keys.poolAddress(network, at + 1)),
    );
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const address of addresses) expect(codec.decode(address)).toMatchObject({ ok: true, address, tag: null });
  });

  it.each<[string, AddressCodec, string]>([
    ['XRP', rippleCodec, 'classic'],
    ['XLM', stellarCodec, 'account'],
    ['TON', tonCodec, 'non-bounceable'],
    ['ATOM', cosmosCodec, 'account'],
  ])('makes a shared address on %s that parses to its own kind', (network, codec, kind) => {
    const address = zeroKeys.sharedAddress(network);
    expect(codec.decode(address)).toEqual({ ok: true, address, tag: null, kind });
    expect(otherKeys.sharedAddress(network)).not.toBe(address);
  });

  it('makes the public keys of every network, and only the ones that its deposits need', () => {
    for (const { id, deposit } of allNetworks()) {
      const made = [
        attemptOf(() => zeroKeys.accountXpub(id)),
        attemptOf(() => zeroKeys.sharedAddress(id)),
        attemptOf(() => zeroKeys.poolAddress(id, 1)),
      ].map((text) => text !== null);
      expect([id, made]).toEqual([id, [deposit === 'derived', deposit === 'shared', deposit === 'pool']]);
    }
  });

  it('gives account keys without a private key', () => {
    for (const { id } of allNetworks().filter(({ deposit }) => deposit === 'derived')) {
      const xpub = zeroKeys.accountXpub(id);
      expect(xpub).toMatch(/^xpub/);
      expect(HDKey.fromExtendedKey(xpub).privateKey).toBeNull();
    }
  });

  it('makes the same addresses from the same entropy, in a Buffer too', () => {
    const again = new SignerKeys(Buffer.alloc(32));
    expect(again.fingerprint()).toBe(zeroKeys.fingerprint());
    expect(again.poolAddress('XMR', 7)).toBe(zeroKeys.poolAddress('XMR', 7));
  });

  it('has a fingerprint of 16 hex digits that differs between keys', () => {
    expect(zeroKeys.fingerprint()).toMatch(/^[0-9a-f]{16}$/);
    expect(otherKeys.fingerprint()).toMatch(/^[0-9a-f]{16}$/);
    expect(zeroKeys.fingerprint()).not.toBe(otherKeys.fingerprint());
  });

  it('hides its keys when it is printed or serialised', () => {
    expect(JSON.stringify(zeroKeys)).toBe('{}');
    expect(inspect(zeroKeys, { depth: 9, showHidden: true })).toMatch(/^SignerKeys \{\}$/);
  });

  it.each([0, 16, 31, 33, 64])('refuses entropy of %i bytes', (length) => {
    expect(() => new SignerKeys(new Uint8Array(length))).toThrow('32 bytes');
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])('refuses the pool index %d', (index) => {
    for (const network of ['SOL', 'XMR']) expect(() => zeroKeys.poolAddress(network, index)).toThrow('pool index');
  });
});

function attemptOf(make: () => string): string | null {
  try {
    return make();
  } catch {
    return null;
  }
}
