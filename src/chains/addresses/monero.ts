import { ed25519 } from '@noble/curves/ed25519.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base58xmr } from '@scure/base';
import { type AddressCodec, accepted, attempt, notOurs, ofTestNetwork } from './codec.ts';

/** https://docs.getmonero.org/public-address/standard-address/ */
type MoneroTag = 18 | 42;

/**
 * Kinds by the first byte, with the length of the text. An integrated address also carries 8 bytes
 * of payment id.
 */
const kinds: ReadonlyMap<number, readonly [kind: string, length: number]> = new Map([
  [18, ['standard', 95]],
  [42, ['subaddress', 95]],
  [19, ['integrated', 106]],
]);

const testTags: ReadonlySet<number> = new Set([53, 63, 54, 24, 36, 25]);

/**
 * The address of a pair of public keys: tag, spend key, view key and 4 bytes of Keccak-256, in
 * Monero's base58. https://docs.getmonero.org/public-address/standard-address/
 */
export function encodeMonero(tag: MoneroTag, spendKey: Uint8Array, viewKey: Uint8Array): string {
  const payload = Uint8Array.from([tag, ...spendKey, ...viewKey]);
  return base58xmr.encode(Uint8Array.from([...payload, ...keccak_256(payload).subarray(0, 4)]));
}

/** Monero, https://docs.getmonero.org/public-address/standard-address/ */
export const moneroCodec: AddressCodec = {
  looks: 'starts with 4 or 8 and has 95 characters, or 106 with a payment id',
  decode(text) {
    if (text.length !== 95 && text.length !== 106) return notOurs;
    const bytes = attempt(() => base58xmr.decode(text));
    const tag = bytes?.[0];
    if (!bytes || tag === undefined || attempt(() => base58xmr.encode(bytes)) !== text) return notOurs;
    const sum = keccak_256(bytes.subarray(0, -4)).subarray(0, 4);
    if (!bytes.subarray(-4).every((byte, at) => byte === sum[at])) return notOurs;
    if (testTags.has(tag)) return ofTestNetwork;
    const found = kinds.get(tag);
    if (!found || found[1] !== text.length) return notOurs;
    if (!isPublicKey(bytes.subarray(1, 33)) || !isPublicKey(bytes.subarray(33, 65))) return notOurs;
    return accepted(text, found[0]);
  },
};

/** An address in its parts. */
export interface MoneroParts {
  /** Both public keys in hex. */
  readonly keys: string;
  /** The payment id of an integrated address, in hex; null for others. */
  readonly paymentId: string | null;
}

/** Null for a text that is no address of the public network. */
export function moneroParts(text: string): MoneroParts | null {
  if (!moneroCodec.decode(text).ok) return null;
  const bytes = base58xmr.decode(text);
  const paymentId = bytes.length > 69 ? bytesToHex(bytes.subarray(65, -4)) : null;
  return { keys: bytesToHex(bytes.subarray(1, 65)), paymentId };
}

function isPublicKey(bytes: Uint8Array): boolean {
  return attempt(() => ed25519.Point.fromBytes(bytes)) !== null;
}
