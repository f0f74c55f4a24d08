import { keccak_256 } from '@noble/hashes/sha3.js';
import { decodeBase58check, encodeBase58check } from './base58check.ts';
import { type AddressCodec, accepted, notOurs, refused } from './codec.ts';

const mainnet = 0x41;

/** The address of an uncompressed public key without its first byte. https://developers.tron.network/docs/account */
export function encodeTron(publicKey: Uint8Array): string {
  return encodeBase58check([mainnet], keccak_256(publicKey).subarray(-20));
}

/**
 * The 21 bytes of an address as Tron's nodes write them: 42 hexadecimal digits in lower case, which
 * begin with 41. Null for any other text.
 */
export function tronDigits(address: string): string | null {
  const bytes = decodeBase58check(address);
  return bytes?.length === 21 && bytes[0] === mainnet ? Buffer.from(bytes).toString('hex') : null;
}

/** The address of 42 hexadecimal digits that begin with 41. */
export function tronAddress(digits: string): string {
  return encodeBase58check([], Buffer.from(digits, 'hex'));
}

export const tronCodec: AddressCodec = {
  looks: 'starts with T and has 34 characters',
  decode(text) {
    const bytes = decodeBase58check(text);
    if (!bytes)
      return /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)
        ? refused('has a typing error: its checksum does not match')
        : notOurs;
    if (bytes.length !== 21 || bytes[0] !== mainnet) return notOurs;
    return accepted(text, 'account');
  },
};
