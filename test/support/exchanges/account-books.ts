import { Big } from '../../../src/base/money.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import type { ChainAdapter } from '../../../src/chains/port/chain-adapter.ts';
import type { VenueClass } from '../../../src/settlement/rows/staff-action.entity.ts';
import type { StaffProposal } from '../../../src/settlement/staff-actions.ts';
import type { VenueSubject } from '../../../src/settlement/treasury/venue-decisions.ts';
import type { SettledGateway } from '../gateway/settled-gateway.ts';

/** What the books of an account at an exchange need of a gateway, on any chains. */
export type BooksGateway = Pick<
  SettledGateway,
  'app' | 'clock' | 'query' | 'settlement' | 'staff' | 'stop' | 'tick'
> & {
  differences(chains?: readonly string[]): Promise<readonly Difference[]>;
};

type Difference = Awaited<ReturnType<SettledGateway['differences']>>[number];

/** The chains on which tests move coins. */
export const usedChains: readonly string[] = ['bitcoin', 'litecoin', 'ethereum', 'tron'];

/** What the books had before a test. */
interface Mark {
  readonly entries: number;
  readonly transfers: number;
  /** By account and coin. */
  readonly sums: ReadonlyMap<string, string>;
}

/** The books of a gateway that watches our account at an exchange, and the members who decide. */
export class AccountBooks<Gateway extends BooksGateway = SettledGateway> {
  readonly gateway: Gateway;
  /** The name of the exchange. */
  readonly venue: string;
  #members: Promise<readonly [string, string]> | null = null;
  #mark: Mark = { entries: 0, transfers: 0, sums: new Map() };

  constructor(gateway: Gateway, venue: string) {
    this.gateway = gateway;
    this.venue = venue;
  }

  chain(network: string): string {
    return networkById(network)?.chain ?? '';
  }

  adapter(network: string): ChainAdapter {
    const adapter = this.gateway.settlement.adapters.get(this.chain(network));
    if (!adapter) throw new Error(`no adapter of ${network}`);
    return adapter;
  }

  async hotWallet(network: string): Promise<string> {
    return (await this.adapter(network).hotWallet()).address;
  }

  /** Begins a test: `entries`, `transfers` and `added` tell what is new since then. */
  async mark(): Promise<void> {
    const sums = await this.gateway.query<{ name: string; amount: string }>(
      `select account || ' ' || coin as name, sum(amount)::text as amount from ledger_line group by account, coin`,
    );
    this.#mark = {
      entries: this.#mark.entries + (await this.entries()).length,
      transfers: this.#mark.transfers + (await this.transfers()).length,
      sums: new Map(sums.map(({ name, amount }) => [name, amount])),
    };
  }

  /** What was booked to an account of the ledger for a coin since the mark. */
  async added(account: string, coin: string): Promise<string> {
    const before = this.#mark.sums.get(`${account} ${coin}`) ?? '0';
    return new Big(await this.booked(account, coin)).minus(before).toFixed();
  }

  /** The sum of an account of the ledger for a coin. */
  async booked(account: string, coin: string): Promise<string> {
    const [row] = await this.gateway.query<{ amount: string }>(
      'select trim_scale(coalesce(sum(amount), 0))::text as amount from ledger_line where account = $1 and coin = $2',
      [account, coin],
    );
    return row?.amount ?? '';
  }

  /** The sums of an account of the ledger that are not zero, by coin. */
  async sums(account: string): Promise<Record<string, string>> {
    const rows = await this.gateway.query<{ coin: string; amount: string }>(
      `select coin, trim_scale(sum(amount))::text as amount from ledger_line
        where account = $1 group by coin having sum(amount) <> 0 order by coin`,
      [account],
    );
    return Object.fromEntries(rows.map(({ coin, amount }) => [coin, amount]));
  }

  /** Kinds of the entries about the account since the mark, in order. */
  async entries(): Promise<string[]> {
    const rows = await this.gateway.query<{ kind: string }>(
      `select kind from ledger_transaction
        where kind like 'transfer%' or kind like 'venue%' or kind like 'funding%' order by at, id`,
    );
    return rows.slice(this.#mark.entries).map(({ kind }) => kind);
  }

  /** The transfers since the mark, oldest first. */
  async transfers(): Promise<{ reference: string; state: string; problem: string | null }[]> {
    const rows = await this.gateway.query<{ reference: string; state: string; problem: string | null }>(
      'select reference, state, problem from treasury_transfer order by created_at, id',
    );
    return rows.slice(this.#mark.transfers);
  }

  /** Differences of `ledger reconcile` on `usedChains`, as 'check subject difference'. */
  async differences(): Promise<string[]> {
    const rows = await this.gateway.differences(usedChains);
    return rows.map(({ check, subject, difference }) => `${check} ${subject} ${difference}`);
  }

  /** One member proposes, and another one approves. */
  async decide(proposal: Omit<StaffProposal, 'staffId' | 'reason'>): Promise<void> {
    const [one, other] = await this.#staff();
    const { staffActions } = this.gateway.settlement;
    const { id } = await staffActions.propose({ ...proposal, staffId: one, reason: 'test' });
    await staffActions.approve(id, other);
  }

  /** Members say what a movement or a difference is. */
  classify(venueSubject: VenueSubject, as: VenueClass): Promise<void> {
    return this.decide({ action: 'venue_classify', venue: this.venue, venueSubject, class: as });
  }

  /** Members take the balances, as they were read, into the books. */
  async takeIn(): Promise<void> {
    await this.decide({ action: 'venue_opening', venue: this.venue });
  }

  /** Two operators. */
  #staff(): Promise<readonly [string, string]> {
    this.#members ??= Promise.all([
      this.gateway.staff.create('one@example.com', 'operator'),
      this.gateway.staff.create('two@example.com', 'operator'),
    ]).then(([one, other]) => [one.member.id, other.member.id] as const);
    return this.#members;
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
  }
}
