import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { type BlockHeader, blockIdOf, type ProvedTx, rootOf, txidOf } from './tron-proof.ts';

/** The header of a block, whose id follows from it. */
export interface TronHeader {
  /** The hash is the block's id: 64 hexadecimal digits in lower case, without '0x'. */
  readonly ref: BlockRef & { readonly timeMs: number };
}

export interface TronBlock extends TronHeader {
  readonly transactions: readonly TronBlockTx[];
  /** Whether the transactions and their results give the root that the header names. */
  readonly hasRoot: boolean;
}

export interface TronBlockTx {
  /** Without '0x', in lower case. */
  readonly txid: string;
  /** The bytes whose hash is the txid. */
  readonly raw: Uint8Array;
  /** How it ended, as the block states it: 'SUCCESS', 'REVERT'. Null when it states nothing. */
  readonly result: string | null;
}

/** The result of a transaction in a block. No hash covers it. */
export interface TronInfo {
  readonly txid: string;
  readonly height: number;
  readonly timeMs: number;
  /** In sun. */
  readonly fee: bigint;
  /** Whether the chain executed it without effect. */
  readonly isFailed: boolean;
  /** How the call of a contract ended: 'SUCCESS', 'OUT_OF_ENERGY'. Null when none was called. */
  readonly result: string | null;
  /** The logs of the transaction, in the order in which they were written. */
  readonly logs: readonly unknown[];
  readonly internals: readonly unknown[];
}

/** A log of a contract, in lower case and without '0x'. */
interface TronLog {
  readonly topics: readonly string[];
  readonly data: string;
}

const maxInt64 = 2n ** 63n - 1n;
/** The largest block height that is accepted. It fits the database's integer type. */
const maxHeight = 2 ** 31 - 1;
/** The end of the year 9999: the last date that can be formatted. */
const maxTimeMs = 253_402_300_799_999;

/**
 * Reads a whole number of up to 63 bits. Numbers of answers are text where a float would not hold
 * them exactly. A number that is 0 is left out of them.
 */
export function asInt64(value: unknown, what: string): bigint {
  if (value === undefined) return 0n;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value !== 'string' || !/^(0|[1-9]\d{0,18})$/.test(value)) throw unsound(`no whole number as ${what}`);
  const number = BigInt(value);
  if (number > maxInt64) throw unsound(`a ${what} out of range`);
  return number;
}

function asHeight(value: unknown, what: string): number {
  return asBounded(value, maxHeight, what);
}

function asTime(value: unknown, what: string): number {
  return asBounded(value, maxTimeMs, what);
}

function asBounded(value: unknown, most: number, what: string): number {
  const number = asInt64(value, what);
  if (number > BigInt(most)) throw unsound(`a ${what} out of range`);
  return Number(number);
}

/** Reads whole bytes, in lower case. Empty bytes are left out of answers. */
export function asHex(value: unknown, what: string): string {
  if (value === undefined) return '';
  // A pattern for pairs of digits would overflow the stack on a long text.
  const isHex = typeof value === 'string' && value.length % 2 === 0 && !/[^0-9a-fA-F]/.test(value);
  if (!isHex) throw unsound(`no bytes as ${what}`);
  return value.toLowerCase();
}

/** Reads whole bytes. */
function asBytes(value: unknown, what: string): Uint8Array {
  if (value === undefined) return new Uint8Array();
  const bytes = typeof value === 'string' ? Buffer.from(value, 'hex') : null;
  // The decoder stops at what is no pair of digits.
  if (bytes === null || 2 * bytes.length !== (value as string).length) throw unsound(`no bytes as ${what}`);
  return bytes;
}

/** Reads 32 bytes, in lower case. */
export function asHash(value: unknown, what: string): string {
  const hex = asHex(value, what);
  if (hex.length !== 64) throw unsound(`no hash as ${what}`);
  return hex;
}

/** Reads the 21 bytes of an address, in lower case: 42 digits that begin with 41. */
export function asDigits(value: unknown, what: string): string {
  if (!isDigits(value)) throw unsound(`no address as ${what}`);
  return value.toLowerCase();
}

export function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^41[0-9a-fA-F]{40}$/.test(value);
}

/** Reads a word, such as the name of a result; null when it is absent. */
export function asWord(value: unknown, what: string): string | null {
  if (value === undefined) return null;
  // A value that has no name yet is told by its number.
  if (typeof value === 'number') return asInt64(value, what).toString();
  if (typeof value !== 'string' || !/^[A-Za-z_0-9]{1,64}$/.test(value)) throw unsound(`no word as ${what}`);
  return value;
}

export function asBoolean(value: unknown, what: string): boolean {
  if (value !== undefined && typeof value !== 'boolean') throw unsound(`no yes or no as ${what}`);
  return value === true;
}

/** A list; empty when it is absent, as nodes leave out lists without items. */
export function asOptionalList(value: unknown, what: string): readonly unknown[] {
  return value === undefined ? [] : asList(value, what);
}

/** Whether the node has nothing: it then answers an object without members. */
export function isNothing(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && !Array.isArray(answer) && Object.keys(answer).length === 0;
}

/**
 * Reads the requested header; null when the chain has no such block.
 *
 * @throws ChainError when its id does not follow from its contents.
 */
export function readHeader(answer: unknown, height: number | null): TronHeader | null {
  return readWhole(answer, height)?.header ?? null;
}

/** Reads the requested block with its transactions; null when the chain has none. */
export function readBlock(answer: unknown, height: number): TronBlock | null {
  const whole = readWhole(answer, height);
  if (whole === null) return null;
  const list = asOptionalList(asObject(answer, 'block').transactions, 'transactions').map(readTx);
  const ids = new Set(list.map(({ txid }) => txid));
  if (ids.size !== list.length) throw unsound('a transaction twice');
  return { ...whole.header, transactions: list.map(asBlockTx), hasRoot: rootOf(list) === whole.root };
}

/** Reads one transaction, as `gettransactionbyid` tells it. Its id follows from its data. */
export function readBlockTx(answer: unknown): TronBlockTx {
  return asBlockTx(readTx(answer));
}

function asBlockTx({ txid, raw, results }: ReturnType<typeof readTx>): TronBlockTx {
  return { txid, raw, result: results[0]?.contractRet ?? null };
}

function readWhole(answer: unknown, height: number | null): { header: TronHeader; root: string } | null {
  if (isNothing(answer)) return null;
  const { blockID, block_header: outer } = asObject(answer, 'block');
  const raw = asObject(asObject(outer, 'header of a block').raw_data, 'header of a block');
  const contents: BlockHeader = {
    timeMs: asTime(raw.timestamp, 'time of a block'),
    txTrieRoot: asHex(raw.txTrieRoot, 'root of transactions'),
    parent: asHash(raw.parentHash, 'id of a parent'),
    height: asHeight(raw.number, 'number of a block'),
    witnessId: asInt64(raw.witness_id, 'number of a producer'),
    witness: asHex(raw.witness_address, 'producer of a block'),
    version: asInt64(raw.version, 'version of a block'),
    accountStateRoot: asHex(raw.accountStateRoot, 'root of accounts'),
  };
  if (height !== null && contents.height !== height)
    throw unsound(`block ${contents.height} when asked for block ${height}`);
  const hash = asHash(blockID, 'id of a block');
  if (blockIdOf(contents) !== hash) throw unsound('a block whose id does not follow from its header');
  const ref = { height: contents.height, hash, parent: contents.parent, timeMs: contents.timeMs };
  return { header: { ref }, root: contents.txTrieRoot };
}

function readTx(answer: unknown): ProvedTx & { readonly txid: string } {
  const tx = asObject(answer, 'transaction');
  const txid = asHash(tx.txID, 'id of a transaction');
  const raw = asBytes(tx.raw_data_hex, 'data of a transaction');
  if (txidOf(raw) !== txid) throw unsound('a transaction whose id does not follow from its data');
  const signatures = asOptionalList(tx.signature, 'signatures').map((item) => asBytes(item, 'signature'));
  const results = asOptionalList(tx.ret, 'results of a transaction').map((item) => {
    const { fee, ret, contractRet } = asObject(item, 'result of a transaction');
    return {
      fee: asInt64(fee, 'fee of a transaction'),
      ret: asWord(ret, 'result of a transaction'),
      contractRet: asWord(contractRet, 'result of a contract'),
    };
  });
  return { txid, raw, signatures, results };
}

/** Reads the result of one transaction, as `gettransactioninfobyid` tells it. */
export function readInfo(answer: unknown): TronInfo {
  const info = asObject(answer, 'result of a transaction');
  const receipt = info.receipt === undefined ? {} : asObject(info.receipt, 'receipt');
  return {
    txid: asHash(info.id, 'transaction of a result'),
    height: asHeight(info.blockNumber, 'height of a result'),
    timeMs: asTime(info.blockTimeStamp, 'time of a result'),
    fee: asInt64(info.fee, 'fee of a transaction'),
    isFailed: (asWord(info.result, 'result of a transaction') ?? 'SUCESS') !== 'SUCESS',
    result: asWord(receipt.result, 'result of a contract'),
    logs: asOptionalList(info.log, 'logs'),
    internals: asOptionalList(info.internal_transactions, 'internal transactions'),
  };
}

/** The contract that wrote a log: 42 digits, in lower case. Nodes write 40 of them. */
export function contractOfLog(log: unknown): string {
  const hex = asHex(asObject(log, 'log').address, 'contract of a log');
  if (hex.length !== 40) throw unsound('no address as contract of a log');
  return `41${hex}`;
}

export function readLog(answer: unknown): TronLog {
  const log = asObject(answer, 'log');
  return {
    topics: asOptionalList(log.topics, 'topics').map((topic) => asHash(topic, 'topic')),
    data: asHex(log.data, 'data of a log'),
  };
}
