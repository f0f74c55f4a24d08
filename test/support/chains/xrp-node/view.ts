import type { Hash } from './crypto.ts';
import { flipped, type XrpFaults } from './faults.ts';
import { humanTime, isoTime, ledgerHash } from './header.ts';
import type { Applied, XrpLedger, XrpLedgers } from './ledgers.ts';
import { shownJson } from './transaction.ts';

/** The network as one server shows it. */
export class View {
  readonly chain: XrpLedgers;
  readonly #faults: XrpFaults;

  constructor(chain: XrpLedgers, faults: XrpFaults) {
    this.chain = chain;
    this.#faults = faults;
  }

  /** The newest validated ledger that it knows. */
  get head(): XrpLedger {
    const { lag = 0, stuckAt = Number.MAX_SAFE_INTEGER } = this.#faults;
    const top = Math.min(this.chain.head.header.ledger_index - lag, stuckAt);
    return this.chain.at(Math.max(top, this.chain.firstIndex)) ?? this.chain.head;
  }

  get networkId(): number | null {
    const { networkId = this.chain.networkId } = this.#faults;
    return networkId;
  }

  /** Seconds since its newest ledger. */
  get ageSec(): number {
    const { ageSec = 0 } = this.#faults;
    return this.chain.head.header.close_time - this.head.header.close_time + 1 + ageSec;
  }

  /** The ranges of ledgers that it says to have. */
  get completeLedgers(): string {
    const { completeLedgers, gap } = this.#faults;
    if (completeLedgers !== undefined) return completeLedgers;
    const [first, last] = [this.#first, this.head.header.ledger_index];
    const ranges =
      gap && gap[0] <= last && gap[1] >= first
        ? [
            [first, gap[0] - 1],
            [gap[1] + 1, last],
          ]
        : [[first, last]];
    const shown = ranges.filter(([from = 0, to = 0]) => from <= to);
    return shown.length === 0 ? 'empty' : shown.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join();
  }

  /** By its index; null when the server does not have it. */
  ledger(index: number): XrpLedger | null {
    if (!this.#has(index)) return null;
    return this.chain.at(index);
  }

  ledgerByHash(hash: Hash): XrpLedger | null {
    const found = this.chain.ledgers.find((ledger) => ledger.hash === hash.toUpperCase());
    return found ? this.ledger(found.header.ledger_index) : null;
  }

  /** Whether it has all ledgers of a range. */
  hasAll(from: number, to: number): boolean {
    const { gap } = this.#faults;
    const isBroken = gap !== undefined && gap[0] <= to && gap[1] >= from;
    return from >= this.#first && to <= this.head.header.ledger_index && !isBroken;
  }

  /** A transaction in a ledger that it has, by its id. */
  find(txid: Hash): { readonly ledger: XrpLedger; readonly applied: Applied } | null {
    if (this.#faults.forgets?.some((one) => one.toUpperCase() === txid.toUpperCase())) return null;
    const found = this.chain.find(txid);
    return found && this.#has(found.ledger.header.ledger_index) ? found : null;
  }

  /** The header as `ledger` answers. */
  headerJson({ header, hash }: XrpLedger): Record<string, unknown> {
    const shown = { ...header, total_coins: String(header.total_coins), ledger_hash: hash, closed: true };
    const times = {
      close_time_human: humanTime(header.close_time),
      close_time_iso: isoTime(header.close_time),
    };
    const honest = { ...shown, ...times };
    switch (this.#faults.ledger) {
      case 'hash':
        return { ...honest, ledger_hash: flipped(hash) };
      case 'parent':
        return { ...honest, parent_hash: flipped(header.parent_hash) };
      case 'root':
        return { ...honest, transaction_hash: flipped(header.transaction_hash) };
      case 'time':
        return { ...honest, close_time: header.close_time + 1 };
      case 'fork': {
        const parent_hash = flipped(header.parent_hash);
        return { ...honest, parent_hash, ledger_hash: ledgerHash({ ...header, parent_hash }) };
      }
      default:
        return honest;
    }
  }

  /** The transactions of a ledger as `ledger` answers. */
  transactionsJson(ledger: XrpLedger, isExpanded: boolean): unknown[] {
    return this.#listed(ledger).map((applied) =>
      isExpanded ? this.#expanded(applied, ledger) : this.#shownId(applied.tx.txid),
    );
  }

  #expanded({ tx, meta }: Applied, ledger: XrpLedger): object {
    return {
      close_time_iso: isoTime(ledger.header.close_time),
      hash: this.#shownId(tx.txid),
      ledger_hash: ledger.hash,
      ledger_index: ledger.header.ledger_index,
      meta,
      tx_json: shownJson(tx.json, 2),
      validated: true,
    };
  }

  #shownId(txid: Hash): Hash {
    return this.#faults.ledger === 'txid' ? flipped(txid) : txid;
  }

  #listed({ header, transactions }: XrpLedger): readonly Applied[] {
    switch (this.#faults.ledger) {
      case 'lack':
        return transactions.slice(0, -1);
      case 'repeat':
        return [...transactions, ...transactions.slice(-1)];
      case 'foreign':
        return [...transactions, ...this.#before(header.ledger_index)];
      default:
        return transactions;
    }
  }

  /** The first transaction of the newest ledger below an index that holds any. */
  #before(index: number): readonly Applied[] {
    const { ledgers } = this.chain;
    const found = ledgers.findLast(
      ({ header, transactions }) => header.ledger_index < index && transactions.length > 0,
    );
    return found?.transactions.slice(0, 1) ?? [];
  }

  get #first(): number {
    return Math.max(this.chain.firstIndex, this.#faults.prunesBelow ?? 0);
  }

  #has(index: number): boolean {
    return this.hasAll(index, index);
  }
}
