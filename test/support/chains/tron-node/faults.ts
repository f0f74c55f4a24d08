import type { TronBlocks } from './blocks.ts';
import type { TronLog } from './vm.ts';

/** How one node misbehaves: an empty object is an honest node. A test changes it at any time. */
export interface TronFaults {
  /** Serves another chain. */
  chain?: TronBlocks;
  /** Its head is this many blocks behind. */
  lag?: number;
  /** Its head stays at this block. */
  stuckAt?: number;
  /** Its final head is this many blocks ahead of the chain's, or behind when it is below 0. */
  solidShift?: number;
  /** Knows no block below this one, and none of their transactions. */
  forgetsBelow?: number;
  /**
   * The list of results of a block: the last entry is missing, or is there twice. Or one of
   * another block is added, all are of the block before, all name the next block, or none is there.
   */
  infos?: 'lack' | 'repeat' | 'foreign' | 'other-block' | 'misnumbered' | 'none';
  /** A part of each block that does not fit to the rest. */
  block?: 'root' | 'id' | 'parent' | 'signature' | 'txid' | 'raw';
  /** Changes each log; null leaves it out. */
  log?: (log: TronLog) => TronLog | null;
  /** Calls that failed show the log of the transfer that they did not make. */
  logsOfFailures?: boolean;
  /**
   * What a node answers to a broadcast, and after the dash whether the transaction reaches the
   * chain all the same.
   */
  broadcast?: BroadcastFault;
  /** Transactions that wait are shown as if a block held them. */
  pool?: 'as-mined';
  /** No `estimateenergy`, as most nodes are set. */
  estimates?: false;
  /** Units of energy that a busy contract costs more. */
  penalty?: bigint;
  /** Numbers of 63 bits where a test least expects them. */
  huge?: boolean;
  /** Texts of answers hold control characters, quotes and markup, or a million characters. */
  texts?: 'odd' | 'long';
  /** How calls fail altogether; only those whose path fits to `paths`. */
  transport?: 'busy' | 'lite' | 'half' | 'empty' | 429 | 503;
  paths?: RegExp;
  /** Is called before each answer: to change the chain between two calls. */
  before?: (path: string) => Promise<void> | void;
  /** Changes an answer. */
  rewrite?: (path: string, answer: unknown) => unknown;
}

export type BroadcastFault =
  | 'dropped'
  | 'dup-dropped'
  | 'dup-taken'
  | 'expired-taken'
  | 'error-taken'
  | 'SERVER_BUSY'
  | 'NO_CONNECTION'
  | 'BLOCK_UNSOLIDIFIED';

/** What a node says to a broadcast, and whether the transaction reaches the others. */
export const broadcastFaults: Readonly<Record<BroadcastFault, { code: string; isTaken: boolean }>> = {
  dropped: { code: 'SUCCESS', isTaken: false },
  'dup-dropped': { code: 'DUP_TRANSACTION_ERROR', isTaken: false },
  'dup-taken': { code: 'DUP_TRANSACTION_ERROR', isTaken: true },
  'expired-taken': { code: 'TRANSACTION_EXPIRATION_ERROR', isTaken: true },
  'error-taken': { code: 'OTHER_ERROR', isTaken: true },
  SERVER_BUSY: { code: 'SERVER_BUSY', isTaken: false },
  NO_CONNECTION: { code: 'NO_CONNECTION', isTaken: false },
  BLOCK_UNSOLIDIFIED: { code: 'BLOCK_UNSOLIDIFIED', isTaken: false },
};

const most = 2n ** 63n - 1n;

/** An answer with the faults that change its content. */
export function falsified(faults: TronFaults, path: string, answer: unknown): unknown {
  let changed = answer;
  if (faults.block && isObject(changed) && 'blockID' in changed) changed = falseBlock(changed, faults.block);
  if (faults.huge) changed = mapped(changed, (name, value) => (isNumeric(value) && huge.has(name) ? most : value));
  const { texts } = faults;
  if (texts) changed = mapped(changed, (name, value) => (free.has(name) ? oddText(texts) : value));
  return faults.rewrite ? faults.rewrite(path, changed) : changed;
}

/** Members that an honest chain never has near 2^63. */
const huge = new Set(['fee', 'net_fee', 'energy_fee', 'energy_used', 'energy_required', 'callValue', 'balance']);
/** Members whose text anyone may choose. */
const free = new Set(['message', 'resMessage', 'note', 'asset_name', 'Error']);

function oddText(kind: 'odd' | 'long'): string {
  return kind === 'long' ? 'x'.repeat(1_000_000) : `"</script>\u0000\u001b[31m\u202e\ud800'; DROP TABLE payments; --`;
}

function falseBlock(block: Record<string, unknown>, part: NonNullable<TronFaults['block']>): unknown {
  if (part === 'id') return { ...block, blockID: flipped(String(block.blockID)) };
  const name = {
    root: 'txTrieRoot',
    parent: 'parentHash',
    signature: 'witness_signature',
    txid: 'txID',
    raw: 'raw_data_hex',
  }[part];
  return mapped(block, (member, value) => (member === name ? flipped(String(value)) : value));
}

/** The same digits with another last one. */
function flipped(digits: string): string {
  return digits.slice(0, -1) + (digits.endsWith('0') ? '1' : '0');
}

/** A copy with each member changed, also of members of members. */
function mapped(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(name, mapped(one, change))]));
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
