import { transactionTreeHash } from 'ripple-binary-codec/dist/ledger-hashes.js';
import { type Hash, keyOf, noHash, type XrpKey } from './crypto.ts';
import { type Header, ledgerHash, rippleTime } from './header.ts';
import { Pool, type Waiting } from './pool.ts';
import { isApplied } from './results.ts';
import { apply, consume, type Fees, type Outcome, preclaim, type Site } from './rules.ts';
import { State } from './state.ts';
import type { XrpTransaction } from './transaction.ts';

/** A transaction in a ledger. */
export interface Applied {
  readonly tx: XrpTransaction;
  /** As a server shows it, with `delivered_amount`. */
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface XrpLedger {
  readonly header: Header;
  readonly hash: Hash;
  readonly transactions: readonly Applied[];
  /** The accounts after it. */
  readonly state: State;
  readonly stateHash: Hash;
}

export interface XrpOptions {
  /** What all keys and the first ledger follow from: another text is another network. */
  readonly seed?: string;
  /** Milliseconds; the time of this machine unless told. */
  readonly startTime?: number;
  /** Of the first ledger. */
  readonly firstIndex?: number;
  /** 0 is the main network; above 1024 transactions must name it. */
  readonly networkId?: number;
}

/** Time between two ledgers. */
export const ledgerSec = 4;

/** Ledgers of one network, what waits for the next one, and the rules of both. */
export class XrpLedgers {
  readonly ledgers: XrpLedger[] = [];
  readonly networkId: number;
  readonly fees: Fees = { base: 10n, reserveBase: 1_000_000n, reserveInc: 200_000n };
  /** Least fee of the open ledger; what pays less waits. */
  openFee = 10n;
  /** Of everything that is paid from outside. */
  readonly bank: XrpKey;
  readonly pool: Pool;
  readonly #found = new Map<Hash, { readonly ledger: XrpLedger; readonly applied: Applied }>();
  #nextTime: number | null = null;

  constructor({ seed = 'xrp', startTime = Date.now(), firstIndex = 90_000_000, networkId = 0 }: XrpOptions = {}) {
    this.bank = keyOf(`bank of ${seed}`);
    this.networkId = networkId;
    const state = new State();
    state.set(this.bank.address, { balance: 90_000_000_000_000_000n, sequence: firstIndex });
    state.settle();
    this.#append(firstIndex, rippleTime(startTime), [], state, state.hash());
    this.pool = new Pool(this);
  }

  get head(): XrpLedger {
    const ledger = this.ledgers.at(-1);
    if (!ledger) throw new Error('the network has no ledger');
    return ledger;
  }

  get firstIndex(): number {
    return this.ledgers[0]?.header.ledger_index ?? 0;
  }

  /** Index of the ledger that is open. */
  get openIndex(): number {
    return this.head.header.ledger_index + 1;
  }

  /** By its index; null when there is none. */
  at(index: number): XrpLedger | null {
    return this.ledgers[index - this.firstIndex] ?? null;
  }

  /** A transaction with the ledger that holds it, or null. */
  find(txid: Hash): { readonly ledger: XrpLedger; readonly applied: Applied } | null {
    return this.#found.get(txid.toUpperCase()) ?? null;
  }

  /** The next ledger closes at this time in milliseconds, and those after it follow. */
  setTime(time: number): void {
    const seconds = rippleTime(time);
    if (seconds <= this.head.header.close_time) throw new Error('a ledger must close later than its parent');
    this.#nextTime = seconds;
  }

  /** Closes and validates a ledger with all that waits and is possible. Returns it. */
  close(): XrpLedger {
    const state = this.head.state.copy();
    const site: Site = { state, index: this.openIndex, fees: this.fees };
    const transactions: Applied[] = [];
    let waiting = this.pool.ready(site.index);
    for (let isMoving = true; isMoving; ) {
      const left = waiting.filter((entry) => !this.#included(entry, site, transactions));
      isMoving = left.length < waiting.length && left.length > 0;
      waiting = left;
    }
    const stateHash = transactions.length > 0 ? state.hash() : this.head.stateHash;
    return this.#next(transactions, transactions.length > 0 ? state : this.head.state, stateHash);
  }

  /** Closes ledgers without a transaction; what waits goes on waiting, or dies. */
  closeEmpty(count = 1): void {
    const { state, stateHash } = this.head;
    for (let made = 0; made < count; made += 1) this.#next([], state, stateHash);
  }

  /** Accounts change without a transaction, in a separate empty ledger. */
  change(work: (state: State, index: number) => void): void {
    const state = this.head.state.copy();
    work(state, this.openIndex);
    state.settle();
    this.#next([], state, state.hash());
  }

  /** Applies what waits to the state of a site, which it leaves alone when it refuses. */
  perform({ tx, act }: Waiting, site: Site, isOpen: boolean): Outcome {
    if (!act) {
      const result = preclaim(tx, site, isOpen);
      return result === 'tesSUCCESS' ? apply(tx, site) : { result };
    }
    consume(tx, site);
    return act(site);
  }

  /** Puts a transaction into the ledger that is built. Returns whether it is dealt with. */
  #included(entry: Waiting, site: Site, transactions: Applied[]): boolean {
    for (let one: Waiting | null = entry; one; one = one.then ?? null) {
      const outcome = this.perform(one, site, false);
      if (!isApplied(outcome.result)) return !outcome.result.startsWith('ter');
      transactions.push({ tx: one.tx, meta: metaOf(one, outcome, site, transactions.length) });
    }
    return true;
  }

  #next(transactions: readonly Applied[], state: State, stateHash: Hash): XrpLedger {
    const time = this.#nextTime ?? this.head.header.close_time + ledgerSec;
    this.#nextTime = null;
    const ledger = this.#append(this.openIndex, time, transactions, state, stateHash);
    this.pool.rebuild();
    return ledger;
  }

  #append(index: number, time: number, transactions: readonly Applied[], state: State, stateHash: Hash): XrpLedger {
    const parent = this.ledgers.at(-1);
    const header: Header = {
      ledger_index: index,
      total_coins: transactions.length === 0 && parent?.state === state ? parent.header.total_coins : state.total,
      parent_hash: parent?.hash ?? noHash,
      transaction_hash: transactionsRoot(transactions),
      account_hash: stateHash,
      parent_close_time: parent?.header.close_time ?? time - ledgerSec,
      close_time: time,
      close_time_resolution: 10,
      close_flags: 0,
    };
    const ledger: XrpLedger = { header, hash: ledgerHash(header), transactions, state, stateHash };
    this.ledgers.push(ledger);
    for (const applied of transactions) this.#found.set(applied.tx.txid, { ledger, applied });
    return ledger;
  }
}

/** The root of the tree of transactions and metadata, as the ledger's own library computes it. */
export function transactionsRoot(transactions: readonly Applied[]): Hash {
  if (transactions.length === 0) return noHash;
  const items = transactions.map(({ tx, meta }) => {
    const { delivered_amount: _shown, ...metaData } = meta;
    return { ...tx.json, hash: tx.txid, metaData };
  });
  return transactionTreeHash(items as Parameters<typeof transactionTreeHash>[0]).toHex();
}

/** Types whose metadata a server completes with what was delivered. */
const delivering = new Set(['Payment', 'CheckCash', 'AccountDelete']);

/** https://xrpl.org/docs/references/protocol/transactions/metadata */
function metaOf(entry: Waiting, outcome: Outcome, { state, index }: Site, position: number): Applied['meta'] {
  const { tx, nodes = [], stored = {} } = entry;
  const isDelivered = outcome.result === 'tesSUCCESS' && delivering.has(String(tx.json.TransactionType));
  return {
    AffectedNodes: [...state.affected(tx.txid, index), ...nodes],
    ...stored,
    TransactionIndex: position,
    TransactionResult: outcome.result,
    ...(isDelivered ? { delivered_amount: outcome.delivered ?? 'unavailable' } : {}),
  };
}
