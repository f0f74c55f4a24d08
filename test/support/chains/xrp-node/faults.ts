import type { Hash } from './crypto.ts';
import type { ErrorName } from './errors.ts';
import { isObject, mapped } from './json.ts';
import type { XrpLedgers } from './ledgers.ts';
import type { Result } from './results.ts';

/** How one server misbehaves: an empty object is an honest one. A test changes it at any time. */
export interface XrpFaults {
  /** Serves another network's ledgers. */
  chain?: XrpLedgers;
  /** States this network; null states none. */
  networkId?: number | null;
  /** Knows an amendment too few: says so, and takes no transaction. */
  amendmentBlocked?: boolean;
  /** Its newest ledger is this many behind. */
  lag?: number;
  /** Its newest ledger stays this one. */
  stuckAt?: number;
  /** Adds seconds to the age of its newest ledger. */
  ageSec?: number;
  /** Has no ledger from the first to the second of these. */
  gap?: readonly [number, number];
  /** States these `complete_ledgers`, true or not. */
  completeLedgers?: string;
  /** Has no ledger below this one. */
  prunesBelow?: number;
  /** Has these transactions in its ledgers, but does not find them by their id. */
  forgets?: readonly Hash[];
  /** What it says of a search that found nothing. */
  searchedAll?: boolean;
  /** Shows nothing of what waits, or shows what waits as if a ledger held it. */
  pool?: 'hidden' | 'as-validated';
  /** `validated` is false, or missing, in all answers. */
  validated?: false | 'missing';
  /** A part of each ledger that does not fit to the rest, or another list of transactions. */
  ledger?: LedgerFault;
  /** How `delivered_amount` is false. */
  delivered?: 'missing' | 'unavailable' | 'more' | 'tokens' | 'number' | 'negative';
  /**
   * What it answers to a transaction, and whether it takes it all the same. Without `result` it
   * answers honestly, and without `reaches` it takes it as an honest server.
   */
  submit?: { readonly result?: Result; readonly reaches?: boolean };
  /** Fewer objects on a page than asked for, down to none. */
  pageSize?: number;
  /** Numbers and amounts far above what an honest network has. */
  huge?: boolean;
  /** Texts of answers hold control characters, quotes and markup, or a million characters. */
  texts?: 'odd' | 'long';
  /** Answers with an error; only to methods that fit to `methods`. */
  error?: ErrorName;
  /** How calls fail altogether; only those whose method fits to `methods`. */
  transport?: 'half' | 'empty' | 'html' | 429 | 500 | 503;
  methods?: RegExp;
  /** Is called before each answer: to change the network between two calls. */
  before?: (method: string) => Promise<void> | void;
  /** Changes an answer. */
  rewrite?: (method: string, result: Record<string, unknown>) => unknown;
}

/**
 * `hash`, `parent`, `root` and `time` change one member and leave the hash; `fork` changes the
 * parent and computes the hash again. The others change the list of transactions, not the root.
 */
export type LedgerFault = 'hash' | 'parent' | 'root' | 'time' | 'fork' | 'lack' | 'repeat' | 'foreign' | 'txid';

const most = 2n ** 63n - 1n;

/** Members that an honest network never has so large. */
const hugeNumbers = new Set(['base_fee', 'reserve_base', 'reserve_inc', 'OwnerCount', 'DestinationTag', 'age']);
const hugeTexts = new Set(['Balance', 'delivered_amount', 'DeliverMax', 'Fee', 'open_ledger_fee', 'minimum_fee']);
/** Members whose text a server or a stranger may choose. */
const free = new Set(['error_message', 'error_exception', 'engine_result_message', 'build_version', 'hostid', 'time']);

/** An answer with the faults that change its content. */
export function falsified(faults: XrpFaults, method: string, result: Record<string, unknown>): unknown {
  let changed: unknown = result;
  const { validated, delivered, huge, texts } = faults;
  if (validated !== undefined) {
    changed = mapped(changed, (name, value) => {
      if (name !== 'validated') return value;
      return validated === 'missing' ? undefined : validated;
    });
  }
  if (delivered) changed = mapped(changed, (name, value) => (name === 'meta' ? otherwise(value, delivered) : value));
  if (huge) {
    changed = mapped(changed, (name, value) => {
      if (hugeNumbers.has(name)) return most;
      return hugeTexts.has(name) && typeof value === 'string' ? '9'.repeat(60) : value;
    });
  }
  if (texts) changed = mapped(changed, (name, value) => (free.has(name) ? oddText(texts) : value));
  return faults.rewrite && isObject(changed) ? faults.rewrite(method, changed) : changed;
}

function oddText(kind: 'odd' | 'long'): string {
  return kind === 'long' ? 'x'.repeat(1_000_000) : `"</script>\u0000\u001b[31m\u202e\ud800'; DROP TABLE payments; --`;
}

/** Metadata with another amount that was delivered. */
function otherwise(meta: unknown, how: NonNullable<XrpFaults['delivered']>): unknown {
  if (!isObject(meta) || !('delivered_amount' in meta)) return meta;
  const { delivered_amount: honest, ...rest } = meta;
  const drops = BigInt(typeof honest === 'string' && /^\d+$/.test(honest) ? honest : 0);
  const issuer = 'rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B';
  const amounts = {
    missing: undefined,
    unavailable: 'unavailable',
    more: String(drops * 1_000_000n),
    tokens: { currency: 'USD', issuer, value: String(drops) },
    number: drops,
    negative: `-${drops}`,
  };
  return { ...rest, delivered_amount: amounts[how] };
}

/** The same digits with another last one. */
export function flipped(digits: string): string {
  return digits.slice(0, -1) + (digits.endsWith('0') ? '1' : '0');
}
