import type { Act } from './apply.ts';
import type { Site } from './balances.ts';
import type { Hash } from './keys.ts';
import type { StellarLedgers } from './ledgers.ts';
import { failed, type Outcome } from './results.ts';
import { checked, minFee, timeFault } from './rules.ts';
import type { StellarTransaction } from './transaction.ts';

/** A transaction that waits for a ledger. */
export interface Waiting {
  readonly tx: StellarTransaction;
  /** What each operation does, by hand. */
  readonly act?: Act;
}

/** What a server answers to a transaction. */
export interface Submission {
  readonly tx: StellarTransaction;
  readonly status: 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER' | 'ERROR';
  /** Why, when the status is ERROR. */
  readonly outcome: Outcome | null;
}

/** A fee bump takes the place of a transaction when it pays this many times as much. */
const replacement = 10n;

/** What waits for a ledger. An account has one transaction in it, except by hand. */
export class Pool {
  /** Transactions that no ledger takes, though they wait. */
  readonly held = new Set<Hash>();
  readonly #chain: StellarLedgers;
  #waiting: Waiting[] = [];

  constructor(chain: StellarLedgers) {
    this.#chain = chain;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** All that waits. */
  get waiting(): readonly StellarTransaction[] {
    return this.#waiting.map(({ tx }) => tx);
  }

  has(txid: Hash): boolean {
    return this.find(txid) !== null;
  }

  /** What waits, by its id or by that of the transaction in a fee bump. */
  find(txid: Hash): StellarTransaction | null {
    return this.#waiting.find(({ tx }) => tx.txid === txid || tx.innerTxid === txid)?.tx ?? null;
  }

  /** The sequence number that follows on all that waits. */
  nextSeqNum(address: string): bigint {
    const current = this.#chain.head.state.existing(address).seqNum;
    const waiting = this.#waiting.filter(({ tx }) => tx.source === address).map(({ tx }) => tx.seqNum);
    return waiting.reduce((highest, one) => (one > highest ? one : highest), current) + 1n;
  }

  /** Takes a transaction as a server does. */
  submit(tx: StellarTransaction): Submission {
    const rival = this.#waiting.find((one) => one.tx.source === tx.source);
    if (rival && rival.tx.txid === tx.txid) return { tx, status: 'DUPLICATE', outcome: null };
    if (rival && (tx.innerTxid === null || tx.seqNum !== rival.tx.seqNum)) {
      return { tx, status: 'TRY_AGAIN_LATER', outcome: null };
    }
    if (rival && !isReplacing(tx, rival.tx, this.#site)) {
      return { tx, status: 'ERROR', outcome: failed('txInsufficientFee') };
    }
    const seqNum = (this.#chain.head.state.account(tx.source)?.seqNum ?? 0n) + 1n;
    const outcome = checked(tx, this.#site, { seqNum, isCharged: false });
    if (outcome.code !== 'txSuccess') return { tx, status: 'ERROR', outcome };
    if (rival) this.drop(rival.tx.txid);
    this.#waiting.push({ tx });
    return { tx, status: 'PENDING', outcome: null };
  }

  /** Adds a transaction without a check. */
  add(entry: Waiting): void {
    this.#waiting.push(entry);
  }

  /** Puts a signed transaction into the next ledger before all others, which no server saw. */
  plant(tx: StellarTransaction): void {
    this.#waiting.unshift({ tx });
  }

  drop(txid: Hash): void {
    this.#waiting = this.#waiting.filter(({ tx }) => tx.txid !== txid);
  }

  /** What the next ledger holds, in order. It drops what can no longer be in any ledger. */
  take(site: Site): Waiting[] {
    const next = new Map<string, bigint>();
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const entry of this.#waiting) {
      const { tx, act } = entry;
      if (this.held.has(tx.txid)) {
        left.push(entry);
        continue;
      }
      const seqNum = next.get(tx.source) ?? (site.state.account(tx.source)?.seqNum ?? 0n) + 1n;
      const isValid = act
        ? tx.seqNum === seqNum && timeFault(tx, site.closeTime) === null
        : checked(tx, site, { seqNum, isCharged: false }).code === 'txSuccess';
      if (!isValid) continue;
      next.set(tx.source, seqNum + 1n);
      taken.push(entry);
    }
    this.#waiting = left;
    return taken;
  }

  /** Forgets what can no longer be in any ledger, but not what is held. */
  prune(site: Site): void {
    this.#waiting = this.#waiting.filter(({ tx }) => {
      const current = site.state.account(tx.source)?.seqNum ?? 0n;
      return this.held.has(tx.txid) || (timeFault(tx, site.closeTime)?.code !== 'txTooLate' && tx.seqNum > current);
    });
  }

  get #site(): Site {
    return this.#chain.siteOfNext();
  }
}

function isReplacing(tx: StellarTransaction, rival: StellarTransaction, { fees }: Site): boolean {
  return tx.maxFee * minFee(rival, fees) >= replacement * rival.maxFee * minFee(tx, fees);
}
