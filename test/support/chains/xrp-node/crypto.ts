import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { base58xrp } from '@scure/base';

/** A key with its classic address. */
export interface XrpKey {
  readonly secret: Uint8Array;
  /** Upper case, 66 digits. */
  readonly publicKey: string;
  readonly address: string;
}

/** A hash as the ledger's servers write it: 64 digits, upper case. */
export type Hash = string;

export const noHash: Hash = '0'.repeat(64);

/** The first half of SHA-512. https://xrpl.org/docs/references/protocol/data-types/basic-data-types#hashes */
export function sha512Half(...parts: readonly Uint8Array[]): Hash {
  return hexOf(sha512(Buffer.concat(parts)).subarray(0, 32));
}

export function hexOf(bytes: Uint8Array): string {
  return bytesToHex(bytes).toUpperCase();
}

/** The key that follows from a text. */
export function keyOf(text: string): XrpKey {
  return fromSecret(sha256(Buffer.from(text)));
}

export function fromSecret(secret: Uint8Array): XrpKey {
  const publicKey = hexOf(secp256k1.getPublicKey(secret, true));
  return { secret, publicKey, address: addressOf(publicKey) };
}

/** The classic address of a public key. https://xrpl.org/docs/concepts/accounts/addresses */
export function addressOf(publicKey: string): string {
  return toAddress(ripemd160(sha256(hexToBytes(publicKey))));
}

/** The classic address of 20 bytes. */
export function toAddress(account: Uint8Array): string {
  const payload = Buffer.concat([Uint8Array.of(0), account]);
  return base58xrp.encode(Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]));
}

/** The 20 bytes of a classic address. @throws Error when it is none. */
export function accountOf(address: string): Uint8Array {
  const bytes = base58xrp.decode(address);
  const payload = bytes.subarray(0, -4);
  const sum = sha256(sha256(payload)).subarray(0, 4);
  if (bytes.length !== 25 || payload[0] !== 0 || !sum.every((byte, i) => byte === bytes[21 + i])) {
    throw new Error(`${address} is no classic address`);
  }
  return payload.subarray(1);
}

export function isAddress(value: unknown): value is string {
  try {
    return typeof value === 'string' && accountOf(value).length === 20;
  } catch {
    return false;
  }
}

/** A signature in DER, with a low S. https://xrpl.org/docs/concepts/transactions/secure-signing */
export function sign(message: Uint8Array, { secret }: XrpKey): string {
  const hash = hexToBytes(sha512Half(message));
  const bytes = secp256k1.sign(hash, secret, { prehash: false, lowS: true });
  return hexOf(secp256k1.Signature.fromBytes(bytes, 'compact').toBytes('der'));
}

/** Whether a signature of either kind of key is valid, and has a low S where it has an S. */
export function isSigned(message: Uint8Array, signature: string, publicKey: string): boolean {
  try {
    const [bytes, key] = [hexToBytes(signature), hexToBytes(publicKey)];
    if (/^ED/i.test(publicKey)) return ed25519.verify(bytes, message, key.subarray(1));
    const parsed = secp256k1.Signature.fromBytes(bytes, 'der');
    if (hexOf(parsed.toBytes('der')) !== signature.toUpperCase()) return false;
    const hash = hexToBytes(sha512Half(message));
    return secp256k1.verify(parsed.toBytes('compact'), hash, key, { prehash: false, lowS: true });
  } catch {
    return false;
  }
}

/** The place of an account in the ledger. https://xrpl.org/docs/references/protocol/ledger-data/common-fields */
export function accountIndex(address: string): Hash {
  return sha512Half(Uint8Array.of(0, 0x61), accountOf(address));
}

/** The place of a ticket in the ledger. */
export function ticketIndex(address: string, ticket: number): Hash {
  return sha512Half(Uint8Array.of(0, 0x54), accountOf(address), uint32(ticket));
}

/** The place of the list of what an account owns. */
export function directoryIndex(address: string): Hash {
  return sha512Half(Uint8Array.of(0, 0x4f), accountOf(address));
}

export function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
