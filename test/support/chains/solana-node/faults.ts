import { sha256 } from '@noble/hashes/sha2.js';
import { base58 } from '@scure/base';
import type { RpcFaults } from '../rpc-server.ts';
import { isObject, mapped } from '../xrp-node/json.ts';
import type { ErrorName } from './errors.ts';
import type { Text58 } from './keys.ts';
import type { SolanaSlots } from './slots.ts';

/** How one server misbehaves: an empty object is an honest one. A test changes it at any time. */
export interface SolanaFaults extends RpcFaults {
  /** Serves another network's slots and accounts. */
  chain?: SolanaSlots;
  /** States this genesis. */
  genesis?: Text58;
  /** Its newest block is this many blocks behind. */
  lag?: number;
  /** Its newest block is the last one up to this slot. */
  stuckAt?: number;
  /** States a block height that is this much greater, or with a minus sign smaller. */
  addedHeight?: number;
  /** Has no block below this slot, as a server that removes old ones. */
  firstSlot?: number;
  /** Has none of the blocks between two slots. */
  gap?: Gap;
  /** How it lists slots with blocks; `outside` with one that was not asked for. */
  slots?: 'unordered' | 'repeated' | 'outside' | 'many';
  /** How it answers a slot that has no block; as skipped unless told. */
  skippedAs?: 'longTerm' | 'null';
  /** Has these transactions in its blocks, but does not find them by their id. */
  forgets?: readonly Text58[];
  /** Keeps no history: finds no transaction that is not recent, though history is asked for. */
  noHistory?: 'silent' | 'error';
  /** What it says of each transaction in a block: not final, failed, or in a slot to come. */
  status?: 'processed' | 'failed' | 'future';
  /** A part of each block that does not fit to the rest, or another list of transactions. */
  block?: BlockFault;
  /** What it answers to a transaction, and whether it takes it all the same. */
  send?: { readonly error?: ErrorName; readonly id?: Text58; readonly reaches?: boolean };
  /** How accounts are false: huge amounts, those of others, one more than asked for, or none. */
  accounts?: 'huge' | 'other' | 'more' | 'none';
  /** Says that it is this many slots behind; null says no number. */
  unhealthy?: number | null;
  /** How numbers of answers are false. */
  numbers?: 'text' | 'float' | 'negative' | 'huge';
  /** Texts of answers hold control characters, quotes and markup, or a million characters. */
  texts?: 'odd' | 'long';
  /** Answers with an error; only to methods that fit to `methods`. */
  error?: ErrorName;
  /** Changes an answer. */
  rewrite?: (method: string, result: unknown) => unknown;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  /** What it answers when it is asked for a block in the gap. */
  readonly as: 'skipped' | 'longTerm' | 'null' | 'cleanedUp' | 'notAvailable' | 'statusNotYet';
  /** Lists the slots of the gap all the same. */
  readonly isListed?: boolean;
  /** Says that the block above the gap joins to the one below it. */
  readonly isJoined?: boolean;
}

/**
 * `hash`, `previous`, `parentSlot`, `height` and `time` change one member, and `fork` the hashes of
 * all blocks. `lack`, `repeat`, `foreign` and `crowded` change the list of transactions. The others
 * change all transactions. `failed` and `succeeded` change their results, `keys` leaves out an
 * account, `meta` leaves out all effects. `credit` adds coins and tokens to all later balances.
 */
export type BlockFault =
  | 'hash'
  | 'previous'
  | 'parentSlot'
  | 'height'
  | 'time'
  | 'fork'
  | 'lack'
  | 'repeat'
  | 'crowded'
  | 'foreign'
  | 'failed'
  | 'succeeded'
  | 'keys'
  | 'meta'
  | 'credit';

/** Members that are numbers, or texts of numbers. */
const numeric = new Set([
  ...['slot', 'blockHeight', 'blockTime', 'parentSlot', 'lastValidBlockHeight', 'fee', 'lamports', 'space'],
  ...['unitsConsumed', 'computeUnitsConsumed', 'amount', 'decimals', 'accountIndex', 'prioritizationFee'],
  ...['preBalances', 'postBalances', 'rentEpoch', 'numSlotsBehind', 'contextSlot'],
]);
/** Methods whose whole result is a number. */
const numericMethods = new Set([
  ...['getSlot', 'getBlockHeight', 'getMinimumBalanceForRentExemption', 'getFirstAvailableBlock', 'getBlocks'],
]);
/** Members whose text a server or a stranger may choose. */
const free = new Set(['message', 'solana-core', 'apiVersion', 'logMessages', 'logs', 'uiAmountString', 'pubkey']);
const freeMethods = new Set(['getHealth', 'getGenesisHash', 'sendTransaction']);

/** An answer with the faults that change its content. */
export function falsified(faults: SolanaFaults, method: string, result: unknown): unknown {
  const { numbers, texts, rewrite } = faults;
  let changed: unknown = { [method]: result };
  if (numbers) {
    const isNumeric = (name: string): boolean => numeric.has(name) || numericMethods.has(name);
    changed = mapped(changed, (name, value) => (isNumeric(name) ? falseNumber(value, numbers) : value));
  }
  if (texts) {
    const isFree = (name: string): boolean => free.has(name) || freeMethods.has(name);
    changed = mapped(changed, (name, value) => (isFree(name) ? oddText(value, texts) : value));
  }
  const whole = isObject(changed) ? changed[method] : changed;
  return rewrite ? rewrite(method, whole) : whole;
}

function falseNumber(value: unknown, how: NonNullable<SolanaFaults['numbers']>): unknown {
  if (Array.isArray(value)) return value.map((one) => falseNumber(one, how));
  const isText = typeof value === 'string';
  if (!isText && typeof value !== 'number' && typeof value !== 'bigint') return value;
  const falseValues = {
    text: isText ? Number(value) : String(value),
    float: isText ? `${value}.5` : Number(value) + 0.5,
    negative: isText ? `-${value}` : -value,
    huge: isText ? '9'.repeat(60) : 2n ** 64n,
  };
  return falseValues[how];
}

function oddText(value: unknown, kind: 'odd' | 'long'): unknown {
  if (Array.isArray(value)) return value.map((one) => oddText(one, kind));
  if (typeof value !== 'string') return value;
  return kind === 'long' ? 'x'.repeat(1_000_000) : `"</script>\u0000\u001b[31m\u202e\ud800'; DROP TABLE payments; --`;
}

/** Another hash, the same each time. */
export function otherHash(hash: Text58): Text58 {
  return base58.encode(sha256(new TextEncoder().encode(`other than ${hash}`)));
}
