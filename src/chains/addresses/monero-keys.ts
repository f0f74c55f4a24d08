import { ed25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeMonero } from './monero.ts';

/** The private keys of one Monero wallet, as scalars. */
export interface MoneroKeys {
  readonly spend: bigint;
  readonly view: bigint;
}

const { Point } = ed25519;
const subaddressPrefix = utf8ToBytes('SubAddr\0');

export function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

export function toLittleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));
}

/** Hashes bytes to a scalar of the curve. */
export function hashToScalar(bytes: Uint8Array): bigint {
  const scalar = fromLittleEndian(keccak_256(bytes)) % Point.Fn.ORDER;
  if (scalar === 0n) throw new Error('a hash is zero as a scalar, which cannot happen by chance');
  return scalar;
}

/**
 * The keys of a spend key. The view key follows from it.
 * https://docs.getmonero.org/cryptography/asymmetric/private-key/
 */
export function moneroKeysOfSpend(spend: bigint): MoneroKeys {
  return { spend, view: hashToScalar(toLittleEndian(spend)) };
}

/**
 * The wallet of 32 secret bytes. https://docs.getmonero.org/cryptography/asymmetric/private-key/
 */
export function moneroKeys(secret: Uint8Array): MoneroKeys {
  return moneroKeysOfSpend(hashToScalar(secret));
}

/**
 * A subaddress of the wallet. https://docs.getmonero.org/public-address/subaddress/
 *
 * @throws Error for account 0 and index 0, which is the primary address.
 */
export function moneroSubaddress({ spend, view }: MoneroKeys, account: number, index: number): string {
  if (account === 0 && index === 0) throw new Error('subaddress (0, 0) is the primary address');
  const place = new Uint8Array(8);
  new DataView(place.buffer).setUint32(0, account, true);
  new DataView(place.buffer).setUint32(4, index, true);
  const offset = hashToScalar(concatBytes(subaddressPrefix, toLittleEndian(view), place));
  const spendPoint = Point.BASE.multiply(spend).add(Point.BASE.multiply(offset));
  return encodeMonero(42, spendPoint.toBytes(), spendPoint.multiply(view).toBytes());
}

/** The primary address of the wallet. */
export function moneroAddress({ spend, view }: MoneroKeys): string {
  const { BASE } = Point;
  return encodeMonero(18, BASE.multiply(spend).toBytes(), BASE.multiply(view).toBytes());
}

/** A private key as wallets read it. */
export function moneroKeyText(key: bigint): string {
  return bytesToHex(toLittleEndian(key));
}
