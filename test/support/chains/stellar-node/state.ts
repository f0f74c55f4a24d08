import { xdr } from '@stellar/stellar-base';
import type { AssetText } from './assets.ts';
import {
  accountKey,
  type DataItem,
  dataKey,
  type Entry,
  entryXdr,
  keyOfEntry,
  keyXdr,
  type StellarAccount,
  type TrustLine,
  trustKey,
} from './entries.ts';

/** The entries after a ledger or in the middle of the next one. */
export class State {
  readonly #entries: Map<string, Entry>;
  /** Entries as they were when the list of changes began; null for new ones. */
  readonly #before = new Map<string, Entry | null>();
  /** Former entries, from which a failed transaction is undone. */
  readonly #undo: [string, Entry | null][] = [];

  constructor(entries: ReadonlyMap<string, Entry> = new Map()) {
    this.#entries = new Map(entries);
  }

  copy(): State {
    return new State(this.#entries);
  }

  entry(key: string): Entry | null {
    return this.#entries.get(key) ?? null;
  }

  all(): Entry[] {
    return [...this.#entries.values()];
  }

  account(address: string): StellarAccount | null {
    return this.entry(accountKey(address)) as StellarAccount | null;
  }

  /** @throws Error when there is none. */
  existing(address: string): StellarAccount {
    const account = this.account(address);
    if (!account) throw new Error(`the ledger has no account ${address}`);
    return account;
  }

  trustLine(address: string, asset: AssetText): TrustLine | null {
    return this.entry(trustKey(address, asset)) as TrustLine | null;
  }

  data(address: string, name: string): DataItem | null {
    return this.entry(dataKey(address, name)) as DataItem | null;
  }

  /** Makes an entry, or replaces it. */
  put(entry: Entry): void {
    this.#write(keyOfEntry(entry), entry);
  }

  /** Changes an account. @throws Error when there is none. */
  update(address: string, changes: Partial<StellarAccount>, seq: number): StellarAccount {
    const account = { ...this.existing(address), ...changes, lastModified: seq };
    this.put(account);
    return account;
  }

  delete(entry: Entry): void {
    this.#write(keyOfEntry(entry), null);
  }

  /** What changed since the last call, as metadata list it. */
  changes(): xdr.LedgerEntryChange[] {
    const changes = [...this.#before].flatMap(([key, before]) => changesOf(before, this.entry(key)));
    this.#before.clear();
    return changes;
  }

  /** The place to which `undoTo` goes back. */
  mark(): number {
    return this.#undo.length;
  }

  undoTo(mark: number): void {
    for (const [key, before] of this.#undo.splice(mark).reverse()) this.#set(key, before);
    this.#before.clear();
  }

  /** Stroops of all accounts and claimable balances. */
  get total(): bigint {
    let sum = 0n;
    for (const entry of this.#entries.values()) {
      if (entry.kind === 'account') sum += entry.balance;
      if (entry.kind === 'claimable' && entry.asset === 'native') sum += entry.amount;
    }
    return sum;
  }

  #write(key: string, entry: Entry | null): void {
    const before = this.entry(key);
    if (!this.#before.has(key)) this.#before.set(key, before);
    this.#undo.push([key, before]);
    this.#set(key, entry);
  }

  #set(key: string, entry: Entry | null): void {
    if (entry) this.#entries.set(key, entry);
    else this.#entries.delete(key);
  }
}

function changesOf(before: Entry | null, after: Entry | null): xdr.LedgerEntryChange[] {
  if (before && after) {
    const state = xdr.LedgerEntryChange.ledgerEntryState(entryXdr(before));
    return [state, xdr.LedgerEntryChange.ledgerEntryUpdated(entryXdr(after))];
  }
  if (after) return [xdr.LedgerEntryChange.ledgerEntryCreated(entryXdr(after))];
  if (!before) return [];
  const state = xdr.LedgerEntryChange.ledgerEntryState(entryXdr(before));
  return [state, xdr.LedgerEntryChange.ledgerEntryRemoved(keyXdr(before))];
}
