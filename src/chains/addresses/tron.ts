import { keccak_256 } from '@noble/hashes/sha3.js';
import { decodeBase58check, encodeBase58check } from './base58check.ts';
import { type AddressCodec, accepted, notOurs, refused } from './codec.ts';

const mainnet = 0x41;

/** The address of an uncompressed public key without its first byte. https://developers.tron.network/docs/account */
export function encodeTron(publicKey: Uint8Array): string {
  return encodeBase58check([mainnet], keccak_256(publicKey).subarray(-20));
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
