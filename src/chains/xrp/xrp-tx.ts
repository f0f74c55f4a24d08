import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { encodeRippleClassic, rippleAccount, rippleAddress } from '../addresses/ripple.ts';
import type { SigningKey } from '../port/transaction-signer.ts';

/** A transaction as it is built here. Amounts are in drops. */
export interface XrpTx {
  readonly account: string;
  readonly action: XrpAction;
  readonly fee: bigint;
  /** What the transaction uses up: a ticket, or the next sequence number of the account. */
  readonly ticket: number | null;
  /** 0 with a ticket. */
  readonly sequence: number;
  /** The last ledger that may hold it. */
  readonly lastLedger: number;
  /** Required above 1024 and forbidden below; null where it is forbidden. */
  readonly networkId: number | null;
}

/** What a transaction does. Nothing else is ever built or signed. */
export type XrpAction = XrpPayment | XrpSetup;

/** Pays the ledger's own coin. */
export interface XrpPayment {
  readonly kind: 'payment';
  /** A classic address. */
  readonly to: string;
  /** 0 is a tag; null is no tag. */
  readonly tag: number | null;
  readonly amount: bigint;
}

/** Prepares the account for payments: tickets, or the flag that requires a tag of senders. */
type XrpSetup = { readonly kind: 'tickets'; readonly count: number } | { readonly kind: 'require_tag' };

/** The most tickets that an account can have. */
export const maxTickets = 250;

/** A set-up as the intent of a payment names it: 'tickets:40', 'require_tag'. */
export function setupName(action: XrpAction): string | null {
  if (action.kind === 'payment') return null;
  return action.kind === 'tickets' ? `tickets:${action.count}` : action.kind;
}

/** @throws RangeError for a name that `setupName` does not give. */
export function readSetup(name: string): XrpSetup {
  if (name === 'require_tag') return { kind: name };
  const count = Number(/^tickets:([1-9]\d{0,2})$/.exec(name)?.[1] ?? Number.NaN);
  if (count <= maxTickets) return { kind: 'tickets', count };
  throw new RangeError('this is no set-up of an account');
}

/** What signing adds: the compressed key, and its signature once there is one. */
interface Signing {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array | null;
}

/** The largest value of a 32-bit member. */
export const maxUint32 = 0xffffffff;
/** More drops than there can be: 10^17. */
export const maxDrops = 100_000_000_000_000_000n;

/** Numbers of networks above it are part of each of their transactions. */
const largestSilentNetwork = 1024;

/**
 * The number of a network as its transactions state it; null where they must not.
 * https://xrpl.org/docs/references/protocol/transactions/common-fields#networkid-field
 */
export function statedNetwork(networkId: number): number | null {
  return networkId > largestSilentNetwork ? networkId : null;
}

/** The first half of SHA-512, by which the ledger names everything. */
export function sha512Half(...parts: readonly Uint8Array[]): Uint8Array {
  return sha512(concatBytes(...parts)).subarray(0, 32);
}

/**
 * The bytes before a hash that say what is hashed.
 * https://xrpl.org/docs/references/protocol/data-types/basic-data-types#hash-prefixes
 */
const prefix = {
  toSign: Uint8Array.of(0x53, 0x54, 0x58, 0x00),
  signed: Uint8Array.of(0x54, 0x58, 0x4e, 0x00),
} as const;

/** Set in an amount that is of the ledger's own coin and not below 0. */
const ownCoin = 0x4000000000000000n;

/** The numbers of types, https://xrpl.org/docs/references/protocol/transactions/types */
const types: Readonly<Record<XrpAction['kind'], number>> = { payment: 0, require_tag: 3, tickets: 10 };
/** The flag of an account that requires a tag, as AccountSet names it (asfRequireDest). */
const requireDest = 1;

/**
 * The members of a transaction in the order of the ledger's format: by type, then by number.
 * https://xrpl.org/docs/references/protocol/binary-format
 */
function encodeTx(tx: XrpTx, signing: Signing | null): Uint8Array {
  const { account, action, fee, ticket, sequence, lastLedger, networkId } = tx;
  const payment = action.kind === 'payment' ? action : null;
  return concatBytes(
    Uint8Array.of(0x12, 0, types[action.kind]),
    uint32([0x21], networkId),
    uint32([0x24], sequence),
    uint32([0x2e], payment?.tag ?? null),
    uint32([0x20, 0x1b], lastLedger),
    uint32([0x20, 0x21], action.kind === 'require_tag' ? requireDest : null),
    uint32([0x20, 0x28], action.kind === 'tickets' ? action.count : null),
    uint32([0x20, 0x29], ticket),
    drops(0x61, payment?.amount ?? null),
    drops(0x68, fee),
    counted(0x73, signing?.publicKey ?? null),
    counted(0x74, signing?.signature ?? null),
    counted(0x81, rippleAccount(account)),
    counted(0x83, payment === null ? null : rippleAccount(payment.to)),
  );
}

/** Nothing for a member that is absent. */
function uint32(field: readonly number[], value: number | null): Uint8Array {
  if (value === null) return new Uint8Array();
  if (!Number.isInteger(value) || value < 0 || value > maxUint32) throw new RangeError('a member has 32 bits');
  const encoded = Buffer.alloc(4);
  encoded.writeUInt32BE(value);
  return concatBytes(Uint8Array.from(field), encoded);
}

function drops(field: number, value: bigint | null): Uint8Array {
  if (value === null) return new Uint8Array();
  if (value < 0n || value > maxDrops) throw new RangeError('an amount is from 0 to 10^17 drops');
  const encoded = Buffer.alloc(8);
  encoded.writeBigUInt64BE(ownCoin | value);
  return concatBytes(Uint8Array.of(field), encoded);
}

/** Bytes with their length before them. None here is longer than 192 bytes. */
function counted(field: number, value: Uint8Array | null): Uint8Array {
  return value === null ? new Uint8Array() : concatBytes(Uint8Array.of(field, value.length), value);
}

/** A signed transaction: its id in capitals, as nodes write it, and its bytes in hexadecimal. */
interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/**
 * Signs a transaction. Deterministic (RFC 6979) and with a low s, so that the same transaction and
 * key always give the same bytes.
 */
export function signXrpTx(tx: XrpTx, { privateKey, publicKey }: SigningKey): SignedBytes {
  const digest = sha512Half(prefix.toSign, encodeTx(tx, { publicKey, signature: null }));
  const signature = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'der' });
  const raw = encodeTx(tx, { publicKey, signature });
  return { txid: txidOf(raw), raw: bytesToHex(raw).toUpperCase() };
}

function txidOf(raw: Uint8Array): string {
  return bytesToHex(sha512Half(prefix.signed, raw)).toUpperCase();
}

/**
 * Reads signed bytes.
 *
 * @throws Error when they are no transaction of the form that is built here, or the key of its
 *   account did not sign them.
 */
export function openXrpTx(raw: string): { readonly txid: string; readonly tx: XrpTx } {
  const signed = hexToBytes(raw.toLowerCase());
  const { tx, publicKey, signature } = readTx(signed);
  const isWhole = publicKey !== null && signature !== null;
  if (!isWhole || Buffer.compare(encodeTx(tx, { publicKey, signature }), signed) !== 0) {
    throw new Error('it has another form');
  }
  if (rippleAddress(publicKey) !== tx.account) throw new Error('it has another key');
  const digest = sha512Half(prefix.toSign, encodeTx(tx, { publicKey, signature: null }));
  if (!secp256k1.verify(signature, digest, publicKey, { prehash: false, lowS: true, format: 'der' })) {
    throw new Error('its key did not sign it');
  }
  return { txid: txidOf(signed), tx };
}

/** An unsigned transaction as text, with the path of the key that signs it. */
export interface XrpPayload {
  readonly path: string;
  readonly tx: XrpTx;
}

export function encodePayload({ path, tx }: XrpPayload): string {
  return JSON.stringify({ path, tx: bytesToHex(encodeTx(tx, null)).toUpperCase() });
}

/** @throws Error for a text that `encodePayload` does not make. */
export function decodePayload(text: string): XrpPayload {
  const { path, tx } = JSON.parse(text) as { path?: unknown; tx?: unknown };
  if (typeof path !== 'string' || typeof tx !== 'string') throw new Error('this is no payload');
  const payload = { path, tx: readTx(hexToBytes(tx.toLowerCase())).tx };
  if (encodePayload(payload) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

/** The members of transactions of ours, by the digits of their field, with their lengths. */
const members: Readonly<Record<string, number | 'counted'>> = {
  '12': 2,
  '21': 4,
  '24': 4,
  '2e': 4,
  '201b': 4,
  '2021': 4,
  '2028': 4,
  '2029': 4,
  '61': 8,
  '68': 8,
  '73': 'counted',
  '74': 'counted',
  '81': 'counted',
  '83': 'counted',
};

/**
 * Reads the members of a transaction. The caller encodes them again and compares the bytes: that
 * refuses another order, members twice, and members of another type.
 */
function readTx(encoded: Uint8Array): {
  readonly tx: XrpTx;
  readonly publicKey: Uint8Array | null;
  readonly signature: Uint8Array | null;
} {
  const found = readMembers(Buffer.from(encoded));
  const take = (field: string): Buffer => {
    const value = found.get(field);
    if (value === undefined) throw new Error('it lacks a member');
    return value;
  };
  const number = (field: string): number => take(field).readUInt32BE();
  const optional = (field: string): number | null => (found.has(field) ? number(field) : null);
  const readAction = (): XrpAction => {
    switch (take('12').readUInt16BE()) {
      case types.payment:
        return { kind: 'payment', to: readAccount(take('83')), tag: optional('2e'), amount: readDrops(take('61')) };
      case types.tickets:
        return { kind: 'tickets', count: number('2028') };
      case types.require_tag:
        return { kind: 'require_tag' };
      default:
        throw new Error('it is of another type');
    }
  };
  const tx = {
    account: readAccount(take('81')),
    action: readAction(),
    fee: readDrops(take('68')),
    ticket: optional('2029'),
    sequence: number('24'),
    lastLedger: number('201b'),
    networkId: optional('21'),
  };
  return { tx, publicKey: found.get('73') ?? null, signature: found.get('74') ?? null };
}

function readAccount(hash: Buffer): string {
  if (hash.length !== 20) throw new Error('it has no account');
  return encodeRippleClassic(hash);
}

function readMembers(encoded: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < encoded.length; ) {
    const first = encoded[at] ?? 0;
    // A field whose number is above 15 states it in a second byte.
    const field = encoded.toString('hex', at, at + ((first & 0x0f) === 0 ? 2 : 1));
    at += field.length / 2;
    const known = members[field];
    if (known === undefined) throw new Error('it has a member that no transaction of ours has');
    const length = known === 'counted' ? (encoded[at++] ?? 0) : known;
    if (at + length > encoded.length) throw new Error('it is cut off');
    found.set(field, encoded.subarray(at, at + length));
    at += length;
  }
  return found;
}

function readDrops(value: Buffer): bigint {
  const amount = value.readBigUInt64BE();
  if ((amount & ownCoin) === 0n) throw new Error('its amount is not of the own coin');
  return amount ^ ownCoin;
}
