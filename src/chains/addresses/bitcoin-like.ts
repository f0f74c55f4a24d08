import { schnorr } from '@noble/curves/secp256k1.js';
import { bech32, bech32m } from '@scure/base';
import { utxoNet } from '../networks/utxo-nets.ts';
import { type UtxoNet, type UtxoParams, utxoParams } from '../networks/utxo-params.ts';
import { decodeBase58check, encodeBase58check, isPrivateKey } from './base58check.ts';
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
  /** Human-readable part of segregated witness addresses, if the chain has them. */
  readonly hrp?: string;
  /** Human-readable parts of the chain's other networks. */
  readonly foreignHrps?: readonly string[];
  readonly foreignVersions?: readonly number[];
  /** The answer for an address of another network. */
  readonly foreign?: Decoded;
  /** Reads forms that need a separate message. */
  readonly special?: (text: string, bytes: Uint8Array | null) => Decoded | null;
}

/**
 * The codec of a chain of Bitcoin's family: Base58Check with one or two version bytes, and witness
 * programs by BIP173 and BIP350.
 */
function bitcoinLike({
  looks,
  versions,
  hrp,
  foreignHrps = [],
  foreignVersions = [],
  foreign = ofTestNetwork,
  special,
}: BitcoinLike): AddressCodec {
  return {
    looks,
    decode(text) {
      const bytes = decodeBase58check(text);
      const own = special?.(text, bytes);
      if (own) return own;
      if (bytes) {
        const script = decodeScript(text, bytes, versions);
        return script === notOurs && bytes.length === 21 && foreignVersions.includes(bytes[0] ?? -1) ? foreign : script;
      }
      const prefix = text.toLowerCase();
      if (foreignHrps.some((other) => prefix.startsWith(`${other}1`))) {
        return decodeWitness(text, prefix.slice(0, prefix.lastIndexOf('1'))).ok ? foreign : notOurs;
      }
      return hrp !== undefined && prefix.startsWith(`${hrp}1`) ? decodeWitness(text, hrp) : notOurs;
    },
  };
}

function decodeScript(text: string, bytes: Uint8Array, versions: ScriptVersions): Decoded {
  for (const [kind, version] of Object.entries(versions)) {
    if (bytes.length === version.length + 20 && version.every((byte: number, i: number) => bytes[i] === byte)) {
      return isZero(bytes.subarray(version.length)) ? zeroAddress : accepted(text, kind);
    }
  }
  return isPrivateKey(bytes) ? secretKey : notOurs;
}

/**
 * Decodes a witness program: version 0 in Bech32 with 20 or 32 bytes, or version 1 (taproot) in
 * Bech32m with the x coordinate of a point. Later versions have no rules yet, so that any miner
 * could take coins sent there. https://github.com/bitcoin/bips/blob/master/bip-0350.mediawiki
 */
function decodeWitness(text: string, hrp: string): Decoded {
  if (text.length > 90) return notOurs;
  // The version after the separator tells the likely form, which is tried first: an exception costs
  // far more than the decoding.
  const [likely, other] = /1q/i.test(text) ? [bech32, bech32m] : [bech32m, bech32];
  const first = attempt(() => likely.decode(text as `${string}1${string}`));
  const decoded = first ?? attempt(() => other.decode(text as `${string}1${string}`));
  const isPlain = (first ? likely : other) === bech32;
  if (!decoded || decoded.prefix !== hrp) return refused('has a typing error: its checksum does not match');
  const [version = -1, ...words] = decoded.words;
  const program = attempt(() => bech32.fromWords(words));
  if (!program) return notOurs;
  if (version === 0 && isPlain && (program.length === 20 || program.length === 32)) {
    if (isZero(program)) return zeroAddress;
    return accepted(text.toLowerCase(), program.length === 20 ? 'p2wpkh' : 'p2wsh');
  }
  if (version === 1 && !isPlain && program.length === 32) {
    const x = BigInt(`0x${Buffer.from(program).toString('hex')}`);
    if (attempt(() => schnorr.utils.lift_x(x)) === null)
      return refused('is a taproot address whose key is not on the curve');
    return accepted(text.toLowerCase(), 'p2tr');
  }
  if (version > 1 && version <= 16 && !isPlain) return refused('is of a witness version that cannot be paid to yet');
  return refused('is not a valid witness address');
}

/** The address of a public key's hash in a version 0 witness program, BIP173 and BIP84. */
export function encodeP2wpkh(hrp: string, keyHash: Uint8Array): string {
  return bech32.encode(hrp, [0, ...bech32.toWords(keyHash)]);
}

/**
 * The address of a public key's hash on a Bitcoin-like chain, in the form of the network that this
 * process works on.
 */
export function encodeKeyHash(chain: string, keyHash: Uint8Array): string {
  const { bech32: hrp, pubKeyHash } = utxoParams(chain, utxoNet(chain));
  return hrp === null ? encodeBase58check([pubKeyHash], keyHash) : encodeP2wpkh(hrp, keyHash);
}

const nets: readonly UtxoNet[] = ['main', 'test', 'regtest'];

/**
 * The codec of a chain with several networks. The network that this process works on decides which
 * addresses are valid.
 */
function ofItsNet(chain: string, looks: Readonly<Record<UtxoNet, string>>, special?: BitcoinLike['special']) {
  const codecs = new Map(nets.map((net) => [net, codecOfNet(chain, net, looks[net], special)]));
  const current = (): AddressCodec => {
    const codec = codecs.get(utxoNet(chain));
    if (!codec) throw new Error(`${chain} has no such network`);
    return codec;
  };
  return {
    get looks() {
      return current().looks;
    },
    decode: (text: string) => current().decode(text),
  };
}

function codecOfNet(chain: string, net: UtxoNet, looks: string, special: BitcoinLike['special']): AddressCodec {
  const { bech32: hrp, pubKeyHash, scriptHash } = utxoParams(chain, net);
  const others = nets.filter((other) => other !== net).map((other) => utxoParams(chain, other));
  const versionsOf = (params: UtxoParams): number[] => [params.pubKeyHash, params.scriptHash];
  return bitcoinLike({
    looks,
    versions: { p2pkh: [pubKeyHash], p2sh: [scriptHash] },
    ...(hrp === null ? {} : { hrp }),
    foreignHrps: others.map((params) => params.bech32).filter((other) => other !== null),
    foreignVersions: others.flatMap(versionsOf),
    foreign: net === 'main' ? ofTestNetwork : ofOtherNet,
    ...(special ? { special } : {}),
  });
}

const ofOtherNet = refused(
  'is an address of another network than the test network that is served here',
  'other_network',
);

export const bitcoinCodec = ofItsNet('bitcoin', {
  main: 'starts with bc1, 1 or 3',
  test: 'starts with tb1, m, n or 2',
  regtest: 'starts with bcrt1, m, n or 2',
});

/** Old script addresses of Litecoin begin with 3, exactly as Bitcoin's do, so they are refused. */
export const litecoinCodec = ofItsNet(
  'litecoin',
  {
    main: 'starts with ltc1, L or M',
    test: 'starts with tltc1, m, n or Q',
    regtest: 'starts with rltc1, m, n or Q',
  },
  (text, bytes) => {
    if (/^(ltcmweb|tmweb)1/i.test(text)) return refused('is an MWEB address, which is not supported; give a usual one');
    if (bytes?.length !== 21) return null;
    const isMain = utxoNet('litecoin') === 'main';
    if (isMain && bytes[0] === 0x05) {
      return refused('could be an address of Bitcoin; give the form that starts with M or ltc1');
    }
    // The same old form on test networks.
    return bytes[0] === 0xc4 ? (isMain ? ofTestNetwork : ofOtherNet) : null;
  },
);

export const dogecoinCodec = ofItsNet('dogecoin', {
  main: 'starts with D, or with A or 9 for scripts',
  test: 'starts with n, or with 2 for scripts',
  regtest: 'starts with m or n, or with 2 for scripts',
});

export const dashCodec = bitcoinLike({
  looks: 'starts with X, or with 7 for scripts',
  versions: { p2pkh: [0x4c], p2sh: [0x10] },
  foreignVersions: [0x8c, 0x13],
});

/**
 * Transparent and Sapling addresses; unified addresses are refused.
 * https://zips.z.cash/protocol/protocol.pdf section 5.6
 */
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
