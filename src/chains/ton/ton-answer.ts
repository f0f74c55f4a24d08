import { bytesToHex } from '@noble/hashes/utils.js';
import { Address, Cell } from '@ton/core';
import { asList, asObject, unsound } from '../nodes/node-answer.ts';
import type { BlockRef } from '../port/chain-adapter.ts';
import { textOf } from './ton-highload.ts';

/** A block of the masterchain. */
export interface TonBlock {
  /** The hash is that of the block's root, in hexadecimal. Its parent is not told. */
  readonly ref: BlockRef & { readonly timeMs: number };
  /** The logical time with which it begins. */
  readonly startLt: bigint;
  /** The number of the network. */
  readonly globalId: number;
}

export interface TonMessage {
  /** In hexadecimal. */
  readonly hash: string;
  /** Null for a message from outside. */
  readonly source: string | null;
  /** Null for a message to the outside. */
  readonly destination: string | null;
  /** Nanotons. */
  readonly value: bigint;
  /** What the sender paid for its way, in addition to the fees of the transaction. */
  readonly sentFee: bigint;
  readonly bounced: boolean;
  readonly body: Cell | null;
}

/** A transaction of one account. Addresses are in the form that the database keeps. */
export interface TonTransaction {
  readonly account: string;
  /** In hexadecimal. */
  readonly hash: string;
  readonly lt: bigint;
  readonly previousHash: string;
  readonly previousLt: bigint;
  /** Number of the block of the masterchain that made it final. */
  readonly height: number;
  readonly totalFees: bigint;
  /** The contract did not run, or its effects were undone. */
  readonly aborted: boolean;
  readonly inMessage: TonMessage | null;
  readonly outMessages: readonly TonMessage[];
}

export interface TonAccount {
  readonly address: string;
  readonly balance: bigint;
  /** Whether its contract is deployed. */
  readonly isActive: boolean;
  readonly code: Cell | null;
  readonly data: Cell | null;
  /** 0 for an account without a transaction. */
  readonly lastLt: bigint;
  readonly lastHash: string;
}

/** The largest block height that is accepted. It fits the database's integer type. */
const maxHeight = 2 ** 31 - 1;
/** The end of the year 9999: the last date that can be formatted. */
const maxTimeSec = 253_402_300_799;
/** All coins of the chain are less than this. */
const maxAmount = 2n ** 64n - 1n;

/** Reads a whole number from 0, which an answer may hold as text. */
export function asNumber(value: unknown, what: string, most: bigint = maxAmount): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(text)) throw unsound(`no whole number as ${what}`);
  const number = BigInt(text);
  if (number > most) throw unsound(`a ${what} out of range`);
  return number;
}

/** Reads a whole number of 32 bits with its sign. */
function asSigned(value: unknown, what: string): number {
  if (!/^-?\d{1,10}$/.test(String(value))) throw unsound(`no whole number as ${what}`);
  return Number(value);
}

/** A number that is absent, or null, where it does not apply. */
function asOptionalNumber(value: unknown, what: string): bigint {
  return value === undefined || value === null ? 0n : asNumber(value, what);
}

/** Reads 32 bytes, which nodes write in base64 of either alphabet. Returns hexadecimal. */
export function asHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length > 64) throw unsound(`no hash as ${what}`);
  if (/^[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  const bytes = Buffer.from(value, 'base64');
  if (!/^[\w+/-]{43}=?$/.test(value) || bytes.length !== 32) throw unsound(`no hash as ${what}`);
  return bytesToHex(bytes);
}

/** Reads an address. Null where it is absent, as that of the outside is. */
export function asAddress(value: unknown, what: string): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string' || value.length > 80) throw unsound(`no address as ${what}`);
  try {
    return textOf(Address.parse(value));
  } catch {
    throw unsound(`no address as ${what}`);
  }
}

function asOwnAddress(value: unknown, what: string): string {
  const address = asAddress(value, what);
  if (address === null) throw unsound(`no address as ${what}`);
  return address;
}

/** Reads one cell; null where it is absent. */
export function asCell(value: unknown, what: string): Cell | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') throw unsound(`no cell as ${what}`);
  try {
    return Cell.fromBase64(value);
  } catch {
    throw unsound(`no cell as ${what}`);
  }
}

function asFlag(value: unknown, what: string): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean') throw unsound(`no yes or no as ${what}`);
  return value === true;
}

export function readTonBlock(value: unknown): TonBlock {
  const block = asObject(value, 'block');
  const { workchain, seqno, root_hash, gen_utime, start_lt, global_id } = block;
  if (asSigned(workchain, 'workchain') !== -1) throw unsound('a block of another chain than the masterchain');
  const height = Number(asNumber(seqno, 'number of a block', BigInt(maxHeight)));
  const timeSec = Number(asNumber(gen_utime, 'time of a block', BigInt(maxTimeSec)));
  return {
    ref: { height, hash: asHash(root_hash, 'hash of a block'), parent: '', timeMs: timeSec * 1_000 },
    startLt: asNumber(start_lt, 'logical time of a block'),
    globalId: asSigned(global_id, 'number of a network'),
  };
}

/** Reads the block that was asked for; null when the index has none of this number. */
export function readBlockAt(answer: unknown, height: number): TonBlock | null {
  const [first] = asList(asObject(answer, 'blocks').blocks, 'blocks');
  if (first === undefined) return null;
  const block = readTonBlock(first);
  if (block.ref.height !== height) throw unsound(`block ${block.ref.height} when asked for block ${height}`);
  return block;
}

/** Transactions that the masterchain does not have yet are left out. */
export function readTransactions(answer: unknown): TonTransaction[] {
  return asList(asObject(answer, 'transactions').transactions, 'transactions').flatMap((item) => {
    const tx = asObject(item, 'transaction');
    return tx.mc_block_seqno === null || tx.mc_block_seqno === undefined ? [] : [readTransaction(tx)];
  });
}

function readTransaction(tx: Readonly<Record<string, unknown>>): TonTransaction {
  const description = asObject(tx.description, 'description of a transaction');
  const inMessage = tx.in_msg === null || tx.in_msg === undefined ? null : readMessage(tx.in_msg);
  const account = asOwnAddress(tx.account, 'account of a transaction');
  const outMessages = asList(tx.out_msgs ?? [], 'messages of a transaction').map(readMessage);
  if (inMessage !== null && inMessage.destination !== account) throw unsound('a message to another account');
  if (outMessages.some(({ source }) => source !== account)) throw unsound('a message from another account');
  return {
    account,
    hash: asHash(tx.hash, 'hash of a transaction'),
    lt: asNumber(tx.lt, 'logical time of a transaction'),
    previousHash: asHash(tx.prev_trans_hash, 'hash of an earlier transaction'),
    previousLt: asNumber(tx.prev_trans_lt, 'logical time of an earlier transaction'),
    height: Number(asNumber(tx.mc_block_seqno, 'block of a transaction', BigInt(maxHeight))),
    totalFees: asNumber(tx.total_fees, 'fees of a transaction'),
    aborted: asFlag(description.aborted, 'end of a transaction'),
    inMessage,
    outMessages,
  };
}

function readMessage(value: unknown): TonMessage {
  const message = asObject(value, 'message');
  const content = message.message_content === null ? null : asObject(message.message_content, 'body of a message');
  const body = content === null ? null : asCell(content.body, 'body of a message');
  if (body !== null && content !== null && bytesToHex(body.hash()) !== asHash(content.hash, 'hash of a body')) {
    throw unsound('a body whose hash is another one');
  }
  return {
    hash: asHash(message.hash, 'hash of a message'),
    source: asAddress(message.source, 'source of a message'),
    destination: asAddress(message.destination, 'destination of a message'),
    value: asOptionalNumber(message.value, 'value of a message'),
    sentFee:
      asOptionalNumber(message.fwd_fee, 'fee of a message') + asOptionalNumber(message.ihr_fee, 'fee of a message'),
    bounced: asFlag(message.bounced, 'return of a message'),
    body,
  };
}

/** The accounts that were asked for, by address. One that does not exist may be absent. */
export function readAccounts(answer: unknown, asked: readonly string[]): ReadonlyMap<string, TonAccount> {
  const found = new Map<string, TonAccount>();
  for (const item of asList(asObject(answer, 'accounts').accounts, 'accounts')) {
    const account = asObject(item, 'account');
    const address = asOwnAddress(account.address, 'address of an account');
    if (!asked.includes(address)) throw unsound('an account that was not asked for');
    if (found.has(address)) throw unsound('an account twice');
    found.set(address, {
      address,
      balance: asOptionalNumber(account.balance, 'balance'),
      isActive: account.status === 'active',
      code: asCell(account.code_boc, 'code of an account'),
      data: asCell(account.data_boc, 'data of an account'),
      lastLt: asOptionalNumber(account.last_transaction_lt, 'logical time of an account'),
      lastHash:
        account.last_transaction_hash === null || account.last_transaction_hash === undefined
          ? ''
          : asHash(account.last_transaction_hash, 'hash of the last transaction'),
    });
  }
  return found;
}

/** One value of the answer of a contract. */
export type StackValue = bigint | Cell;

/** What a contract's method answered; null when it failed, as that of no contract does. */
export function readStack(answer: unknown): readonly StackValue[] | null {
  const { exit_code, stack } = asObject(answer, 'answer of a contract');
  const exit = asSigned(exit_code, 'end of a method');
  if (exit !== 0 && exit !== 1) return null;
  return asList(stack, 'answer of a contract').map((item) => {
    const { type, value } = asObject(item, 'value of a contract');
    if (type === 'num') return asInteger(value);
    if (type !== 'cell' && type !== 'slice') throw unsound('a value of another kind');
    const cell = asCell(value, 'value of a contract');
    if (cell === null) throw unsound('no cell as value of a contract');
    return cell;
  });
}

function asInteger(value: unknown): bigint {
  if (typeof value !== 'string' || !/^-?0x[0-9a-fA-F]{1,64}$/.test(value)) throw unsound('no number of a contract');
  return value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value);
}
