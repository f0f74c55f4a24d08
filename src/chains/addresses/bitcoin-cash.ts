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
const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
const prefix = 'bitcoincash';
const kinds = ['p2pkh', 'p2sh'];

function polymod(values: readonly number[]): bigint {
  let checksum = 1n;
  for (const value of values) {
    const top = checksum >> 35n;
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(value);
    for (const [i, generator] of generators.entries()) {
      if ((top >> BigInt(i)) & 1n) checksum ^= generator;
    }
  }
  return checksum ^ 1n;
}

function prefixWords(text: string): number[] {
  return [...[...text].map((character) => character.charCodeAt(0) & 31), 0];
}

/** Regroups bits. Padding, when regrouping to bytes, must be zero and shorter than a word. */
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
  const checksum = polymod([...prefixWords(prefix), ...payload, 0, 0, 0, 0, 0, 0, 0, 0]);
  const words = Array.from({ length: 8 }, (_, i) =>
    Number.parseInt(((checksum >> BigInt(5 * (7 - i))) & 31n).toString(), 10),
  );
  return `${prefix}:${[...payload, ...words].map((word) => charset[word]).join('')}`;
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
    if (polymod([...prefixWords(prefix), ...words]) !== 0n)
      return refused('has a typing error: its checksum does not match');
    const [version = -1, ...hash] = regroup(words.slice(0, -8), 5, 8, false) ?? [];
    const kind = kinds[version >> 3];
    if (hash.length !== 20 || (version & 0x87) !== 0 || !kind) return refused('is of a kind that is not supported');
    return isZero(Uint8Array.from(hash)) ? zeroAddress : accepted(`${prefix}:${body}`, kind);
  },
};
