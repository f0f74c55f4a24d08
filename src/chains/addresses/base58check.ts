import { base58, createBase58check } from '@scure/base';
import { attempt } from './codec.ts';
import { sha256 } from './hashes.ts';

const base58check = createBase58check(sha256);

/** Checked first, because an exception of the decoder costs far more. */
const alphabet = /^[1-9A-HJ-NP-Za-km-z]+$/;

/**
 * The bytes of Base58Check text: version, then payload; null when the form or the checksum is
 * wrong.
 */
export function decodeBase58check(text: string): Uint8Array | null {
  const bytes = alphabet.test(text) ? attempt(() => base58.decode(text)) : null;
  if (!bytes || bytes.length < 4) return null;
  const payload = bytes.subarray(0, -4);
  const sum = sha256(sha256(payload)).subarray(0, 4);
  return Buffer.compare(sum, bytes.subarray(-4)) === 0 ? payload : null;
}

/** https://en.bitcoin.it/wiki/Base58Check_encoding */
export function encodeBase58check(version: readonly number[], payload: Uint8Array): string {
  return base58check.encode(joined(version, payload));
}

/** Bytes one after the other. */
export function joined(first: ArrayLike<number>, second: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/**
 * Whether the bytes are a private key of any chain. In Wallet Import Format that is a version of
 * 0x80 and above, 32 bytes, and perhaps a flag. Extended private keys of BIP32 count too.
 */
export function isPrivateKey(bytes: Uint8Array): boolean {
  const version = bytes[0] ?? 0;
  const imported = version >= 0x80 && (bytes.length === 33 || (bytes.length === 34 && bytes[33] === 1));
  return imported || (bytes.length === 78 && bytes[45] === 0);
}
