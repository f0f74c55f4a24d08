import { decodeBase58check, isPrivateKey } from './base58check.ts';
import {
  type AddressCodec,
  accepted,
  isZero,
  notOurs,
  ofTestNetwork,
  refused,
  secretKey,
  zeroAddress,
} from './codec.ts';

/** https://github.com/bitcoincashorg/bitcoincash.org/blob/master/spec/cashaddr.md */
const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** The generators of the checksum's 40 bits, in halves, with which JavaScript computes fastest. */
const generators = [
  [0x98f2b, 0xc8e61],
  [0x79b76, 0xd99e2],
  [0xf33e5, 0xfb3c4],
  [0xae2ea, 0xbe2a8],
  [0x1e4f4, 0x3e470],
] as const;
const prefix = 'bitcoincash';
const kinds = ['p2pkh', 'p2sh'];

/** The upper and lower 20 bits of a state of the checksum. */
type State = readonly [high: number, low: number];

/** The state after further words. */
function polymod(words: readonly number[], [high, low]: State): State {
  for (const word of words) {
    const top = high >> 15;
    high = ((high & 0x7fff) << 5) | (low >> 15);
    low = ((low & 0x7fff) << 5) ^ word;
    for (let i = 0; i < generators.length; i++) {
      if (!((top >> i) & 1)) continue;
      high ^= generators[i]?.[0] ?? 0;
      low ^= generators[i]?.[1] ?? 0;
    }
  }
  return [high, low];
}

const prefixWords = [...[...prefix].map((character) => character.charCodeAt(0) & 31), 0];
/** After the prefix, with which each checksum begins. */
const begun = polymod(prefixWords, [0, 1]);
/** The place of the checksum while it is computed. */
const noChecksum = [0, 0, 0, 0, 0, 0, 0, 0];

/** Regroups bits. When it regroups to bytes, the padding must be zero and shorter than a word. */
function regroup(values: Iterable<number>, from: number, to: number, pad: boolean): number[] | null {
  let buffer = 0;
  let bits = 0;
  const out: number[] = [];
  for (const value of values) {
    buffer = ((buffer << from) | value) & 0xfff;
    bits += from;
    while (bits >= to) {
      bits -= to;
      out.push((buffer >> bits) & ((1 << to) - 1));
    }
  }
  const rest = (buffer << (to - bits)) & ((1 << to) - 1);
  if (pad) {
    if (bits > 0) out.push(rest);
    return out;
  }
  return bits >= from || rest !== 0 ? null : out;
}

/** The address of a public key's hash, with its prefix. */
export function encodeCashaddr(keyHash: Uint8Array): string {
  const payload = regroup([0, ...keyHash], 8, 5, true) ?? [];
  const [high, low] = polymod(noChecksum, polymod(payload, begun));
  let text = `${prefix}:`;
  for (const word of payload) text += charset[word];
  for (const half of [high, low ^ 1]) for (const shift of [15, 10, 5, 0]) text += charset[(half >> shift) & 31];
  return text;
}

/** Bitcoin Cash in its own form. Old forms look like Bitcoin's and are refused. */
export const bitcoinCashCodec: AddressCodec = {
  looks: 'starts with bitcoincash:q or bitcoincash:p',
  decode(text) {
    const bytes = decodeBase58check(text);
    if (bytes) {
      if (isPrivateKey(bytes)) return secretKey;
      const old = bytes.length === 21 && (bytes[0] === 0x00 || bytes[0] === 0x05);
      return old ? refused('could be an address of Bitcoin; give the form that starts with bitcoincash:') : notOurs;
    }
    if (text !== text.toLowerCase() && text !== text.toUpperCase()) return notOurs;
    const lower = text.toLowerCase();
    if (/^(bchtest|bchreg):/.test(lower)) return ofTestNetwork;
    const body = lower.startsWith(`${prefix}:`) ? lower.slice(prefix.length + 1) : lower;
    const words = [...body].map((character) => charset.indexOf(character));
    if (body.length !== 42 || words.includes(-1) || !/^[qp]/.test(body)) return notOurs;
    const [high, low] = polymod(words, begun);
    if (high !== 0 || low !== 1) return refused('has a typing error: its checksum does not match');
    const [version = -1, ...hash] = regroup(words.slice(0, -8), 5, 8, false) ?? [];
    const kind = kinds[version >> 3];
    if (hash.length !== 20 || (version & 0x87) !== 0 || !kind) return refused('is of a kind that is not supported');
    return isZero(Uint8Array.from(hash)) ? zeroAddress : accepted(`${prefix}:${body}`, kind);
  },
};
