import { randomUUID } from 'node:crypto';
import type {
  ChainAdapter,
  ChainTraits,
  Cursor,
  EarlierTx,
  HotSpend,
  PaymentIntent,
  Pending,
  PreparedTx,
  Promised,
  Reservation,
  ScanResult,
  SignedTx,
  Transfer,
  TxStatus,
} from '../../../../src/chains/port/chain-adapter.ts';
import type { ChainHarness } from '../chain-conformance.ts';

/** What a family's chain can do in addition to its traits. */
export const abilities = [
  'token',
  'tag',
  'balances of tags',
  'refusal',
  'sweeps',
  'replacement',
  'final balances',
  'large amounts',
] as const;
export type Ability = (typeof abilities)[number];

/** A family, as far as it decides which tests apply. */
export interface Family {
  readonly traits: ChainTraits;
  readonly abilities: readonly Ability[];
  /** An amount that pays any fee many times over; 100,000 of the smallest unit unless told. */
  readonly unit?: bigint;
  /** 'own' finds what comes to the hot wallet only, and leaves out blocks without it. */
  readonly finds?: 'own';
  /** Coins that a payment of tokens brings to its recipient too. */
  readonly forwarded?: bigint;
  /** The most that the chain takes from an address for its entry while a test runs. */
  readonly rent?: bigint;
  /** How many tests of the suite apply, and how many do not. */
  readonly counts: { readonly tried: number; readonly skipped: number };
}

const usualUnit = 100_000n;

const familyNeeds = {
  'every block': ({ finds }: Family) => finds !== 'own',
  'own blocks only': ({ finds }: Family) => finds === 'own',
} as const;

const traitNeeds = {
  reorgs: ({ reorgs }: ChainTraits) => reorgs,
  'final blocks': ({ reorgs }: ChainTraits) => !reorgs,
  mempool: ({ mempool }: ChainTraits) => mempool,
  conflict: ({ death }: ChainTraits) => death.conflict,
  expiry: ({ death }: ChainTraits) => death.expiry !== 'none',
  exclusion: ({ exclusive }: ChainTraits) => exclusive,
  'balances of addresses': ({ deposits, paysFromDeposits }: ChainTraits) => deposits === 'shared' || !paysFromDeposits,
  'payment from deposits': ({ paysFromDeposits }: ChainTraits) => paysFromDeposits,
  'attempts that do not exclude each other': ({ exclusive }: ChainTraits) => !exclusive,
} as const;

export type Need = Ability | keyof typeof traitNeeds | keyof typeof familyNeeds;

function has(family: Family, need: Need): boolean {
  const { traits, abilities: able } = family;
  if (need === 'every block' || need === 'own blocks only') return familyNeeds[need](family);
  const ofTraits = Object.entries(traitNeeds).find(([name]) => name === need);
  return ofTraits ? ofTraits[1](traits) : able.some((one) => one === need);
}

/** A chain of one's own for each test of a family, and what the tests do with it. */
export class Bench {
  readonly family: Family;
  readonly #makeHarness: () => Promise<ChainHarness>;
  readonly #counts = { tried: 0, skipped: 0 };
  #chain: ChainHarness | null = null;
  /** What live payments hold. */
  held = new Map<Reservation, Promised>();

  constructor(family: Family, makeHarness: () => Promise<ChainHarness>) {
    this.family = family;
    this.#makeHarness = makeHarness;
  }

  /** Begins each test with a chain, and ends it. */
  use(): void {
    beforeEach(async () => {
      this.#chain = await this.#makeHarness();
      this.held = new Map();
    });
    afterEach(() => this.#chain?.stop());
  }

  get counts(): Family['counts'] {
    return this.#counts;
  }

  get chain(): ChainHarness {
    if (!this.#chain) throw new Error('there is no chain outside a test');
    return this.#chain;
  }

  get adapter(): ChainAdapter {
    return this.chain.adapter;
  }

  /** A test of the families that have all of this. Elsewhere it is skipped, with what they lack. */
  test(title: string, needs: readonly Need[], body: () => Promise<void>): void {
    const lacking = needs.filter((need) => !has(this.family, need));
    this.#counts[lacking.length === 0 ? 'tried' : 'skipped'] += 1;
    if (lacking.length === 0) it(title, body);
    else it.skip(`${title} (not without ${lacking.join(' and ')})`, body); // counted by the family
  }

  /** An amount that pays any fee many times over. */
  get unit(): bigint {
    return this.family.unit ?? usualUnit;
  }

  /** An address at which a scan finds what arrives. */
  async receiver(): Promise<string> {
    if (this.family.finds === 'own') return (await this.adapter.hotWallet()).address;
    return this.chain.ownAddress?.() ?? this.chain.address();
  }

  async startHere(): Promise<Cursor> {
    return this.adapter.start((await this.adapter.head()).height);
  }

  /**
   * What a scan finds at an address. Where it finds what comes to the hot wallet only, it finds
   * nothing else either.
   */
  async foundAt(to: string, cursor: Cursor): Promise<Transfer[]> {
    const found = transfersOf(await this.adapter.scan(cursor, 20));
    return this.family.finds === 'own' ? found : found.filter(({ address }) => address === to);
  }

  intent(changes: Partial<PaymentIntent> = {}): PaymentIntent {
    const to = changes.to ?? this.chain.address();
    return { id: randomUUID(), attempt: 1, from: null, contract: null, tag: null, amount: this.unit, ...changes, to };
  }

  /** A signed payment, which is not broadcast. */
  async signed(payment: PaymentIntent): Promise<SignedTx> {
    const prepared = await this.adapter.prepare(payment, this.held);
    for (const one of prepared.reserves) {
      expect(this.held.has(one)).toBe(false);
      this.held.set(one, { contract: payment.contract, amount: payment.amount, fee: prepared.fee });
    }
    const tx = await this.chain.sign(payment, prepared);
    expect([...tx.reserves].sort()).toEqual([...prepared.reserves].sort());
    expect(tx.expiresAt).toEqual(prepared.expiresAt);
    expect(tx.expiresAt === null).toBe(this.family.traits.death.expiry === 'none');
    return tx;
  }

  /** Whether a scan sees what comes to addresses of others. */
  get seesAll(): boolean {
    return this.family.finds !== 'own' && this.chain.ownAddress === undefined;
  }

  async balance(address: string, contract: string | null = null): Promise<bigint> {
    if (this.chain.received && address !== (await this.adapter.hotWallet()).address) {
      return this.chain.received(address);
    }
    const [amount] = await this.adapter.balances([{ address, tag: null }], contract);
    return amount ?? -1n;
  }

  /** A balance that grew by an amount, without what the chain took for its entry. */
  lessRent(balance: bigint, amount: bigint): bigint {
    const missing = amount - balance;
    return missing > 0n && missing <= (this.family.rent ?? 0n) ? amount : balance;
  }

  async hotBalance(contract: string | null = null): Promise<bigint> {
    return this.balance((await this.adapter.hotWallet()).address, contract);
  }

  async waiting(known: readonly string[]): Promise<Pending> {
    if (!this.adapter.pending) throw new Error(`${this.adapter.chain} shows nothing that waits`);
    return this.adapter.pending(known);
  }

  async pendingTo(to: string): Promise<Transfer[]> {
    const { transfers } = await this.waiting([]);
    return transfers.filter(({ address }) => address === to);
  }

  async spent(txid: string): Promise<HotSpend | null> {
    if (!this.adapter.spent) throw new Error('the adapter cannot tell');
    return this.adapter.spent(txid);
  }

  /** The status of a transaction that no node has. */
  unseen({ expiresAt }: SignedTx): TxStatus {
    if (this.family.traits.mempool || expiresAt === null) return { state: 'unknown' };
    return { state: 'waiting', until: expiresAt };
  }

  /** The status of a transaction that waits at a node. */
  pooled(tx: SignedTx): TxStatus {
    return this.family.traits.mempool ? { state: 'mempool' } : this.unseen(tx);
  }
}

export function expectMined(status: TxStatus): Extract<TxStatus, { state: 'mined' }> {
  if (status.state !== 'mined') throw new Error(`expected a mined transaction, got ${JSON.stringify(status)}`);
  return status;
}

export function transfersOf(...results: readonly ScanResult[]): Transfer[] {
  return results.flatMap(({ blocks }) => blocks.flatMap(({ transfers }) => transfers));
}

/** What receiving took in these blocks. */
export function costsOf({ blocks }: Pick<ScanResult, 'blocks'>): bigint {
  return blocks.reduce((sum, { receiveCost = 0n }) => sum + receiveCost, 0n);
}

/** An attempt that settlement takes for dead. */
export function earlierOf({ payload, reserves, expiresAt }: PreparedTx): EarlierTx {
  return { payload, reserves, expiresAt, why: 'expired' };
}
