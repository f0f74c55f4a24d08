import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { HDKey } from '@scure/bip32';
import { encodeBase58check } from './addresses/base58check.ts';
import { encodeCashaddr } from './addresses/bitcoin-cash.ts';
import { encodeKeyHash } from './addresses/bitcoin-like.ts';
import { encodeEvm } from './addresses/evm.ts';
import { sha256 } from './addresses/hashes.ts';
import { encodeTron } from './addresses/tron.ts';
import { nestedForm, taprootForm } from './key-forms.ts';
import { type AddressFamily, networkById } from './networks.ts';

/** libsecp256k1 in WebAssembly. Only public keys pass through it. */
const loading = instantiateSecp256k1();

/** How a family writes a public key as an address, and the form of the key that it starts from. */
interface Encoder {
  readonly isCompressed: boolean;
  encode(publicKey: Uint8Array): string;
}

function ofKeyHash(encode: (keyHash: Uint8Array) => string): Encoder {
  return { isCompressed: true, encode: (key) => encode(ripemd160(sha256(key))) };
}

/** From the 64 bytes of a point, as EVM and TRON hash them. */
function ofPoint(encode: (point: Uint8Array) => string): Encoder {
  return { isCompressed: false, encode: (key) => encode(key.subarray(1)) };
}

/** The families with public derivation. */
const encoders: Partial<Record<AddressFamily, Encoder>> = {
  bitcoin: ofKeyHash((keyHash) => encodeKeyHash('bitcoin', keyHash)),
  litecoin: ofKeyHash((keyHash) => encodeKeyHash('litecoin', keyHash)),
  dogecoin: ofKeyHash((keyHash) => encodeKeyHash('dogecoin', keyHash)),
  'bitcoin-cash': ofKeyHash(encodeCashaddr),
  dash: ofKeyHash((keyHash) => encodeBase58check([0x4c], keyHash)),
  zcash: ofKeyHash((keyHash) => encodeBase58check([0x1c, 0xb8], keyHash)),
  evm: ofPoint(encodeEvm),
  tron: ofPoint(encodeTron),
};

/** The external chain (0) of an account, which every address of the account starts from. */
interface ExternalChain {
  readonly publicKey: Uint8Array;
  readonly chainCode: KeyObject;
}

const externalChains = new Map<string, ExternalChain>();

function externalChain(accountXpub: string): ExternalChain {
  const known = externalChains.get(accountXpub);
  if (known) return known;
  const account = HDKey.fromExtendedKey(accountXpub);
  if (account.privateKey) throw new Error('a deposit account must be a public key');
  const { publicKey, chainCode } = account.deriveChild(0);
  if (!publicKey || !chainCode) throw new Error('a deposit account must be an extended key');
  const chain = { publicKey, chainCode: createSecretKey(chainCode) };
  externalChains.set(accountXpub, chain);
  return chain;
}

/** Hardened indexes start here; a public key has no such children. */
const indexLimit = 0x80000000;

/**
 * The deposit address at an index of an account: the child 0/index of its public key, by BIP32 and BIP44.
 *
 * @throws Error for a network without public derivation, for a private key, which does not belong here, and for an
 *   index outside 0 to 2147483647 or, once in 2^127, without a child.
 */
export async function deriveDepositAddress(networkId: string, accountXpub: string, index: number): Promise<string> {
  const network = networkById(networkId);
  const encoder = network?.deposit === 'derived' ? encoders[network.family] : undefined;
  if (!encoder) throw new Error(`deposit addresses on ${networkId} are not derived`);
  return encoder.encode(await childKey(externalChain(accountXpub), index, encoder.isCompressed));
}

/** A deposit address with the forms of its key that no address of the key shows: nested witness and taproot. */
export interface DerivedAddress {
  readonly address: string;
  /** Null where the chain has no witness addresses. */
  readonly hiddenForms: { readonly nested: string; readonly taproot: string } | null;
}

/** Families whose addresses of one key are of several forms, some of which hide its hash. */
const witnessFamilies: ReadonlySet<AddressFamily> = new Set(['bitcoin', 'litecoin']);

/**
 * As `deriveDepositAddress`, with the forms by which the key is recognised among recipients.
 *
 * @throws Error as `deriveDepositAddress` does.
 */
export async function deriveDepositKey(networkId: string, accountXpub: string, index: number): Promise<DerivedAddress> {
  const family = networkById(networkId)?.family;
  const encoder = family && encoders[family];
  if (!encoder || !witnessFamilies.has(family)) {
    return { address: await deriveDepositAddress(networkId, accountXpub, index), hiddenForms: null };
  }
  const key = await childKey(externalChain(accountXpub), index, encoder.isCompressed);
  const hiddenForms = {
    nested: nestedForm(ripemd160(sha256(key))),
    taproot: taprootForm(await taprootOutput(key)),
  };
  return { address: encoder.encode(key), hiddenForms };
}

const tapTweak = sha256(Buffer.from('TapTweak'));

/** The output key of a compressed key without scripts: BIP341 and BIP86. */
async function taprootOutput(publicKey: Uint8Array): Promise<Uint8Array> {
  const secp256k1 = await loading;
  const even = Uint8Array.from([2, ...publicKey.subarray(1)]);
  const tweak = sha256(Buffer.concat([tapTweak, tapTweak, even.subarray(1)]));
  const output = secp256k1.addTweakPublicKeyCompressed(even, tweak);
  if (typeof output === 'string') throw new Error('this key has no taproot form');
  return output.subarray(1);
}

/** https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki#public-parent-key--public-child-key */
async function childKey(
  { publicKey, chainCode }: ExternalChain,
  index: number,
  isCompressed: boolean,
): Promise<Uint8Array> {
  if (!Number.isInteger(index) || index < 0 || index >= indexLimit) throw new Error(`no public key at ${index}`);
  const data = Buffer.allocUnsafe(37);
  data.set(publicKey);
  data.writeUInt32BE(index, 33);
  const tweak = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
  const secp256k1 = await loading;
  // A text instead of a key says that the tweak is not below the order of the curve, or that the sum is infinity.
  const child = isCompressed
    ? secp256k1.addTweakPublicKeyCompressed(publicKey, tweak)
    : secp256k1.addTweakPublicKeyUncompressed(publicKey, tweak);
  if (typeof child === 'string') throw new Error(`no public key at ${index}`);
  return child;
}

/** Odd, so that multiplying by it modulo 2^32 maps no two numbers to one. Knuth's golden ratio. */
const spread = 2_654_435_761n;

/**
 * The tag of the order at an index of a memo network: a number from 1 to 4294967295, different for each index up to
 * there, and far from its neighbours', so that a mistyped tag does not name the next order.
 */
export function depositTag(networkId: string, index: number): string {
  if (networkById(networkId)?.deposit !== 'shared') throw new Error(`${networkId} has no tags`);
  if (!Number.isInteger(index) || index < 1 || index > 0xffffffff)
    throw new Error(`${index} is out of range for a tag`);
  return ((BigInt(index) * spread) & 0xffffffffn).toString();
}
