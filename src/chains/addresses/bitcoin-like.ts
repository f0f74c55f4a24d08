import { schnorr } from '@noble/curves/secp256k1.js';
import { bech32, bech32m } from '@scure/base';
import { decodeBase58check, isPrivateKey } from './base58check.ts';
import {
  type AddressCodec,
  accepted,
  attempt,
  type Decoded,
  isZero,
  notOurs,
  ofTestNetwork,
  refused,
  secretKey,
  zeroAddress,
} from './codec.ts';

interface ScriptVersions {
  readonly p2pkh: readonly number[];
  readonly p2sh: readonly number[];
}

interface BitcoinLike {
  readonly looks: string;
  readonly versions: ScriptVersions;
  /** Human-readable part of segregated witness addresses, where the chain has them. */
  readonly hrp?: string;
  readonly testHrps?: readonly string[];
  readonly testVersions?: readonly number[];
  /** Forms that need a word of their own. */
  readonly special?: (text: string, bytes: Uint8Array | null) => Decoded | null;
}

const bitcoinTestVersions = [0x6f, 0xc4];

/**
 * A chain of Bitcoin's family: Base58Check with one or two version bytes, and witness programs by BIP173 and BIP350.
 */
function bitcoinLike({ looks, versions, hrp, testHrps = [], testVersions = [], special }: BitcoinLike): AddressCodec {
  return {
    looks,
    decode(text) {
      const bytes = decodeBase58check(text);
      const own = special?.(text, bytes);
      if (own) return own;
      if (bytes) return decodeScript(text, bytes, versions, testVersions);
      const prefix = text.toLowerCase();
      if (testHrps.some((test) => prefix.startsWith(`${test}1`))) {
        return decodeWitness(text, prefix.slice(0, prefix.lastIndexOf('1'))).ok ? ofTestNetwork : notOurs;
      }
      return hrp !== undefined && prefix.startsWith(`${hrp}1`) ? decodeWitness(text, hrp) : notOurs;
    },
  };
}

function decodeScript(
  text: string,
  bytes: Uint8Array,
  versions: ScriptVersions,
  testVersions: readonly number[],
): Decoded {
  for (const [kind, version] of Object.entries(versions)) {
    if (bytes.length === version.length + 20 && version.every((byte: number, i: number) => bytes[i] === byte)) {
      return isZero(bytes.subarray(version.length)) ? zeroAddress : accepted(text, kind);
    }
  }
  if (isPrivateKey(bytes)) return secretKey;
  return bytes.length === 21 && testVersions.includes(bytes[0] ?? -1) ? ofTestNetwork : notOurs;
}

/**
 * Version 0 in Bech32 with 20 or 32 bytes, version 1 (taproot) in Bech32m with the x coordinate of a point. Later
 * versions have no meaning yet: what is sent there anyone may take.
 * https://github.com/bitcoin/bips/blob/master/bip-0350.mediawiki
 */
function decodeWitness(text: string, hrp: string): Decoded {
  if (text.length > 90) return notOurs;
  const plain = attempt(() => bech32.decode(text as `${string}1${string}`));
  const modified = plain ? null : attempt(() => bech32m.decode(text as `${string}1${string}`));
  const decoded = plain ?? modified;
  if (!decoded || decoded.prefix !== hrp) return refused('has a typing error: its checksum does not match');
  const [version = -1, ...words] = decoded.words;
  const program = attempt(() => bech32.fromWords(words));
  if (!program) return notOurs;
  if (version === 0 && plain && (program.length === 20 || program.length === 32)) {
    if (isZero(program)) return zeroAddress;
    return accepted(text.toLowerCase(), program.length === 20 ? 'p2wpkh' : 'p2wsh');
  }
  if (version === 1 && modified && program.length === 32) {
    const x = BigInt(`0x${Buffer.from(program).toString('hex')}`);
    if (attempt(() => schnorr.utils.lift_x(x)) === null)
      return refused('is a taproot address whose key is not on the curve');
    return accepted(text.toLowerCase(), 'p2tr');
  }
  if (version > 1 && version <= 16 && modified) return refused('is of a witness version that cannot be paid to yet');
  return refused('is not a valid witness address');
}

/** The address of a public key's hash in a version 0 witness program, BIP173 and BIP84. */
export function encodeP2wpkh(hrp: string, keyHash: Uint8Array): string {
  return bech32.encode(hrp, [0, ...bech32.toWords(keyHash)]);
}

export const bitcoinCodec = bitcoinLike({
  looks: 'starts with bc1, 1 or 3',
  versions: { p2pkh: [0x00], p2sh: [0x05] },
  hrp: 'bc',
  testHrps: ['tb', 'bcrt'],
  testVersions: bitcoinTestVersions,
});

/** Old script addresses of Litecoin begin with 3 like Bitcoin's and cannot be told from them, so they are refused. */
export const litecoinCodec = bitcoinLike({
  looks: 'starts with ltc1, L or M',
  versions: { p2pkh: [0x30], p2sh: [0x32] },
  hrp: 'ltc',
  testHrps: ['tltc', 'rltc'],
  testVersions: [...bitcoinTestVersions, 0x3a],
  special: (text, bytes) => {
    if (text.toLowerCase().startsWith('ltcmweb1'))
      return refused('is an MWEB address, which is not supported; give a usual one');
    const old = bytes?.length === 21 && bytes[0] === 0x05;
    return old ? refused('could be an address of Bitcoin; give the form that starts with M or ltc1') : null;
  },
});

export const dogecoinCodec = bitcoinLike({
  looks: 'starts with D, or with A or 9 for scripts',
  versions: { p2pkh: [0x1e], p2sh: [0x16] },
  testVersions: [0x71],
});

export const dashCodec = bitcoinLike({
  looks: 'starts with X, or with 7 for scripts',
  versions: { p2pkh: [0x4c], p2sh: [0x10] },
  testVersions: [0x8c, 0x13],
});

/** Transparent and Sapling addresses; unified ones are refused. https://zips.z.cash/protocol/protocol.pdf section 5.6 */
export const zcashCodec = bitcoinLike({
  looks: 'starts with t1, t3 or zs1',
  versions: { p2pkh: [0x1c, 0xb8], p2sh: [0x1c, 0xbd] },
  special: (text, bytes) => {
    if (bytes?.length === 22 && bytes[0] === 0x1d && (bytes[1] === 0x25 || bytes[1] === 0xba)) return ofTestNetwork;
    if (bytes?.length === 22 && bytes[0] === 0x1c && bytes[1] === 0xba) return ofTestNetwork;
    if (text.startsWith('u1')) return refused('is a unified address; give its transparent part, which starts with t1');
    if (text.startsWith('secret-')) return secretKey;
    const lower = text.toLowerCase();
    if (!lower.startsWith('zs1') && !lower.startsWith('ztestsapling1')) return null;
    const decoded = attempt(() => bech32.decode(text as `${string}1${string}`, 128));
    const raw = decoded && attempt(() => bech32.fromWords(decoded.words));
    if (!decoded || raw?.length !== 43) return refused('has a typing error: its checksum does not match');
    return decoded.prefix === 'zs' ? accepted(lower, 'sapling') : ofTestNetwork;
  },
});
