import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type AddressCodec, accepted, notOurs, refused, secretKey } from './codec.ts';

const smallA = 'a'.charCodeAt(0);

/** The mixed-case form of 40 hexadecimal digits. https://eips.ethereum.org/EIPS/eip-55 */
export function toChecksumAddress(digits: string): string {
  const text = Buffer.from(digits.toLowerCase(), 'latin1');
  const hash = keccak_256(text);
  for (let i = 0; i < text.length; i++) {
    const code = text[i] ?? 0;
    const byte = hash[i >> 1] ?? 0;
    const isUpper = (i % 2 === 0 ? byte >> 4 : byte & 15) >= 8;
    if (isUpper && code >= smallA) text[i] = code - 32;
  }
  return `0x${text.toString('latin1')}`;
}

/** The address of an uncompressed public key without its first byte. */
export function encodeEvm(publicKey: Uint8Array): string {
  return toChecksumAddress(bytesToHex(keccak_256(publicKey).subarray(-20)));
}

/**
 * All EVM chains. Digits in one case carry no checksum; in mixed case the checksum must be right.
 */
export const evmCodec: AddressCodec = {
  looks: 'starts with 0x and has 42 characters',
  decode(text) {
    if (/^(0x)?[0-9a-fA-F]{64}$/.test(text)) return secretKey;
    const digits = /^0x([0-9a-fA-F]{40})$/.exec(text)?.[1];
    if (digits === undefined) return notOurs;
    const canonical = toChecksumAddress(digits);
    if (!isOneCase(digits) && canonical !== text)
      return refused('has a typing error: its mixed-case checksum does not match');
    return accepted(canonical, 'account');
  },
  hasChecksum: (text) => !isOneCase(text.slice(2)),
};

function isOneCase(digits: string): boolean {
  return digits === digits.toLowerCase() || digits === digits.toUpperCase();
}
