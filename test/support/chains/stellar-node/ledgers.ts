import type { xdr } from '@stellar/stellar-base';
import type { Fees, Rate, Site } from './balances.ts';
import {
  type Applied,
  closeMeta,
  headerHash,
  headerOf,
  historyEntry,
  totalCoins,
  transactionSet,
} from './close-meta.ts';
import { newAccount } from './entries.ts';
import { execute, takeFee } from './execution.ts';
import { type Hash, keyOf, networkIdOf, type StellarKey, sha256 } from './keys.ts';
import { Pool, type Waiting } from './pool.ts';
import { State } from './state.ts';

export interface StellarLedger {
  readonly seq: number;
  readonly hash: Hash;
  readonly header: xdr.LedgerHeader;
  /** Seconds. */
  readonly closeTime: number;
  readonly txSet: xdr.GeneralizedTransactionSet;
  /** In the order in which they were applied. */
  readonly transactions: readonly Applied[];
  /** The entries after it. */
  readonly state: State;
}

export interface StellarOptions {
  /** What all keys follow from as well: another text is another network. */
  readonly passphrase?: string;
  /** Milliseconds; the time of this machine unless told. */
  readonly startTime?: number;
  /** Of the first ledger. */
  readonly firstSeq?: number;
  readonly protocolVersion?: number;
  /** Seconds between two ledgers. */
  readonly closeSec?: number;
}

/** A transaction with the ledger that holds it. */
export interface Found {
  readonly ledger: StellarLedger;
  readonly applied: Applied;
  /** From 1, in the order of application. */
  readonly position: number;
}

/** Ledgers of one network, what waits for the next one, and the rules of both. */
export class StellarLedgers {
  readonly ledgers: StellarLedger[] = [];
  readonly passphrase: string;
  readonly networkId: Buffer;
  readonly protocolVersion: number;
  readonly closeSec: number;
  readonly fees: Fees = { baseFee: 100n, baseReserve: 5_000_000n };
  /** Of everything that is paid from outside; it buys and sells at the rates. */
  readonly bank: StellarKey;
  /** What the bank gives for what, which a test may change. */
  readonly rates = new Map<string, Rate>();
  readonly pool: Pool;
  readonly #validator: StellarKey;
  readonly #found = new Map<Hash, Found>();
  #nextTime: number | null = null;

  constructor(options: StellarOptions = {}) {
    const { passphrase = 'Test Stellar Network of This Test ; 2026', firstSeq = 60_000_000 } = options;
    const { startTime = Date.now(), protocolVersion = 23, closeSec = 5 } = options;
    this.passphrase = passphrase;
    this.networkId = networkIdOf(passphrase);
    this.protocolVersion = protocolVersion;
    this.closeSec = closeSec;
    this.bank = keyOf(`bank of ${passphrase}`);
    this.#validator = keyOf(`validator of ${passphrase}`);
    const state = new State();
    state.put(newAccount(this.bank.address, totalCoins, firstSeq));
    this.#append(firstSeq, Math.floor(startTime / 1_000), [], state);
    this.pool = new Pool(this);
  }

  get head(): StellarLedger {
    const ledger = this.ledgers.at(-1);
    if (!ledger) throw new Error('the network has no ledger');
    return ledger;
  }

  get firstSeq(): number {
    return this.ledgers[0]?.seq ?? 0;
  }

  /** By its sequence number; null when there is none. */
  at(seq: number): StellarLedger | null {
    return this.ledgers[seq - this.firstSeq] ?? null;
  }

  /** A transaction by its id, or by that of the one in a fee bump; null when no ledger holds it. */
  find(txid: Hash): Found | null {
    return this.#found.get(txid.toLowerCase()) ?? null;
  }

  /** Seconds; when the next ledger closes. */
  get nextTime(): number {
    return this.#nextTime ?? this.head.closeTime + this.closeSec;
  }

  /** The next ledger closes at this time in milliseconds, and those after it follow. */
  setTime(time: number): void {
    const seconds = Math.floor(time / 1_000);
    if (seconds <= this.head.closeTime) throw new Error('a ledger must close later than its parent');
    this.#nextTime = seconds;
  }

  /** Closes a ledger with all that waits and is possible. Returns it. */
  close(): StellarLedger {
    const site = this.siteOfNext(this.head.state.copy());
    const taken = this.pool.take(site);
    if (taken.length === 0) return this.#next([], this.head.state);
    return this.#next(this.#applied(taken, site), site.state);
  }

  /** Closes ledgers without a transaction; what waits goes on waiting, or dies. */
  closeEmpty(count = 1): void {
    for (let made = 0; made < count; made += 1) this.#next([], this.head.state);
  }

  /** Entries change without a transaction, in a separate empty ledger. */
  change(work: (state: State, seq: number) => void): void {
    const state = this.head.state.copy();
    work(state, this.head.seq + 1);
    this.#next([], state);
  }

  /** Where transactions of the next ledger are checked, or applied. */
  siteOfNext(state: State = this.head.state): Site {
    const { fees, passphrase, bank, rates } = this;
    return { state, seq: this.head.seq + 1, closeTime: this.nextTime, fees, passphrase, bank: bank.address, rates };
  }

  /** Takes all fees, then applies the transactions one by one. */
  #applied(taken: readonly Waiting[], site: Site): Applied[] {
    const fees = taken.map(({ tx }) => takeFee(tx, site));
    return taken.map((entry, i) => {
      const { fee = 0n, changes = [] } = fees[i] ?? {};
      return { ...execute(entry, fee, site), feeChanges: changes };
    });
  }

  #next(transactions: readonly Applied[], state: State): StellarLedger {
    const ledger = this.#append(this.head.seq + 1, this.nextTime, transactions, state);
    this.#nextTime = null;
    this.pool.prune(this.siteOfNext());
    return ledger;
  }

  #append(seq: number, closeTime: number, transactions: readonly Applied[], state: State): StellarLedger {
    const parent = this.ledgers.at(-1)?.header ?? null;
    const previous = parent ? sha256(parent.toXDR()) : Buffer.alloc(32);
    const { fees, networkId, protocolVersion: version } = this;
    const txSet = transactionSet(
      previous,
      transactions.map(({ tx }) => tx),
      fees,
    );
    const paid = transactions.reduce((sum, { result }) => sum + result.feeCharged().toBigInt(), 0n);
    const header = headerOf({
      ...{ version, parent, seq, closeTime, txSet, applied: transactions, fees, networkId, validator: this.#validator },
      feePool: (parent?.feePool().toBigInt() ?? 0n) + paid,
      bucketListHash: this.#bucketListHash(state),
    });
    const ledger: StellarLedger = { seq, hash: headerHash(header), header, closeTime, txSet, transactions, state };
    this.ledgers.push(ledger);
    for (const [i, applied] of transactions.entries()) {
      const found: Found = { ledger, applied, position: i + 1 };
      this.#found.set(applied.tx.txid, found);
      if (applied.tx.innerTxid !== null) this.#found.set(applied.tx.innerTxid, found);
    }
    return ledger;
  }

  /** Any change of the entries changes it; the real one is the hash of a list of buckets. */
  #bucketListHash(state: State): Buffer {
    const parent = this.ledgers.at(-1);
    if (parent?.state === state) return parent.header.bucketListHash();
    const text = JSON.stringify(state.all(), (_name, value) => (typeof value === 'bigint' ? String(value) : value));
    return sha256(Buffer.from(text));
  }
}

/** All that a server keeps of a ledger. */
export function metaOf({ header, hash, txSet, transactions }: StellarLedger): xdr.LedgerCloseMeta {
  return closeMeta(historyEntry(header, hash), txSet, transactions);
}
