import { ripemd160 } from '@noble/hashes/legacy.js';
import { base32nopad, base58, base58xmr, bech32, bech32m } from '@scure/base';
import { type AddressFamily, networkById } from '../networks/networks.ts';
import { encodeAlgorand } from './algorand.ts';
import { decodeBase58check, encodeBase58check } from './base58check.ts';
import { encodeCashaddr } from './bitcoin-cash.ts';
import { encodeKeyHash } from './bitcoin-like.ts';
import { encodeCardanoEnterprise, encodeCardanoEnterpriseOfHash } from './cardano.ts';
import { attempt } from './codec.ts';
import { encodeCosmos } from './cosmos.ts';
import { toChecksumAddress } from './evm.ts';
import { sha256 } from './hashes.ts';
import { encodeMonero } from './monero.ts';
import { encodePolkadot } from './polkadot.ts';
import { encodeRippleClassic, rippleAccount } from './ripple.ts';
import { encodeSolana } from './solana.ts';
import { encodeStellarAccount } from './stellar.ts';
import { encodeTezos } from './tezos.ts';

/**
 * All forms of a key's address. A payment to another form of one of our addresses reaches no user
 * either, so keys are compared, not texts. `keyForms` gives every form in which this service could
 * have written the address of a key. Two forms hide the key's hash: nested witness (P2SH) and
 * taproot (P2TR). For our own keys these forms are stored when the address is derived.
 */

/**
 * The address itself and every other form in which this service writes the addresses of its key,
 * separated by blanks, which no address contains. A script or taproot address also gets
 * `p2sh:<hash>` or `p2tr:<key>`.
 *
 * @param address in the canonical form that `checkAddress` gave.
 */
export function keyForms(networkId: string, address: string): string {
  const family = networkById(networkId)?.family;
  const forms = new Set([address]);
  if (family) for (const form of readers[family]?.(address) ?? []) forms.add(form);
  return [...forms].join(' ');
}

/** The nested witness form (BIP49) of a key's hash. */
export function nestedForm(keyHash: Uint8Array): string {
  return `p2sh:${hex(ripemd160(sha256(Uint8Array.from([0, keyHash.length, ...keyHash]))))}`;
}

/**
 * The nested witness form of a Bitcoin-like address that names a key's hash; null for any other
 * address.
 */
export function nestedFormOf(address: string): string | null {
  const keyHash = witnessKeyHash(address);
  return keyHash && nestedForm(keyHash);
}

/** The form of a taproot address, from its output key. */
export function taprootForm(outputKey: Uint8Array): string {
  return `p2tr:${hex(outputKey)}`;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** All addresses of a compressed secp256k1 key that contain its hash, RIPEMD-160 of SHA-256. */
function ofKeyHash(keyHash: Uint8Array): string[] {
  return [
    encodeKeyHash('bitcoin', keyHash),
    encodeKeyHash('litecoin', keyHash),
    encodeKeyHash('dogecoin', keyHash),
    encodeCashaddr(keyHash),
    encodeBase58check([0x4c], keyHash),
    encodeBase58check([0x1c, 0xb8], keyHash),
    encodeRippleClassic(keyHash),
    encodeCosmos(keyHash),
  ];
}

/**
 * Version bytes of key hashes and script hashes in Base58Check, of main and test networks of every
 * chain.
 */
const keyVersions = new Set(['00', '30', '1e', '6f', '71', '4c', '1cb8']);
const scriptVersions = new Set(['05', '32', '16', 'c4', '3a', '10', '1cbd']);

function ofBase58check(address: string): string[] {
  const bytes = decodeBase58check(address);
  if (!bytes || bytes.length < 21) return [];
  const version = hex(bytes.subarray(0, -20));
  const hash = bytes.subarray(-20);
  if (keyVersions.has(version)) return ofKeyHash(hash);
  return scriptVersions.has(version) ? [`p2sh:${hex(hash)}`] : [];
}

/** Checked first, because an exception of the decoder costs far more. */
const bech32Form = /^[a-z]+1[02-9ac-hj-np-z]+$/i;

function witnessProgram(address: string): { version: number; program: Uint8Array } | null {
  if (!bech32Form.test(address)) return null;
  for (const codec of [bech32, bech32m]) {
    const decoded = attempt(() => codec.decode(address as `${string}1${string}`));
    const [version, ...words] = decoded?.words ?? [];
    const program = version === undefined ? null : attempt(() => codec.fromWords(words));
    if (version !== undefined && program) return { version, program };
  }
  return null;
}

function witnessKeyHash(address: string): Uint8Array | null {
  const witness = witnessProgram(address);
  return witness?.version === 0 && witness.program.length === 20 ? witness.program : null;
}

function ofBitcoinLike(address: string): string[] {
  const witness = witnessProgram(address);
  if (!witness) return ofBase58check(address);
  if (witness.version === 0 && witness.program.length === 20) return ofKeyHash(witness.program);
  return witness.version === 1 ? [taprootForm(witness.program)] : [];
}

/**
 * The forms of a Bitcoin Cash address, which holds the hash in 42 words of 5 bits: version, hash,
 * checksum.
 */
function ofCashaddr(address: string): string[] {
  const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
  const body = address.slice(address.indexOf(':') + 1);
  let bits = 0n;
  for (const character of body.slice(0, -8)) bits = (bits << 5n) | BigInt(charset.indexOf(character));
  // 34 words are 170 bits: 8 of the version, 160 of the hash, 2 of padding.
  const hash = ((bits >> 2n) & ((1n << 160n) - 1n)).toString(16).padStart(40, '0');
  return body.startsWith('q') ? ofKeyHash(Buffer.from(hash, 'hex')) : [`p2sh:${hash}`];
}

/** EVM chains and TRON share the 20 bytes of an account's hash. */
function ofEvm(address: string): string[] {
  const lower = address.toLowerCase();
  return [lower, encodeBase58check([0x41], Buffer.from(lower.slice(2), 'hex'))];
}

/** The checksum, which the address has already passed, is not computed again. */
function ofTron(address: string): string[] {
  const digits = hex(base58.decode(address).subarray(1, 21));
  return [toChecksumAddress(digits), `0x${digits}`];
}

/** All addresses of an Ed25519 key, for addresses that show the key's bytes. */
function ofEd25519(key: Uint8Array): string[] {
  return [
    encodeSolana(key),
    encodeStellarAccount(key),
    encodeAlgorand(key),
    encodePolkadot(key),
    encodeTezos(key),
    encodeCardanoEnterprise(key),
  ];
}

/**
 * The forms of a Cardano address. The payment part alone decides who can spend; the stake part may
 * belong to another party. https://cips.cardano.org/cip/CIP-19
 */
function ofCardano(address: string): string[] {
  const words = attempt(() => bech32.decode(address as `${string}1${string}`, 1023));
  const bytes = words && attempt(() => bech32.fromWords(words.words));
  const header = bytes?.[0];
  if (!bytes || header === undefined || (header >> 4) % 2 !== 0) return [];
  return [encodeCardanoEnterpriseOfHash(bytes.subarray(1, 29))];
}

/** The forms of a Monero address. An integrated address is a standard one with a payment id. */
function ofMonero(address: string): string[] {
  const bytes = attempt(() => base58xmr.decode(address));
  if (!bytes || bytes.length < 69) return [];
  const [spend, view] = [bytes.subarray(1, 33), bytes.subarray(33, 65)];
  return [encodeMonero(18, spend, view), encodeMonero(42, spend, view)];
}

function ofBech32KeyHash(address: string): string[] {
  const words = attempt(() => bech32.decode(address as `${string}1${string}`));
  const bytes = words && attempt(() => bech32.fromWords(words.words));
  return bytes?.length === 20 ? ofKeyHash(bytes) : [];
}

/** By family. A family without a row has a single form, which its codec makes canonical. */
const readers: Partial<Record<AddressFamily, (address: string) => readonly string[]>> = {
  bitcoin: ofBitcoinLike,
  litecoin: ofBitcoinLike,
  dogecoin: ofBase58check,
  dash: ofBase58check,
  zcash: ofBase58check,
  'bitcoin-cash': ofCashaddr,
  evm: ofEvm,
  tron: ofTron,
  ripple: (address) => ofKeyHash(rippleAccount(address)),
  cosmos: ofBech32KeyHash,
  stellar: (address) => ofEd25519(base32nopad.decode(address).subarray(1, 33)),
  solana: (address) => ofEd25519(base58.decode(address)),
  algorand: (address) => ofEd25519(base32nopad.decode(address).subarray(0, 32)),
  polkadot: (address) => ofEd25519(base58.decode(address).subarray(1, 33)),
  cardano: ofCardano,
  monero: ofMonero,
};
