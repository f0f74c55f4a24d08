import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';

const base58check = createBase58check(sha256);

/** A key of an account, with its address as 42 hexadecimal digits. */
export interface TronKey {
  readonly secret: Uint8Array;
  readonly address: string;
}

/** The key that follows from a text. */
export function keyOf(text: string): TronKey {
  const secret = sha256(Buffer.from(text));
  return { secret, address: addressOf(secp256k1.getPublicKey(secret, false)) };
}

/** 65 bytes: r, s, and 0 or 1. */
export function sign(bytes: Uint8Array, { secret }: TronKey): Uint8Array {
  const signature = secp256k1.Signature.fromBytes(
    secp256k1.sign(sha256(bytes), secret, { prehash: false, lowS: true, format: 'recovered' }),
    'recovered',
  );
  return Uint8Array.from([...signature.toBytes('compact'), signature.recovery ?? 0]);
}

/**
 * The address whose key signed the bytes, as 42 hexadecimal digits.
 * @throws Error when it is no signature.
 */
export function signerOf(bytes: Uint8Array, signature: Uint8Array): string {
  if (signature.length < 65) throw new Error(`Signature size is ${signature.length}`);
  const last = signature[64] ?? 0;
  const point = secp256k1.Signature.fromBytes(signature.subarray(0, 64), 'compact')
    .addRecoveryBit(last >= 27 ? last - 27 : last)
    .recoverPublicKey(sha256(bytes));
  return addressOf(point.toBytes(false));
}

function addressOf(publicKey: Uint8Array): string {
  return `41${bytesToHex(keccak_256(publicKey.subarray(1)).subarray(-20))}`;
}

/** From 42 hexadecimal digits. */
export function toBase58(address: string): string {
  return base58check.encode(hexToBytes(address));
}

/** From Base58Check, from 40 digits with 0x, or from 42 digits. */
export function toHexAddress(address: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(address)) return `41${address.slice(2).toLowerCase()}`;
  if (/^41[0-9a-f]{40}$/i.test(address)) return address.toLowerCase();
  const hex = bytesToHex(base58check.decode(address));
  if (!/^41[0-9a-f]{40}$/.test(hex)) throw new Error(`${address} is no address of Tron`);
  return hex;
}
