import { blake2b } from '@noble/hashes/blake2.js';
import { bech32 } from '@scure/base';
import { decodeByron } from './cardano-byron.ts';
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

const mainnet = 1;
/** Header of an address with a payment key and no stake. */
const enterpriseOnMainnet = 0x61;

/**
 * By header type, https://cips.cardano.org/cip/CIP-19: with a stake part, with a pointer to one, or
 * without one.
 */
const kinds = ['base', 'base', 'base', 'base', 'pointer', 'pointer', 'enterprise', 'enterprise'] as const;

/** The enterprise address (no stake) of an Ed25519 public key. https://cips.cardano.org/cip/CIP-19 */
export function encodeCardanoEnterprise(publicKey: Uint8Array): string {
  return encodeCardanoEnterpriseOfHash(blake2b(publicKey, { dkLen: 28 }));
}

/** The enterprise address of the 28 bytes that stand for a payment key. */
export function encodeCardanoEnterpriseOfHash(keyHash: Uint8Array): string {
  return bech32.encodeFromBytes('addr', Uint8Array.from([enterpriseOnMainnet, ...keyHash]));
}

/** Cardano: Shelley, https://cips.cardano.org/cip/CIP-19, and Byron, whose wallets still exist. */
export const cardanoCodec: AddressCodec = {
  looks: 'starts with addr1, or is an old address that starts with Ae2 or DdzFF',
  decode(text) {
    if (!/^[a-zA-Z0-9_]{50,200}$/.test(text)) return notOurs;
    const lower = text.toLowerCase();
    if (/^(addr|acct|root|stake)_(x?sk|xprv)1/.test(lower) || /^ed25519e?_sk1/.test(lower)) {
      return secretKey;
    }
    return /^(addr|stake)/.test(lower) ? decodeShelley(text) : decodeByron(text);
  },
};

function decodeShelley(text: string): Decoded {
  // Cardano uses bech32 beyond the 90 characters of its specification.
  const words = attempt(() => bech32.decode(text as `${string}1${string}`, 1023));
  const bytes = words && attempt(() => bech32.fromWords(words.words));
  const header = bytes?.[0];
  if (!words || !bytes || header === undefined) return notOurs;
  if (words.prefix === 'addr_test' || words.prefix === 'stake_test') return ofTestNetwork;
  if (words.prefix === 'stake') return refused('is a stake address; give a payment address, which starts with addr1');
  const kind = kinds[header >> 4];
  if (words.prefix !== 'addr' || kind === undefined) return notOurs;
  if ((header & 0x0f) !== mainnet) return ofTestNetwork;
  return hasLengthOf(kind, bytes) ? accepted(text.toLowerCase(), kind) : notOurs;
}

function hasLengthOf(kind: (typeof kinds)[number], bytes: Uint8Array): boolean {
  if (kind === 'base') return bytes.length === 57;
  if (kind === 'enterprise') return bytes.length === 29;
  return isPointer(bytes.subarray(29));
}

/**
 * Whether the bytes are a pointer: slot, transaction and certificate as three numbers of 7 bits a
 * byte, without leading zeros.
 */
function isPointer(bytes: Uint8Array): boolean {
  const ends = [...bytes].flatMap((byte, at) => (byte & 0x80 ? [] : [at]));
  const starts = [0, ...ends.map((end) => end + 1)];
  if (ends.length !== 3 || ends[2] !== bytes.length - 1) return false;
  return ends.every((end, at) => end - (starts[at] ?? 0) < 10 && bytes[starts[at] ?? 0] !== 0x80);
}
