import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';

/** The header of a block, without its contents. */
export interface EvmHeader {
  readonly ref: BlockRef;
  /** In seconds since 1970. */
  readonly timestamp: number;
  /** In wei; null on a chain without EIP-1559. */
  readonly baseFee: bigint | null;
}

export interface EvmBlock extends EvmHeader {
  readonly transactions: readonly EvmBlockTx[];
  /**
   * Whether the header says that the block has receipts. A bridge may write receipts without a
   * transaction in the list.
   */
  readonly hasReceipts: boolean;
}

/** A transaction of a block. Addresses are in lower case. */
export interface EvmBlockTx {
  readonly txid: string;
  readonly from: string;
  /** Null when it creates a contract. */
  readonly to: string | null;
  readonly nonce: bigint;
  readonly value: bigint;
}

/** A transaction in the mempool. */
export interface EvmWaitingTx extends EvmBlockTx {
  /** In lower case; '0x' for none. */
  readonly data: string;
  /** The most that it pays for its gas, in wei. A rollup's fee for the first layer comes on top. */
  readonly mostFee: bigint;
}

/** The result of a transaction in the block that holds it. */
export interface EvmReceipt {
  readonly txid: string;
  /** From and to as in the transaction, in lower case. */
  readonly from: string;
  readonly to: string | null;
  readonly height: number;
  readonly blockHash: string;
  readonly success: boolean;
  /** The logs of the transaction, in the order in which they were written. */
  readonly logs: readonly unknown[];
  /** Null when the node does not tell it. */
  readonly fee: bigint | null;
}

export interface EvmLog {
  readonly topics: readonly string[];
  readonly data: string;
}

export const zeroAddress = `0x${'0'.repeat(40)}`;

/** Root of an empty list: the Keccak hash of the RLP of an empty string. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/**
 * Reads a whole number below 2^256.
 * https://ethereum.org/en/developers/docs/apis/json-rpc/#quantities-encoding
 */
export function asQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) throw unsound(`no number as ${what}`);
  return BigInt(value);
}

/** Reads a number that counts or measures time, and never an amount. */
function asCount(value: unknown, what: string): number {
  const count = asQuantity(value, what);
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) throw unsound(`a ${what} out of range`);
  return Number(count);
}

/**
 * The largest block height that is accepted. No chain has as many blocks, and it fits the
 * database's integer type.
 */
const maxHeight = 2 ** 31 - 1;
/** The end of the year 9999, in seconds: the last date that can be formatted. */
const maxTimestamp = 253_402_300_799;

function asHeight(value: unknown, what: string): number {
  const height = asCount(value, what);
  if (height > maxHeight) throw unsound(`a ${what} out of range`);
  return height;
}

/** Reads 32 bytes, in lower case. */
export function asHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) throw unsound(`no hash as ${what}`);
  return value.toLowerCase();
}

/** Reads 20 bytes, in lower case. */
export function asAddress(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) throw unsound(`no address as ${what}`);
  return value.toLowerCase();
}

/** Reads a recipient; null for a transaction that creates a contract. */
function asRecipient(value: unknown): string | null {
  return value === null || value === undefined ? null : asAddress(value, 'recipient');
}

/** Reads whole bytes, in lower case. */
export function asBytes(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(value)) throw unsound(`no bytes as ${what}`);
  return value.toLowerCase();
}

/** Reads the requested header; null when the chain has no such block. */
export function readHeader(answer: unknown, height: number | null): EvmHeader | null {
  if (answer === null) return null;
  const block = asObject(answer, 'block');
  const timestamp = asCount(block.timestamp, 'time of a block');
  if (timestamp > maxTimestamp) throw unsound('a time of a block out of range');
  const ref: BlockRef = {
    height: asHeight(block.number, 'number of a block'),
    hash: asHash(block.hash, 'hash of a block'),
    parent: asHash(block.parentHash, 'hash of a parent'),
    timeMs: timestamp * 1_000,
  };
  if (height !== null && ref.height !== height) throw unsound(`block ${ref.height} when asked for block ${height}`);
  return {
    ref,
    timestamp,
    baseFee: block.baseFeePerGas === undefined ? null : asQuantity(block.baseFeePerGas, 'base fee'),
  };
}

/** Reads the requested block, with its transactions; null when the chain has none. */
export function readBlock(answer: unknown, height: number): EvmBlock | null {
  const header = readHeader(answer, height);
  if (header === null) return null;
  const block = asObject(answer, 'block');
  const transactions = asList(block.transactions, 'transactions').map((item) => {
    const tx = asObject(item, 'transaction');
    if (asHash(tx.blockHash, 'block of a transaction') !== header.ref.hash) {
      throw unsound('a transaction of another block');
    }
    return readBlockTx(tx);
  });
  if (new Set(transactions.map(({ txid }) => txid)).size !== transactions.length) throw unsound('a transaction twice');
  if (transactions.length === 0 && asHash(block.transactionsRoot, 'root of transactions') !== emptyRoot) {
    throw unsound(`block ${height} without its transactions`);
  }
  const { receiptsRoot: root = emptyRoot } = block;
  const hasReceipts = transactions.length > 0 || asHash(root, 'root of receipts') !== emptyRoot;
  return { ...header, transactions, hasReceipts };
}

export function readBlockTx(tx: Record<string, unknown>): EvmBlockTx {
  return {
    txid: asHash(tx.hash, 'hash of a transaction'),
    from: asAddress(tx.from, 'sender'),
    to: asRecipient(tx.to),
    nonce: asQuantity(tx.nonce, 'nonce'),
    value: asQuantity(tx.value, 'value'),
  };
}

export function readWaitingTx(tx: Record<string, unknown>): EvmWaitingTx {
  return {
    ...readBlockTx(tx),
    data: asBytes(tx.input, 'data of a transaction'),
    mostFee: asQuantity(tx.gas, 'gas') * asQuantity(tx.maxFeePerGas ?? tx.gasPrice, 'price of gas'),
  };
}

export function readReceipt(answer: unknown): EvmReceipt {
  const receipt = asObject(answer, 'receipt');
  const status = asQuantity(receipt.status, 'status');
  if (status > 1n) throw unsound('a status that is neither 0 nor 1');
  return {
    txid: asHash(receipt.transactionHash, 'transaction of a receipt'),
    from: asAddress(receipt.from, 'sender of a receipt'),
    to: asRecipient(receipt.to),
    height: asHeight(receipt.blockNumber, 'height of a receipt'),
    blockHash: asHash(receipt.blockHash, 'block of a receipt'),
    success: status === 1n,
    logs: asList(receipt.logs, 'logs'),
    fee: readFee(receipt),
  };
}

/**
 * The fee of a transaction. Rollups of the OP stack also charge a fee for the first layer.
 * https://docs.optimism.io
 */
function readFee(receipt: Record<string, unknown>): bigint | null {
  if (receipt.effectiveGasPrice === undefined || receipt.gasUsed === undefined) return null;
  const execution =
    asQuantity(receipt.gasUsed, 'used gas') * asQuantity(receipt.effectiveGasPrice, 'effective price of gas');
  const hasL1Fee = receipt.l1Fee !== undefined && receipt.l1Fee !== null;
  return hasL1Fee ? execution + asQuantity(receipt.l1Fee, 'fee of the first layer') : execution;
}

/** The contract that wrote a log, in lower case. */
export function contractOfLog(log: unknown): string {
  return asAddress(asObject(log, 'log').address, 'contract of a log');
}

export function readLog(answer: unknown): EvmLog {
  const log = asObject(answer, 'log');
  if (log.removed === true) throw unsound('a log that was removed');
  return {
    topics: asList(log.topics, 'topics').map((topic) => asHash(topic, 'topic')),
    data: asBytes(log.data, 'data of a log'),
  };
}
