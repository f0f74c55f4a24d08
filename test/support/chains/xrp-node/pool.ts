import type { Hash } from './crypto.ts';
import type { XrpLedgers } from './ledgers.ts';
import { isApplied, isFailedInLedger, type Result } from './results.ts';
import { type Outcome, preclaim, preflight, type Site } from './rules.ts';
import type { State } from './state.ts';
import {
  decodeTransaction,
  dropsIn,
  hasValidSignature,
  Malformed,
  numberIn,
  type XrpTransaction,
} from './transaction.ts';

/** A transaction that waits for a ledger. */
export interface Waiting {
  readonly tx: XrpTransaction;
  /** What a transaction by hand does after its fee is taken, unchecked. */
  readonly act?: (site: Site) => Outcome;
  /** More of its metadata, by hand. */
  readonly nodes?: readonly object[];
  readonly stored?: Readonly<Record<string, unknown>>;
  /** Comes right after it in the ledger: the inner transactions of a batch. */
  readonly then?: Waiting;
}

/** What a server says of a transaction that it was given. */
export interface Submission {
  readonly tx: XrpTransaction;
  readonly result: Result;
  readonly isApplied: boolean;
  readonly isQueued: boolean;
  readonly isKept: boolean;
}

/** For so long a server remembers a transaction after it was last asked for. */
const memorySec = 1_800;

/** What waits for a ledger, and what is only remembered. */
export class Pool {
  /** Transactions that no validator takes, though they wait. */
  readonly held = new Set<Hash>();
  /** The accounts after all that waits. */
  open: State;
  readonly #chain: XrpLedgers;
  readonly #waiting = new Map<Hash, Waiting>();
  /** All that passed the checks of a server, with the time when it was last asked for. */
  readonly #remembered = new Map<Hash, { readonly tx: XrpTransaction; readonly time: number }>();

  constructor(chain: XrpLedgers) {
    this.#chain = chain;
    this.open = chain.head.state.copy();
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** All that waits. */
  get waiting(): readonly XrpTransaction[] {
    return [...this.#waiting.values()].map(({ tx }) => tx);
  }

  has(txid: Hash): boolean {
    return this.#waiting.has(txid.toUpperCase());
  }

  /**
   * Takes a signed transaction as a server does.
   * @throws Malformed when its bytes or its signature are wrong.
   */
  submit(blob: string, failHard: boolean): Submission {
    const tx = decodeTransaction(blob);
    if (!hasValidSignature(tx)) throw new Malformed('fails local checks: Invalid signature.');
    this.#remembered.set(tx.txid, { tx, time: this.#now });
    const answer = (result: Result, more: Partial<Submission> = {}): Submission => ({
      ...{ tx, result, isApplied: false, isQueued: false, isKept: false },
      ...more,
    });
    if (this.#waiting.has(tx.txid)) return answer('tefALREADY');
    const result = this.#checked(tx);
    if (result !== 'tesSUCCESS') {
      const isKept = result.startsWith('ter') && !failHard;
      if (isKept) this.#waiting.set(tx.txid, { tx });
      return answer(result, { isKept });
    }
    if ((dropsIn(tx.json, 'Fee') ?? 0n) < this.#chain.openFee) {
      if (failHard || !this.#mayQueue(tx)) return answer('telCAN_NOT_QUEUE');
      this.#waiting.set(tx.txid, { tx });
      return answer('terQUEUED', { isQueued: true, isKept: true });
    }
    return this.#opened(tx, failHard, answer);
  }

  /** Adds a transaction without a check. */
  add(entry: Waiting): void {
    this.#waiting.set(entry.tx.txid, entry);
    this.#remembered.set(entry.tx.txid, { tx: entry.tx, time: this.#now });
    this.#play(entry, this.open);
  }

  /** Puts a signed transaction into the next ledger before all others, which no server saw. */
  plant(tx: XrpTransaction): void {
    const others = [...this.#waiting];
    this.#waiting.clear();
    this.#waiting.set(tx.txid, { tx });
    for (const [txid, entry] of others) this.#waiting.set(txid, entry);
  }

  /** Every server forgets a transaction that waits, and takes it again when it comes again. */
  drop(txid: Hash): void {
    this.#waiting.delete(txid.toUpperCase());
    this.#remembered.delete(txid.toUpperCase());
    this.rebuild();
  }

  /** A transaction that is in no ledger, which a server still shows. */
  remembered(txid: Hash): XrpTransaction | null {
    const found = this.#remembered.get(txid.toUpperCase());
    if (!found || this.#now - found.time > memorySec) return null;
    this.#remembered.set(found.tx.txid, { ...found, time: this.#now });
    return found.tx;
  }

  /** What the next ledger may hold, in order. */
  ready(index: number): Waiting[] {
    const { openFee } = this.#chain;
    return [...this.#waiting.values()].filter(({ tx, act }) => {
      if (this.held.has(tx.txid) || isDead(tx, index)) return false;
      return act !== undefined || (dropsIn(tx.json, 'Fee') ?? 0n) >= openFee;
    });
  }

  /** After a ledger: drops what it holds and what cannot follow any more. */
  rebuild(): void {
    const { head, openIndex } = this.#chain;
    this.open = head.state.copy();
    for (const [txid, entry] of this.#waiting) {
      const isOver = this.#chain.find(txid) !== null || isDead(entry.tx, openIndex);
      if (isOver || !this.#play(entry, this.open)) this.#waiting.delete(txid);
    }
  }

  get #now(): number {
    return this.#chain.head.header.close_time;
  }

  get #site(): Site {
    return { state: this.open, index: this.#chain.openIndex, fees: this.#chain.fees };
  }

  #checked(tx: XrpTransaction): Result {
    const form = preflight(tx, this.#chain.networkId);
    return form === 'tesSUCCESS' ? preclaim(tx, this.#site, true) : form;
  }

  /** A transaction that pays enough: applied to the open ledger, unless it fails and must not. */
  #opened(
    tx: XrpTransaction,
    failHard: boolean,
    answer: (result: Result, more?: Partial<Submission>) => Submission,
  ): Submission {
    const state = this.open.copy();
    const { result } = this.#chain.perform({ tx }, { ...this.#site, state }, true);
    if (failHard && isFailedInLedger(result)) return answer(result);
    this.open = state;
    this.#waiting.set(tx.txid, { tx });
    return answer(result, { isApplied: true, isKept: true });
  }

  /** https://xrpl.org/docs/concepts/transactions/transaction-queue#queuing-restrictions */
  #mayQueue({ json }: XrpTransaction): boolean {
    const last = numberIn(json, 'LastLedgerSequence');
    if ('AccountTxnID' in json || (last !== null && last < this.#chain.openIndex + 2)) return false;
    const { openFee } = this.#chain;
    const queued = [...this.#waiting.values()].filter(
      ({ tx }) => tx.json.Account === json.Account && (dropsIn(tx.json, 'Fee') ?? 0n) < openFee,
    );
    return queued.length < 10;
  }

  /** Applies what waits to a state. Returns whether it may still come into a ledger. */
  #play(entry: Waiting, state: State): boolean {
    if (entry.act === undefined && (dropsIn(entry.tx.json, 'Fee') ?? 0n) < this.#chain.openFee) return true;
    for (let one: Waiting | null = entry; one; one = one.then ?? null) {
      const { result } = this.#chain.perform(one, { ...this.#site, state }, false);
      if (!isApplied(result)) return result.startsWith('ter');
    }
    return true;
  }
}

/** Whether no ledger from this one on can hold a transaction. */
function isDead({ json }: XrpTransaction, index: number): boolean {
  const last = numberIn(json, 'LastLedgerSequence');
  return last !== null && index > last;
}
