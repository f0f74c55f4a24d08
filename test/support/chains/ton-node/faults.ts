import { beginCell } from '@ton/core';
import type { RpcFaults } from '../rpc-server.ts';
import { isObject, mapped } from '../xrp-node/json.ts';
import type { Executed, TonBlocks } from './blocks.ts';
import type { Json } from './json.ts';
import type { Hash64 } from './names.ts';

/** How one server misbehaves: an empty object is an honest one. A test changes it at any time. */
export interface TonFaults extends RpcFaults {
  /** Serves another network's blocks and accounts. */
  chain?: TonBlocks;
  /** Its newest block is this many behind. Set later, its head goes back. */
  lag?: number;
  /** Its newest block stays this one. */
  stuckAt?: number;
  /** Lists transactions only up to this many blocks below the head that it tells. */
  behind?: number;
  /** Has no block below this one, nor transactions. */
  oldest?: number;
  /** Has no block from the first to the second of these, but does not say so. */
  gap?: readonly [number, number];
  /** Lacks these transactions in every list. */
  lacks?: readonly Hash64[] | ((one: Executed) => boolean);
  /** Does not find these messages by their hash. */
  forgets?: readonly Hash64[];
  /** Lists each transaction twice, in another order than asked, or with one of another account. */
  list?: 'twice' | 'unsorted' | 'foreign' | 'endless';
  /** The hash of each block is another one than its peers tell. */
  fork?: boolean;
  /** A part of each listed transaction that does not fit to the rest. */
  transaction?: TransactionFault;
  /**
   * What it answers to an external message, and whether it takes it all the same. Without `status`
   * it answers honestly. `reaches: false` accepts and loses it.
   */
  send?: { readonly status?: number; readonly error?: string; readonly reaches?: boolean };
  /** What a slice in the result of a method is called; both are met. */
  slices?: 'cell' | 'slice';
  /** Refuses requests without this key. */
  apiKey?: string;
  /** Answers later, in milliseconds. */
  delayMs?: number;
  /** How numbers of answers are false. */
  numbers?: 'text' | 'float' | 'negative' | 'huge';
  /** Texts of answers hold control characters, quotes and markup, or a million characters. */
  texts?: 'odd' | 'long';
  /** Answers with this status and an error in the form of the index. */
  error?: number;
  /** Changes an answer. */
  rewrite?: (method: string, result: Json) => unknown;
}

/** `future` puts a transaction into a block above the head. The others change the named member. */
export type TransactionFault =
  | 'hash'
  | 'prev'
  | 'lt'
  | 'account'
  | 'seqno'
  | 'future'
  | 'value'
  | 'source'
  | 'destination'
  | 'body'
  | 'body_hash'
  | 'message_hash'
  | 'bounced'
  | 'success'
  | 'no_in_msg';

/** Members that are numbers, or texts of numbers. */
const numeric = new Set([
  ...['seqno', 'mc_block_seqno', 'now', 'lt', 'prev_trans_lt', 'total_fees', 'gen_utime', 'start_lt', 'end_lt'],
  ...['value', 'fwd_fee', 'created_lt', 'created_at', 'exit_code', 'balance', 'last_transaction_lt', 'gas_used'],
  ...['result_code', 'workchain', 'opcode'],
]);
/** Members whose text a server or a stranger may choose. */
const free = new Set(['comment', 'error', 'finality', 'type', 'status', 'reason', 'status_change', 'orig_status']);

/** An answer with the faults that change its content. */
export function falsified(faults: TonFaults, method: string, result: Json): unknown {
  const { numbers, texts, rewrite } = faults;
  let changed: unknown = result;
  if (numbers) changed = mapped(changed, (name, value) => (numeric.has(name) ? falseNumber(value, numbers) : value));
  if (texts) changed = mapped(changed, (name, value) => (free.has(name) ? oddText(texts) : value));
  return rewrite && isObject(changed) ? rewrite(method, changed) : changed;
}

function falseNumber(value: unknown, how: NonNullable<TonFaults['numbers']>): unknown {
  if (value === null || value === undefined) return value;
  const isText = typeof value === 'string';
  const falseValues = {
    text: isText ? Number(value) : String(value),
    float: isText ? `${value}.5` : Number(value) + 0.5,
    negative: isText ? `-${value}` : -Number(value) - 1,
    huge: isText ? '9'.repeat(60) : 2n ** 63n - 1n,
  };
  return falseValues[how];
}

function oddText(kind: 'odd' | 'long'): string {
  return kind === 'long' ? 'x'.repeat(1_000_000) : `"</script>\u0000\u001b[31m\u202e\ud800'; DROP TABLE payments; --`;
}

const otherHash = Buffer.alloc(32, 0xab).toString('base64');
const otherAccount = `0:${'AB'.repeat(32)}`;
const otherBody = beginCell().storeUint(0, 32).storeStringTail('forged').endCell().toBoc().toString('base64');

/** A listed transaction with one member that is false. */
export function falseTransaction(one: Json, fault: TransactionFault, headSeqno: number): Json {
  const message = isObject(one.in_msg) ? one.in_msg : {};
  const content = isObject(message.message_content) ? message.message_content : {};
  const description = isObject(one.description) ? one.description : {};
  const inMessage = (changes: Json): Json => ({ ...one, in_msg: { ...message, ...changes } });
  const changes: Record<TransactionFault, () => Json> = {
    hash: () => ({ ...one, hash: otherHash }),
    prev: () => ({ ...one, prev_trans_hash: otherHash }),
    lt: () => ({ ...one, lt: String(BigInt(String(one.lt)) + 1n) }),
    account: () => ({ ...one, account: otherAccount }),
    seqno: () => ({ ...one, mc_block_seqno: Number(one.mc_block_seqno) - 1 }),
    future: () => ({ ...one, mc_block_seqno: headSeqno + 100 }),
    value: () => inMessage({ value: message.value === null ? null : String(BigInt(String(message.value)) + 1n) }),
    source: () => inMessage({ source: message.source === null ? null : otherAccount }),
    destination: () => inMessage({ destination: otherAccount }),
    body: () => inMessage({ message_content: { ...content, body: otherBody } }),
    body_hash: () => inMessage({ message_content: { ...content, hash: otherHash } }),
    message_hash: () => inMessage({ hash: otherHash }),
    bounced: () => inMessage({ bounced: message.bounced !== true }),
    success: () => ({ ...one, description: { ...description, aborted: description.aborted !== true } }),
    no_in_msg: () => ({ ...one, in_msg: null }),
  };
  return changes[fault]();
}
