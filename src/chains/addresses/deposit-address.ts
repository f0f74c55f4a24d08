import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { HDKey } from '@scure/bip32';
import { type AddressFamily, networkById } from '../networks/networks.ts';
import { encodeBase58check } from './base58check.ts';
import { encodeCashaddr } from './bitcoin-cash.ts';
import { encodeKeyHash } from './bitcoin-like.ts';
import { encodeEvm } from './evm.ts';
import { sha256 } from './hashes.ts';
import { nestedForm, taprootForm } from './key-forms.ts';
import { pointAddition } from './point-addition.ts';
import { encodeTron } from './tron.ts';

/** Writes a public key as an address of a family, from one form of the key. */
interface Encoder {
  readonly isCompressed: boolean;
  encode(publicKey: Uint8Array): string;
}

function ofKeyHash(encode: (keyHash: Uint8Array) => string): Encoder {
  return { isCompressed: true, encode: (key) => encode(ripemd160(sha256(key))) };
}

/** An encoder that starts from the 64 bytes of a point, as EVM and TRON hash them. */
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

/** The external chain (0) of an account. All addresses of the account are derived from it. */
interface ExternalChain {
  readonly publicKey: Uint8Array;
  /** The same key uncompressed: reading it takes no square root. */
  readonly point: Uint8Array;
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
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  const chain = { publicKey, point, chainCode: createSecretKey(chainCode) };
  externalChains.set(accountXpub, chain);
  return chain;
}

/** Hardened indexes start here; a public key has no hardened children. */
const indexLimit = 0x80000000;

/**
 * Derives the deposit address at an index of an account: the child 0/index of its public key, by
 * BIP32 and BIP44.
 *
 * @throws Error for a network without public derivation, for a private key, and for an index
 *   outside 0 to 2147483647. Also, once in 2^127, for an index without a child.
 */
export async function deriveDepositAddress(networkId: string, accountXpub: string, index: number): Promise<string> {
  const network = networkById(networkId);
  const encoder = network?.deposit === 'derived' ? encoders[network.family] : undefined;
  if (!encoder) throw new Error(`deposit addresses on ${networkId} are not derived`);
  return encoder.encode(await childKey(externalChain(accountXpub), index, encoder.isCompressed));
}

/**
 * A deposit address, with the forms of its key that the address does not show: nested witness and
 * taproot.
 */
export interface DerivedAddress {
  readonly address: string;
  /** Null on a chain without witness addresses. */
  readonly hiddenForms: { readonly nested: string; readonly taproot: string } | null;
}

/** Families whose keys have addresses of several forms, some of which hide the key's hash. */
const witnessFamilies: ReadonlySet<AddressFamily> = new Set(['bitcoin', 'litecoin']);

/**
 * Derives as `deriveDepositAddress` does, and adds the forms by which the key is recognised among
 * recipients.
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
  const points = await pointAddition;
  const even = Uint8Array.from([2, ...publicKey.subarray(1)]);
  const tweak = sha256(Buffer.concat([tapTweak, tapTweak, even.subarray(1)]));
  const output = points.add(even, tweak, true);
  if (!output) throw new Error('this key has no taproot form');
  return output.subarray(1);
}

/** https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki#public-parent-key--public-child-key */
async function childKey(
  { publicKey, point, chainCode }: ExternalChain,
  index: number,
  isCompressed: boolean,
): Promise<Uint8Array> {
  if (!Number.isInteger(index) || index < 0 || index >= indexLimit) throw new Error(`no public key at ${index}`);
  const data = Buffer.allocUnsafe(37);
  data.set(publicKey);
  data.writeUInt32BE(index, 33);
  const tweak = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
  const child = (await pointAddition).add(point, tweak, isCompressed);
  if (!child) throw new Error(`no public key at ${index}`);
  return child;
}
