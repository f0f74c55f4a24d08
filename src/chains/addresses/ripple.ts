import { ripemd160 } from '@noble/hashes/legacy.js';
import { base58xrp } from '@scure/base';
import { joined } from './base58check.ts';
import {
  type AddressCodec,
  accepted,
  attempt,
  type Decoded,
  notOurs,
  ofTestNetwork,
  refused,
  secretKey,
} from './codec.ts';
import { sha256 } from './hashes.ts';

/** The bytes before a checksum of double SHA-256; null when the form or the checksum is wrong. */
function decodeChecked(text: string): Uint8Array | null {
  const bytes = attempt(() => base58xrp.decode(text));
  if (!bytes || bytes.length < 5) return null;
  const payload = bytes.subarray(0, -4);
  const checksum = sha256(sha256(payload)).subarray(0, 4);
  return checksum.every((byte, i) => byte === bytes[payload.length + i]) ? payload : null;
}

function encodeChecked(payload: Uint8Array): string {
  return base58xrp.encode(joined(payload, sha256(sha256(payload)).subarray(0, 4)));
}

/** The classic address of a key's hash. https://xrpl.org/docs/concepts/accounts/addresses */
export function encodeRippleClassic(keyHash: Uint8Array): string {
  return encodeChecked(joined([0], keyHash));
}

/** The classic address of a compressed key. */
export function rippleAddress(publicKey: Uint8Array): string {
  return encodeRippleClassic(ripemd160(sha256(publicKey)));
}

/** The key's hash in a valid classic address. */
export function rippleAccount(address: string): Uint8Array {
  return base58xrp.decode(address).subarray(1, 21);
}

/** https://xrpl.org/docs/references/protocol/data-types/base58-encodings */
function decodeClassic(text: string, payload: Uint8Array): Decoded {
  if (payload.length !== 21 || payload[0] !== 0) return notOurs;
  return accepted(text, 'classic');
}

/**
 * X-addresses hold a classic address and a tag in one text.
 * https://github.com/XRPLF/XRPL-Standards/tree/master/XLS-0005-tagged-addresses
 */
function decodeTagged(payload: Uint8Array): Decoded {
  if (payload.length !== 31) return notOurs;
  if (payload[0] === 0x04 && payload[1] === 0x93) return ofTestNetwork;
  if (payload[0] !== 0x05 || payload[1] !== 0x44) return notOurs;
  const flag = payload[22] ?? -1;
  const tag = new DataView(payload.buffer, payload.byteOffset).getUint32(23, true);
  if (flag > 1 || payload.subarray(27).some((byte) => byte !== 0)) return refused('carries a tag that is too large');
  if (flag === 0 && tag !== 0) return notOurs;
  return accepted(encodeRippleClassic(payload.subarray(2, 22)), 'x-address', flag === 1 ? String(tag) : null);
}

export const rippleCodec: AddressCodec = {
  looks: 'starts with r and has 25 to 35 characters, or is an X-address',
  decode(text) {
    const payload = decodeChecked(text);
    if (!payload) return notOurs;
    if (payload.length === 17 && payload[0] === 33) return secretKey;
    if (payload.length === 19 && text.startsWith('sEd')) return secretKey;
    return text.startsWith('r') ? decodeClassic(text, payload) : decodeTagged(payload);
  },
};
