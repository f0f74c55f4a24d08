import type { RpcFaults } from '../rpc-server.ts';
import { isObject, mapped } from '../xrp-node/json.ts';
import type { errorCodes } from './errors.ts';
import type { Hash } from './keys.ts';
import type { StellarLedgers } from './ledgers.ts';
import type { TxCode } from './results.ts';

/** How one server misbehaves: an empty object is an honest one. A test changes it at any time. */
export interface StellarFaults extends RpcFaults {
  /** Serves another network's ledgers and entries. */
  chain?: StellarLedgers;
  /** States this network. */
  passphrase?: string;
  /** States this version of the protocol. */
  protocolVersion?: number;
  /** Its newest ledger is this many behind. */
  lag?: number;
  /** Its newest ledger stays this one. */
  stuckAt?: number;
  /** Has no ledger below this one, as a server that keeps seven days. */
  oldest?: number;
  /** Has no ledger from the first to the second of these, but does not say so. */
  gap?: readonly [number, number];
  /** Says that it is not healthy. */
  unhealthy?: boolean;
  /** Has these transactions in its ledgers, but does not find them by their id. */
  forgets?: readonly Hash[];
  /** A part of each ledger that does not fit to the rest, or another list of transactions. */
  ledger?: LedgerFault;
  /** The time of each transaction, in seconds. */
  createdAt?: number;
  /** What `getTransaction` says of each transaction, true or not. */
  status?: 'SUCCESS' | 'FAILED' | 'NOT_FOUND';
  /**
   * What it answers to a transaction, and whether it takes it all the same. Without `status` it
   * answers honestly, and without `reaches` it takes it as an honest server.
   */
  send?: {
    readonly status?: 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER' | 'ERROR';
    readonly code?: TxCode;
    readonly reaches?: boolean;
  };
  /**
   * How entries are false: huge numbers, an entry of another account with its own key or with the
   * key that was asked for, one more than asked for, or none.
   */
  entries?: 'huge' | 'other' | 'swapped' | 'more' | 'none';
  /** How numbers of answers are false. */
  numbers?: 'text' | 'float' | 'negative' | 'huge';
  /** Texts of answers hold control characters, quotes and markup, or a million characters. */
  texts?: 'odd' | 'long';
  /** Answers with an error; only to methods that fit to `methods`. */
  error?: keyof typeof errorCodes;
  /** Changes an answer. */
  rewrite?: (method: string, result: Record<string, unknown>) => unknown;
}

/**
 * `hash`, `parent` and `time` change one member and leave the hash; `fork` changes the parent and
 * computes the hash again. `lack`, `repeat` and `foreign` change the list of transactions in set
 * and results, `unlisted` only that of the results. The others change the last transaction:
 * `envelope` what it says, `result` whether it failed, and `meta` how much it moved.
 */
export type LedgerFault =
  | 'hash'
  | 'parent'
  | 'time'
  | 'fork'
  | 'lack'
  | 'repeat'
  | 'foreign'
  | 'unlisted'
  | 'envelope'
  | 'result'
  | 'meta';

/** Members that are numbers, or texts of numbers. */
const numeric = new Set([
  ...['latestLedger', 'latestLedgerCloseTime', 'latestLedgerCloseTimestamp', 'sequence', 'protocolVersion'],
  ...['oldestLedger', 'oldestLedgerCloseTime', 'oldestLedgerCloseTimestamp', 'ledgerCloseTime', 'closeTime'],
  ...['ledger', 'applicationOrder', 'createdAt', 'lastModifiedLedgerSeq', 'ledgerRetentionWindow'],
  ...['max', 'min', 'mode', 'p10', 'p50', 'p90', 'p99', 'transactionCount', 'ledgerCount'],
]);
/** Members whose text a server or a stranger may choose. */
const free = new Set(['message', 'status', 'passphrase', 'friendbotUrl', 'cursor']);

/** An answer with the faults that change its content. */
export function falsified(faults: StellarFaults, method: string, result: Record<string, unknown>): unknown {
  const { numbers, texts, rewrite } = faults;
  let changed: unknown = result;
  if (numbers) changed = mapped(changed, (name, value) => (numeric.has(name) ? falseNumber(value, numbers) : value));
  if (texts) changed = mapped(changed, (name, value) => (free.has(name) ? oddText(texts) : value));
  return rewrite && isObject(changed) ? rewrite(method, changed) : changed;
}

function falseNumber(value: unknown, how: NonNullable<StellarFaults['numbers']>): unknown {
  const honest = Number(value);
  const isText = typeof value === 'string';
  const falseValues = {
    text: isText ? honest : String(honest),
    float: isText ? `${honest}.5` : honest + 0.5,
    negative: isText ? `-${honest}` : -honest,
    huge: isText ? '9'.repeat(60) : 2n ** 63n - 1n,
  };
  return falseValues[how];
}

function oddText(kind: 'odd' | 'long'): string {
  return kind === 'long' ? 'x'.repeat(1_000_000) : `"</script>\u0000\u001b[31m\u202e\ud800'; DROP TABLE payments; --`;
}

/** The same digits with another last one. */
export function flipped(digits: string): string {
  return digits.slice(0, -1) + (digits.endsWith('0') ? '1' : '0');
}
