import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { encodeStellarAccount, stellarKey } from '../addresses/stellar.ts';
import type { SigningKey } from '../port/transaction-signer.ts';
import type { StellarToken } from './stellar-section.ts';
import { type Reader, readXdr, Writer } from './stellar-xdr.ts';

/** A transaction as it is built here. It has one operation. Amounts are in stroops. */
export interface StellarTx {
  /** The account whose sequence number it uses, and which pays its fee: a channel or the wallet. */
  readonly source: string;
  /** The account that acts: always the wallet. */
  readonly wallet: string;
  readonly fee: number;
  readonly sequence: bigint;
  /** The last second, since 1970, at which a ledger that holds it may close. */
  readonly maxTimeSec: number;
  readonly memo: StellarMemo | null;
  readonly action: StellarAction;
}

/** A number, or text of at most 28 bytes. */
export type StellarMemo = { readonly id: bigint } | { readonly text: string };

/** What a transaction does. Nothing else is ever built or signed. */
export type StellarAction =
  | StellarPayment
  | { readonly kind: 'create_account'; readonly to: string; readonly amount: bigint }
  | { readonly kind: 'change_trust'; readonly token: StellarToken }
  // Asks senders for a memo.
  // https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0029.md
  | { readonly kind: 'require_memo' };

interface StellarPayment {
  readonly kind: 'payment';
  readonly to: string;
  /** Null for the chain's own coin. */
  readonly token: StellarToken | null;
  readonly amount: bigint;
}

/** The data entry of an account that wants a memo with each payment, and its value. */
export const memoEntry = { name: 'config.memo_required', value: '1' } as const;

/** The largest amount of the ledger, and the limit of the trust lines that are made here. */
export const maxAmount = 2n ** 63n - 1n;
const maxUint32 = 0xffffffff;
const maxUint64 = 2n ** 64n - 1n;

/** The numbers of the ledger's format. https://github.com/stellar/stellar-xdr */
const xdrTypes = {
  envelope: 2,
  timeBounds: 1,
  memo: { none: 0, text: 1, id: 2 },
  operations: { create_account: 0, payment: 1, change_trust: 6, require_memo: 10 },
  assets: { native: 0, short: 1, long: 12 },
} as const;
const shortCode = 4;
const longCode = 12;

/** @throws RangeError for members that the ledger's format does not have. */
function writeTx(out: Writer, tx: StellarTx): Writer {
  const { source, wallet, fee, sequence, maxTimeSec, memo, action } = tx;
  writeAccount(out, source);
  out.uint32(fee).int64(sequence).uint32(xdrTypes.timeBounds).uint64(0n).uint64(BigInt(maxTimeSec));
  writeMemo(out, memo);
  out.uint32(1).uint32(1);
  writeAccount(out, wallet);
  writeAction(out, action);
  return out.uint32(0);
}

function writeAccount(out: Writer, address: string): void {
  out.uint32(0).bytes(stellarKey(address));
}

function writeMemo(out: Writer, memo: StellarMemo | null): void {
  if (memo === null) out.uint32(xdrTypes.memo.none);
  else if ('id' in memo) out.uint32(xdrTypes.memo.id).uint64(memo.id);
  else out.uint32(xdrTypes.memo.text).opaque(new TextEncoder().encode(memo.text), 28);
}

function writeAction(out: Writer, action: StellarAction): void {
  out.uint32(xdrTypes.operations[action.kind]);
  switch (action.kind) {
    case 'payment':
      writeAccount(out, action.to);
      writeAsset(out, action.token);
      out.int64(action.amount);
      break;
    case 'create_account':
      writeAccount(out, action.to);
      out.int64(action.amount);
      break;
    case 'change_trust':
      writeAsset(out, action.token);
      out.int64(maxAmount);
      break;
    case 'require_memo':
      out.opaque(new TextEncoder().encode(memoEntry.name), 64).uint32(1);
      out.opaque(new TextEncoder().encode(memoEntry.value), 64);
  }
}

function writeAsset(out: Writer, token: StellarToken | null): void {
  if (token === null) {
    out.uint32(xdrTypes.assets.native);
    return;
  }
  const { code, issuer } = token;
  if (!/^[A-Za-z0-9]{1,12}$/.test(code)) throw new RangeError('a code has 1 to 12 letters and digits');
  const size = code.length > shortCode ? longCode : shortCode;
  const padded = new Uint8Array(size);
  padded.set(new TextEncoder().encode(code));
  out.uint32(size === shortCode ? xdrTypes.assets.short : 2).bytes(padded);
  writeAccount(out, issuer);
}

/** Reads a transaction. The caller encodes it again and compares the bytes. */
function readTx(from: Reader): StellarTx {
  const source = readAccount(from);
  const fee = from.uint32();
  const sequence = from.int64();
  from.expect(xdrTypes.timeBounds);
  if (from.uint64() !== 0n) throw new Error('it is not valid from the beginning');
  const maxTimeSec = Number(from.uint64());
  const memo = readMemo(from);
  from.expect(1);
  from.expect(1);
  const wallet = readAccount(from);
  const action = readAction(from);
  from.expect(0);
  return { source, wallet, fee, sequence, maxTimeSec, memo, action };
}

function readAccount(from: Reader): string {
  from.expect(0);
  return encodeStellarAccount(from.bytes(32));
}

function readMemo(from: Reader): StellarMemo | null {
  switch (from.uint32()) {
    case xdrTypes.memo.none:
      return null;
    case xdrTypes.memo.text:
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(from.opaque(28)) };
    case xdrTypes.memo.id:
      return { id: from.uint64() };
    default:
      throw new Error('it has a memo of another type');
  }
}

function readAction(from: Reader): StellarAction {
  switch (from.uint32()) {
    case xdrTypes.operations.payment:
      return { kind: 'payment', to: readAccount(from), token: readAsset(from), amount: from.int64() };
    case xdrTypes.operations.create_account:
      return { kind: 'create_account', to: readAccount(from), amount: from.int64() };
    case xdrTypes.operations.change_trust: {
      const token = readAsset(from);
      if (token === null || from.int64() !== maxAmount) throw new Error('it has another trust line');
      return { kind: 'change_trust', token };
    }
    case xdrTypes.operations.require_memo:
      from.opaque(64);
      from.expect(1);
      from.opaque(64);
      return { kind: 'require_memo' };
    default:
      throw new Error('it has another operation');
  }
}

function readAsset(from: Reader): StellarToken | null {
  const type = from.uint32();
  if (type === xdrTypes.assets.native) return null;
  const padded = from.bytes(type === xdrTypes.assets.short ? shortCode : longCode);
  const code = new TextDecoder().decode(padded).replace(/\0+$/, '');
  return { code, issuer: readAccount(from) };
}

/** What is hashed, and so signed, for a network. */
function digestOf(encoded: Uint8Array, networkId: string): Uint8Array {
  return sha256(concatBytes(hexToBytes(networkId), new Writer().uint32(xdrTypes.envelope).done(), encoded));
}

function encodeTx(tx: StellarTx): Uint8Array {
  return writeTx(new Writer(), tx).done();
}

/** A signed transaction: its id in hexadecimal, and its envelope in base64, as nodes take it. */
interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/** Signs a transaction with the keys of its accounts, in this order. Deterministic (RFC 8032). */
export function signStellarTx(tx: StellarTx, networkId: string, keys: readonly SigningKey[]): SignedBytes {
  const encoded = encodeTx(tx);
  const digest = digestOf(encoded, networkId);
  const out = new Writer().uint32(xdrTypes.envelope).bytes(encoded).uint32(keys.length);
  for (const { privateKey, publicKey } of keys) {
    out.bytes(publicKey.subarray(-4)).opaque(ed25519.sign(digest, privateKey), 64);
  }
  return { txid: bytesToHex(digest), raw: Buffer.from(out.done()).toString('base64') };
}

/**
 * Reads a signed envelope.
 *
 * @throws Error when it is no transaction of the form that is built here, or the keys of its
 *   accounts did not sign it for the network.
 */
export function openStellarTx(raw: string, networkId: string): { readonly txid: string; readonly tx: StellarTx } {
  const signed = Buffer.from(raw, 'base64');
  if (signed.toString('base64') !== raw) throw new Error('it is not base64');
  return readXdr(signed, (from) => {
    from.expect(xdrTypes.envelope);
    const tx = readTx(from);
    const encoded = encodeTx(tx);
    if (Buffer.compare(encoded, signed.subarray(4, 4 + encoded.length)) !== 0) throw new Error('it has another form');
    const digest = digestOf(encoded, networkId);
    const signers = signersOf(tx);
    from.expect(signers.length);
    for (const address of signers) {
      const key = stellarKey(address);
      if (Buffer.compare(from.bytes(4), key.subarray(-4)) !== 0) throw new Error('it has another key');
      if (!ed25519.verify(from.opaque(64), digest, key, { zip215: false })) throw new Error('its key did not sign it');
    }
    return { txid: bytesToHex(digest), tx };
  });
}

/** The accounts that sign: that of the sequence number first, then the one that acts. */
export function signersOf({ source, wallet }: Pick<StellarTx, 'source' | 'wallet'>): string[] {
  return source === wallet ? [wallet] : [source, wallet];
}

/** An unsigned transaction as text, with the channel whose sequence number it uses; 0 for none. */
export interface StellarPayload {
  readonly channel: number;
  readonly tx: StellarTx;
}

export function encodePayload({ channel, tx }: StellarPayload): string {
  return JSON.stringify({ channel, tx: bytesToHex(encodeTx(tx)) });
}

/** @throws Error for a text that `encodePayload` does not make. */
export function decodePayload(text: string): StellarPayload {
  const { channel, tx } = JSON.parse(text) as { channel?: unknown; tx?: unknown };
  if (typeof channel !== 'number' || typeof tx !== 'string') throw new Error('this is no payload');
  const payload = { channel, tx: readXdr(hexToBytes(tx), readTx) };
  if (encodePayload(payload) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

/**
 * The memo of a tag: digits are sent as a number, anything else as text.
 *
 * @throws RangeError for a tag that no memo can hold.
 */
export function memoOf(tag: string | null): StellarMemo | null {
  if (tag === null) return null;
  if (/^(0|[1-9]\d*)$/.test(tag)) {
    if (BigInt(tag) <= maxUint64) return { id: BigInt(tag) };
  } else if (tag !== '' && !/^\d+$/.test(tag) && tag.isWellFormed() && new TextEncoder().encode(tag).length <= 28) {
    return { text: tag };
  }
  throw new RangeError('a memo is a number below 2^64, or text of at most 28 bytes');
}

/** What a transaction reserves. The ledger takes one transaction with it. */
export function reservationOf({ source, sequence }: Pick<StellarTx, 'source' | 'sequence'>): string {
  return `sequence:${source}:${sequence}`;
}

/** Whether a number is one that a fee can have. */
export function isFee(fee: bigint): boolean {
  return fee > 0n && fee <= BigInt(maxUint32);
}
