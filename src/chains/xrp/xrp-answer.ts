import { hexToBytes } from '@noble/hashes/utils.js';
import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { maxDrops, maxUint32, sha512Half } from './xrp-tx.ts';

/** A ledger that the network validated, so that no later one takes it back. */
export interface XrpLedger {
  /** The hash is 64 hexadecimal digits in capitals, and follows from the header. */
  readonly ref: BlockRef & { readonly timeMs: number };
  readonly transactions: readonly XrpLedgerTx[];
}

/** A transaction of a validated ledger. Its contents are not checked against a hash. */
export interface XrpLedgerTx {
  /** In capitals. */
  readonly txid: string;
  readonly tx: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** The ledger counts seconds from the beginning of the year 2000. */
const epochSec = 946_684_800;
/** The largest index that is accepted. It fits the database's integer type. */
const maxIndex = 2 ** 31 - 1;

/** Reads a whole number. Numbers of answers are text. */
function asWhole(value: unknown, most: bigint, what: string): bigint {
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(value)) throw unsound(`no whole number as ${what}`);
  const number = BigInt(value);
  if (number > most) throw unsound(`a ${what} out of range`);
  return number;
}

export function asUint32(value: unknown, what: string): number {
  return Number(asWhole(value, BigInt(maxUint32), what));
}

export function asIndex(value: unknown, what: string): number {
  return Number(asWhole(value, BigInt(maxIndex), what));
}

export function asDrops(value: unknown, what: string): bigint {
  return asWhole(value, maxDrops, what);
}

/** Reads a time of the ledger as milliseconds since 1970. */
export function timeOf(value: unknown): number {
  return (epochSec + asUint32(value, 'close time of a ledger')) * 1_000;
}

/** Reads 32 bytes, in capitals. */
export function asHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9A-Fa-f]{64}$/.test(value)) throw unsound(`no hash as ${what}`);
  return value.toUpperCase();
}

/** Reads a word, such as the name of a result. */
export function asWord(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[A-Za-z_0-9]{1,64}$/.test(value)) throw unsound(`no word as ${what}`);
  return value;
}

/**
 * Reads the requested ledger with its transactions.
 *
 * @param index Null for the newest one.
 * @throws ChainError for one that is not validated, or whose hash does not follow from its header.
 */
export function readLedger(answer: unknown, index: number | null): XrpLedger {
  const { ledger: inner, validated } = asObject(answer, 'ledger');
  if (validated !== true) throw unsound('a ledger that is not validated');
  const ledger = asObject(inner, 'ledger');
  const header = readHeader(ledger);
  if (index !== null && header.height !== index) throw unsound(`ledger ${header.height} when asked for ${index}`);
  const transactions = ledger.transactions === undefined ? [] : asList(ledger.transactions, 'transactions');
  const read = transactions.map(readLedgerTx);
  if (new Set(read.map(({ txid }) => txid)).size !== read.length) throw unsound('a transaction twice');
  return { ref: header, transactions: read };
}

/**
 * Reads a header and recomputes its hash.
 * https://xrpl.org/docs/references/protocol/ledger-data/ledger-header
 */
function readHeader(ledger: Readonly<Record<string, unknown>>): XrpLedger['ref'] {
  const height = asIndex(ledger.ledger_index, 'index of a ledger');
  const parent = asHash(ledger.parent_hash, 'hash of a parent');
  const hash = asHash(ledger.ledger_hash, 'hash of a ledger');
  const fixed = Buffer.alloc(16);
  fixed.write('LWR\0', 0, 'latin1');
  fixed.writeUInt32BE(height, 4);
  fixed.writeBigUInt64BE(asDrops(ledger.total_coins, 'sum of all coins'), 8);
  const times = Buffer.alloc(10);
  times.writeUInt32BE(asUint32(ledger.parent_close_time, 'close time of a parent'), 0);
  times.writeUInt32BE(asUint32(ledger.close_time, 'close time of a ledger'), 4);
  times.writeUInt8(asByte(ledger.close_time_resolution, 'resolution of close times'), 8);
  times.writeUInt8(asByte(ledger.close_flags, 'flags of a ledger'), 9);
  const found = sha512Half(
    fixed,
    hexToBytes(parent.toLowerCase()),
    hexToBytes(asHash(ledger.transaction_hash, 'root of transactions').toLowerCase()),
    hexToBytes(asHash(ledger.account_hash, 'root of accounts').toLowerCase()),
    times,
  );
  if (Buffer.from(found).toString('hex').toUpperCase() !== hash) {
    throw unsound('a ledger whose hash does not follow from its header');
  }
  return { height, hash, parent, timeMs: timeOf(ledger.close_time) };
}

function asByte(value: unknown, what: string): number {
  return Number(asWhole(value, 255n, what));
}

function readLedgerTx(answer: unknown): XrpLedgerTx {
  const { hash, tx_json: tx, meta } = asObject(answer, 'transaction');
  return {
    txid: asHash(hash, 'id of a transaction'),
    tx: asObject(tx, 'transaction'),
    meta: asObject(meta, 'result of a transaction'),
  };
}
