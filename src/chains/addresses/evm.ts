import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { secretKeyReason } from './base58check.ts';
import { type AddressCodec, accepted, notOurs, refused } from './codec.ts';

/** The mixed-case form of 40 hexadecimal digits. https://eips.ethereum.org/EIPS/eip-55 */
export function toChecksumAddress(digits: string): string {
  const lower = digits.toLowerCase();
  const hash = bytesToHex(keccak_256(utf8ToBytes(lower)));
  const mixed = [...lower].map((digit, i) => ((hash[i] ?? '0') >= '8' ? digit.toUpperCase() : digit));
  return `0x${mixed.join('')}`;
}

/** The address of an uncompressed public key without its first byte. */
export function encodeEvm(publicKey: Uint8Array): string {
  return toChecksumAddress(bytesToHex(keccak_256(publicKey).subarray(-20)));
}

/** Where tokens go to be destroyed. */
const burning = new Set(['0'.repeat(40), `${'0'.repeat(36)}dead`, `dead${'0'.repeat(36)}`]);

/** All EVM chains. Digits in one case carry no checksum; in mixed case it must be right. */
export const evmCodec: AddressCodec = {
  looks: 'starts with 0x and has 42 characters',
  decode(text) {
    if (/^(0x)?[0-9a-fA-F]{64}$/.test(text)) return refused(secretKeyReason);
    const digits = /^0x([0-9a-fA-F]{40})$/.exec(text)?.[1];
    if (digits === undefined) return notOurs;
    const canonical = toChecksumAddress(digits);
    const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
    if (!oneCase && canonical !== text) return refused('has a typing error: its mixed-case checksum does not match');
    if (burning.has(digits.toLowerCase())) return refused('is a burn address: what is sent there is lost');
    return accepted(canonical, 'account');
  },
};
