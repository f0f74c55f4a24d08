import { accountIndex, directoryIndex, type Hash, noHash, sha512Half, ticketIndex, uint32, uint64 } from './crypto.ts';

/** An account. https://xrpl.org/docs/references/protocol/ledger-data/ledger-entry-types/accountroot */
export interface XrpAccount {
  readonly address: string;
  /** In drops. */
  readonly balance: bigint;
  readonly sequence: number;
  /** Objects that count for the reserve, tickets among them. */
  readonly ownerCount: number;
  readonly flags: number;
  /** Numbers of tickets that are not used, in rising order. */
  readonly tickets: readonly number[];
  readonly regularKey: string | null;
  /** Of an automated market maker, for example: receives no direct payment. */
  readonly isPseudo: boolean;
  /** Accounts that may pay in spite of deposit authorisation. */
  readonly preauthorized: readonly string[];
  /** The newest transaction that changed it, and its ledger. */
  readonly previousTxn: Hash;
  readonly previousLedger: number;
}

/** Flags of an account. */
export const accountFlags = {
  requireDest: 0x0002_0000,
  disallowXrp: 0x0008_0000,
  disableMaster: 0x0010_0000,
  defaultRipple: 0x0080_0000,
  depositAuth: 0x0100_0000,
} as const;

/** The accounts after a ledger or in the middle of the next one. */
export class State {
  readonly #accounts: Map<string, XrpAccount>;
  /** Accounts as they were when the transaction began; null for new ones. */
  readonly #touched = new Map<string, XrpAccount | null>();

  constructor(accounts: ReadonlyMap<string, XrpAccount> = new Map()) {
    this.#accounts = new Map(accounts);
  }

  copy(): State {
    return new State(this.#accounts);
  }

  get(address: string): XrpAccount | null {
    return this.#accounts.get(address) ?? null;
  }

  /** @throws Error when there is none. */
  existing(address: string): XrpAccount {
    const account = this.get(address);
    if (!account) throw new Error(`the ledger has no account ${address}`);
    return account;
  }

  /** Makes an account, or changes one. */
  set(address: string, changes: Partial<XrpAccount>): void {
    const before = this.get(address);
    if (!this.#touched.has(address)) this.#touched.set(address, before);
    const fresh: XrpAccount = {
      ...{ address, balance: 0n, sequence: 1, ownerCount: 0, flags: 0, tickets: [] },
      ...{ regularKey: null, isPseudo: false, preauthorized: [], previousTxn: noHash, previousLedger: 0 },
    };
    this.#accounts.set(address, { ...(before ?? fresh), ...changes });
  }

  delete(address: string): void {
    if (!this.#touched.has(address)) this.#touched.set(address, this.get(address));
    this.#accounts.delete(address);
  }

  /**
   * Adds drops, or takes them. A new account begins with the sequence.
   * @throws Error when it has too few.
   */
  add(address: string, drops: bigint, sequence: number): void {
    const account = this.get(address);
    const balance = (account?.balance ?? 0n) + drops;
    if (balance < 0n) throw new Error(`${address} has ${-balance} drops too few`);
    this.set(address, account ? { balance } : { balance, sequence });
  }

  /** All drops of all accounts. */
  get total(): bigint {
    return [...this.#accounts.values()].reduce((sum, { balance }) => sum + balance, 0n);
  }

  /** What a transaction changed, as metadata lists it, and forgets where it began. */
  affected(txid: Hash, ledger: number): object[] {
    const nodes: [Hash, object][] = [];
    for (const [address, before] of this.#touched) {
      nodes.push(...changedNodes(address, before, this.get(address)));
      const isLeft = this.#accounts.has(address);
      if (isLeft) this.set(address, { previousTxn: txid, previousLedger: ledger });
    }
    this.#touched.clear();
    return nodes.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, node]) => node);
  }

  /** Forgets where a transaction began, when none made the changes. */
  settle(): void {
    this.#touched.clear();
  }

  /** A hash that any change of the accounts changes; the real ledger hashes a tree. */
  hash(): Hash {
    const parts = [...this.#accounts.values()].map((account) =>
      Buffer.concat([
        Buffer.from(`${account.address} ${account.flags} ${account.tickets.join()}`),
        uint64(account.balance),
        uint32(account.sequence),
      ]),
    );
    return sha512Half(...parts);
  }
}

/** The members of an account in the ledger, without those of what changed it. */
export function accountFields(account: XrpAccount): Record<string, unknown> {
  return {
    Account: account.address,
    Balance: String(account.balance),
    Flags: account.flags,
    OwnerCount: account.ownerCount,
    ...(account.regularKey === null ? {} : { RegularKey: account.regularKey }),
    Sequence: account.sequence,
    ...(account.tickets.length === 0 ? {} : { TicketCount: account.tickets.length }),
    ...(account.isPseudo ? { AMMID: sha512Half(Buffer.from(account.address)) } : {}),
  };
}

/** The members of a ticket in the ledger. */
export function ticketFields(address: string, ticket: number): Record<string, unknown> {
  return { Account: address, Flags: 0, OwnerNode: '0', TicketSequence: ticket };
}

/** https://xrpl.org/docs/references/protocol/transactions/metadata */
function changedNodes(address: string, before: XrpAccount | null, after: XrpAccount | null): [Hash, object][] {
  const root = { LedgerEntryType: 'AccountRoot', LedgerIndex: accountIndex(address) };
  if (!before && !after) return [];
  if (!before && after) {
    const { Flags, OwnerCount, ...rest } = accountFields(after);
    const fields = { ...rest, ...(Flags ? { Flags } : {}), ...(OwnerCount ? { OwnerCount } : {}) };
    return [[root.LedgerIndex, { CreatedNode: { ...root, NewFields: fields } }]];
  }
  if (before && !after) {
    const final = { ...accountFields(before), Balance: '0', Sequence: before.sequence + 1, ...previousOf(before) };
    const PreviousFields = { Balance: String(before.balance), Sequence: before.sequence };
    return [[root.LedgerIndex, { DeletedNode: { ...root, FinalFields: final, PreviousFields } }]];
  }
  if (!before || !after) return [];
  const [old, final] = [accountFields(before), accountFields(after)];
  const changed = Object.entries(old).filter(([name, value]) => final[name] !== value);
  const PreviousFields = Object.fromEntries(changed);
  const modified = { FinalFields: final, ...root, PreviousFields, ...previousOf(before) };
  return [[root.LedgerIndex, { ModifiedNode: modified }], ...ticketNodes(before, after)];
}

function ticketNodes(before: XrpAccount, after: XrpAccount): [Hash, object][] {
  const { address } = after;
  const [old, now] = [new Set(before.tickets), new Set(after.tickets)];
  const entry = (ticket: number): { LedgerEntryType: string; LedgerIndex: Hash } => ({
    LedgerEntryType: 'Ticket',
    LedgerIndex: ticketIndex(address, ticket),
  });
  const made = after.tickets.filter((ticket) => !old.has(ticket));
  const used = before.tickets.filter((ticket) => !now.has(ticket));
  const directory = directoryIndex(address);
  const directoryNode = {
    FinalFields: { Flags: 0, Owner: address, RootIndex: directory },
    LedgerEntryType: 'DirectoryNode',
    LedgerIndex: directory,
  };
  return [
    ...made.map((ticket): [Hash, object] => {
      const NewFields = { Account: address, TicketSequence: ticket };
      return [entry(ticket).LedgerIndex, { CreatedNode: { ...entry(ticket), NewFields } }];
    }),
    ...used.map((ticket): [Hash, object] => {
      const FinalFields = { ...ticketFields(address, ticket), ...previousOf(before) };
      return [entry(ticket).LedgerIndex, { DeletedNode: { FinalFields, ...entry(ticket) } }];
    }),
    ...(made.length + used.length > 0 ? [[directory, { ModifiedNode: directoryNode }] as [Hash, object]] : []),
  ];
}

function previousOf({ previousTxn, previousLedger }: XrpAccount): object {
  return previousTxn === noHash ? {} : { PreviousTxnID: previousTxn, PreviousTxnLgrSeq: previousLedger };
}
