import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { sha256 } from '../addresses/hashes.ts';
import { encodeTron, tronDigits } from '../addresses/tron.ts';
import type { PaymentIntent, Reservation } from '../port/chain-adapter.ts';
import {
  bytesField,
  bytesOf,
  type Fields,
  joinBytes,
  listOf,
  messageField,
  messageOf,
  numberField,
  numberOf,
  readFields,
} from './protobuf.ts';
import { readTransferCall, transferCall } from './trc20.ts';

/**
 * A transaction that pays coins or one token, the only kind that is built here. Addresses have 42
 * hexadecimal digits that begin with 41, in lower case.
 */
export interface TronTx {
  /** The last 2 bytes of the height of the block that it refers to, as 4 hexadecimal digits. */
  readonly refBlockBytes: string;
  /** Bytes 8 to 16 of that block's id, as 16 hexadecimal digits. */
  readonly refBlockHash: string;
  /** In no block on top of one of this time or later, in milliseconds. */
  readonly expiresAtMs: number;
  /** The time of the newest block when it was built, in milliseconds, and up to 999 ms more. */
  readonly builtAtMs: number;
  /** The most that its energy may cost, in sun; 0 for coins, which need none. */
  readonly feeLimit: bigint;
  readonly owner: string;
  /** Null for the chain's own coin. */
  readonly contract: string | null;
  readonly to: string;
  readonly amount: bigint;
}

export interface TronPayload {
  /** Path of the key that signs it. */
  readonly path: string;
  readonly tx: TronTx;
}

/** The contract of a transaction, with the fields of its value. */
interface TronContract {
  readonly kind: 'TransferContract' | 'TriggerSmartContract';
  readonly value: Fields;
}

/** The kinds of contracts that move coins or tokens here, by their number. */
const kinds: ReadonlyMap<bigint, TronContract['kind']> = new Map([
  [1n, 'TransferContract'],
  [31n, 'TriggerSmartContract'],
]);

const typeUrl = 'type.googleapis.com/protocol.';

/** The payload as text. Members are in a fixed order, so that equal payloads are equal text. */
export function encodePayload({ path, tx }: TronPayload): string {
  return JSON.stringify({ path, tx: bytesToHex(encodeTronTx(tx)) });
}

/** @throws Error when the text is not a payload in its one form. */
export function decodePayload(text: string): TronPayload {
  const { path, tx } = JSON.parse(text) as Record<'path' | 'tx', unknown>;
  if (typeof path !== 'string' || typeof tx !== 'string') throw new Error('this is not a payload');
  const payload = { path, tx: decodeTronTx(hexToBytes(tx)) };
  if (encodePayload(payload) !== text) throw new Error('this is not a payload in its canonical form');
  return payload;
}

/**
 * The bytes that are hashed and signed: `Transaction.raw`.
 * https://github.com/tronprotocol/protocol/blob/master/core/Tron.proto
 */
export function encodeTronTx(tx: TronTx): Uint8Array {
  return joinBytes(
    bytesField(1, hexToBytes(tx.refBlockBytes)),
    bytesField(4, hexToBytes(tx.refBlockHash)),
    numberField(8, BigInt(tx.expiresAtMs)),
    encodeContract(tx),
    numberField(14, BigInt(tx.builtAtMs)),
    numberField(18, tx.feeLimit),
  );
}

function encodeContract({ owner, contract, to, amount }: TronTx): Uint8Array {
  const [type, name] = contract === null ? [1n, 'TransferContract'] : [31n, 'TriggerSmartContract'];
  const value =
    contract === null
      ? [bytesField(1, hexToBytes(owner)), bytesField(2, hexToBytes(to)), numberField(3, amount)]
      : [
          bytesField(1, hexToBytes(owner)),
          bytesField(2, hexToBytes(contract)),
          bytesField(4, hexToBytes(transferCall({ to, amount }))),
        ];
  const any = [bytesField(1, utf8ToBytes(`${typeUrl}${name}`)), messageField(2, ...value)];
  return messageField(11, numberField(1, type), messageField(2, ...any));
}

/**
 * Reads a transaction as it is built here. Every other member must be absent: a memo, a permission,
 * coins or a TRC-10 token with a call, a second contract.
 *
 * @throws Error when encoding it again does not give the same bytes.
 */
export function decodeTronTx(bytes: Uint8Array): TronTx {
  const fields = readFields(bytes);
  const contract = contractOf(fields);
  if (contract === null) throw new Error('it is no payment');
  const tx: TronTx = {
    refBlockBytes: bytesToHex(bytesOf(fields, 1)),
    refBlockHash: bytesToHex(bytesOf(fields, 4)),
    expiresAtMs: timeOf(fields, 8),
    builtAtMs: timeOf(fields, 14),
    feeLimit: numberOf(fields, 18),
    ...readPayment(contract),
  };
  const isWhole = tx.refBlockBytes.length === 4 && tx.refBlockHash.length === 16 && tx.feeLimit >= 0n;
  if (!isWhole || Buffer.compare(encodeTronTx(tx), bytes) !== 0) throw new Error('it has another form');
  return tx;
}

function readPayment({ kind, value }: TronContract): Pick<TronTx, 'owner' | 'contract' | 'to' | 'amount'> {
  const owner = addressOf(value, 1);
  const second = addressOf(value, 2);
  if (owner === null || second === null) throw new Error('it has no address');
  if (kind === 'TransferContract') return { owner, contract: null, to: second, amount: numberOf(value, 3) };
  const transfer = readTransferCall(bytesToHex(bytesOf(value, 4)));
  if (transfer === null) throw new Error('it calls another method');
  return { owner, contract: second, ...transfer };
}

/**
 * The one contract of a transaction's raw data; null for a kind that moves neither coins nor tokens
 * here. As the chain reads it: both the number and the name of its type count.
 *
 * @throws Error when the bytes are no message.
 */
export function contractOf(raw: Fields): TronContract | null {
  const [first, second] = listOf(raw, 11);
  if (first === undefined || second !== undefined) return null;
  const contract = readFields(first);
  const parameter = messageOf(contract, 2);
  const url = Buffer.from(bytesOf(parameter, 1)).toString('utf8');
  const kind = kinds.get(numberOf(contract, 1));
  if (kind === undefined || !url.endsWith(`/protocol.${kind}`)) return null;
  return { kind, value: readFields(bytesOf(parameter, 2)) };
}

/** The digits of an address in a field; null for anything else. */
export function addressOf(fields: Fields, field: number): string | null {
  const digits = bytesToHex(bytesOf(fields, field));
  return /^41[0-9a-f]{40}$/.test(digits) ? digits : null;
}

function timeOf(fields: Fields, field: number): number {
  const time = numberOf(fields, field);
  if (time <= 0n || time > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('it has no valid time');
  return Number(time);
}

/** A signed transaction: its id, and its bytes as `wallet/broadcasthex` takes them. */
interface SignedBytes {
  readonly txid: string;
  readonly raw: string;
}

/**
 * Signs a transaction. Deterministic (RFC 6979) and with a low s, so that the same transaction and
 * key always give the same bytes.
 */
export function signTronTx(tx: TronTx, privateKey: Uint8Array): SignedBytes {
  const raw = encodeTronTx(tx);
  const digest = sha256(raw);
  const signed = secp256k1.sign(digest, privateKey, { prehash: false, lowS: true, format: 'recovered' });
  const { recovery } = secp256k1.Signature.fromBytes(signed, 'recovered');
  const signature = joinBytes(signed.subarray(1), Uint8Array.of(27 + (recovery ?? 0)));
  return { txid: bytesToHex(digest), raw: bytesToHex(joinBytes(messageField(1, raw), messageField(2, signature))) };
}

/**
 * Reads the sender, the txid and the contents of signed bytes.
 *
 * @throws Error when they are no signed transaction of the kind that is built here.
 */
export function openTronTx(hex: string): { readonly txid: string; readonly sender: string; readonly tx: TronTx } {
  const bytes = hexToBytes(hex);
  const fields = readFields(bytes);
  const raw = bytesOf(fields, 1);
  const signature = bytesOf(fields, 2);
  const again = joinBytes(messageField(1, raw), messageField(2, signature));
  if (signature.length !== 65 || bytesToHex(again) !== hex) throw new Error('it is not signed, or has another form');
  const digest = sha256(raw);
  const recovered = joinBytes(Uint8Array.of((signature[64] ?? 0) - 27), signature.subarray(0, 64));
  const key = secp256k1.Signature.fromBytes(recovered, 'recovered').recoverPublicKey(digest);
  return { txid: bytesToHex(digest), sender: encodeTron(key.toBytes(false).subarray(1)), tx: decodeTronTx(raw) };
}

/** The room that the chain keeps for a result, which it counts as bandwidth. */
const resultBytes = 64;
const signatureBytes = 65;
/** Numbers of the greatest length that the fields have in practice. */
const longTimeMs = 4_000_000_000_000;
const longFeeLimit = 15_000_000_000n;

/** Bytes of bandwidth that a signed transaction uses. */
export function bandwidthOf({ raw }: Pick<SignedBytes, 'raw'>): number {
  return raw.length / 2 + resultBytes;
}

/** Bytes of bandwidth that a payment uses once it is signed, at most. */
export function mostBandwidthOf(payment: Pick<TronTx, 'owner' | 'contract' | 'to' | 'amount'>): number {
  const raw = encodeTronTx({
    ...payment,
    refBlockBytes: 'ffff',
    refBlockHash: 'f'.repeat(16),
    expiresAtMs: longTimeMs,
    builtAtMs: longTimeMs,
    feeLimit: payment.contract === null ? 0n : longFeeLimit,
  });
  return bandwidthOf({
    raw: bytesToHex(joinBytes(messageField(1, raw), messageField(2, new Uint8Array(signatureBytes)))),
  });
}

/** What an attempt reserves: its sender and itself. On the chain it excludes nothing. */
export function reservation(sender: string, { id, attempt }: Pick<PaymentIntent, 'id' | 'attempt'>): Reservation {
  return `attempt:${sender}:${id}:${attempt}`;
}

export function isReservedFrom(reserved: Reservation, sender: string): boolean {
  return reserved.startsWith(`attempt:${sender}:`);
}

/**
 * The sender of any transaction, and the coins that it itself sends: by a plain transfer, or with
 * the call of a contract. Null and 0 where it has none, and for bytes that are no transaction.
 */
export function coinOrderOf(raw: Uint8Array): {
  readonly owner: string | null;
  readonly to: string | null;
  readonly coins: bigint;
} {
  try {
    const fields = readFields(raw);
    // The owner is in the first field of all kinds of contracts.
    const value = readFields(bytesOf(messageOf(messageOf(fields, 11), 2), 2));
    const coins = contractOf(fields) === null ? 0n : numberOf(value, 3);
    return { owner: addressOf(value, 1), to: addressOf(value, 2), coins };
  } catch {
    return { owner: null, to: null, coins: 0n };
  }
}

/** Milliseconds over which the expirations of payments are spread. */
export const spreadMs = 300_000;
/** Milliseconds over which the times of payments are spread. The next block is 3 s later. */
const builtSpreadMs = 1_000;

/**
 * Milliseconds to add to the two times of an attempt. Without them two equal payments on top of one
 * block would have the same bytes, and so the same id.
 */
export function timeSpreads(attempt: Reservation): { readonly expiryMs: number; readonly builtMs: number } {
  const digest = Buffer.from(sha256(utf8ToBytes(attempt)));
  return { expiryMs: digest.readUIntBE(0, 6) % spreadMs, builtMs: digest.readUIntBE(6, 6) % builtSpreadMs };
}

/** The reference of a transaction to a block, from the block's height and id. */
export function referenceTo(block: {
  readonly height: number;
  readonly hash: string;
}): Pick<TronTx, 'refBlockBytes' | 'refBlockHash'> {
  return {
    refBlockBytes: (block.height & 0xffff).toString(16).padStart(4, '0'),
    refBlockHash: block.hash.slice(16, 32),
  };
}

/**
 * The digits of an address in base58.
 *
 * @throws RangeError for any other text.
 */
export function digitsOf(address: string): string {
  const digits = tronDigits(address);
  if (digits === null) throw new RangeError('this is no address of Tron');
  return digits;
}
