import { networkById } from '../../../src/chains/networks/networks.ts';
import type { ChainAdapter } from '../../../src/chains/port/chain-adapter.ts';
import type { StaffProposal } from '../../../src/settlement/staff-actions.ts';
import type { SettledGateway } from '../gateway/settled-gateway.ts';

/** What the books of an account at an exchange need of a gateway, on any chains. */
export type BooksGateway = Pick<
  SettledGateway,
  'app' | 'clock' | 'query' | 'settlement' | 'staff' | 'stop' | 'tick'
> & {
  differences(): Promise<readonly Difference[]>;
};

type Difference = Awaited<ReturnType<SettledGateway['differences']>>[number];

/** The books of a gateway that watches our account at an exchange, and the members who decide. */
export class AccountBooks<Gateway extends BooksGateway = SettledGateway> {
  readonly gateway: Gateway;
  /** The name of the exchange. */
  readonly venue: string;
  #members: Promise<readonly [string, string]> | null = null;

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

  /** Kinds of the entries about the account since the start, in order. */
  async entries(): Promise<string[]> {
    const rows = await this.gateway.query<{ kind: string }>(
      `select kind from ledger_transaction
        where kind like 'transfer%' or kind like 'venue%' or kind like 'funding%' order by at, id`,
    );
    return rows.map(({ kind }) => kind);
  }

  transfers(): Promise<{ reference: string; state: string; problem: string | null }[]> {
    return this.gateway.query('select reference, state, problem from treasury_transfer order by created_at, id');
  }

  /** Differences of `ledger reconcile`, as 'check subject difference'. */
  async differences(): Promise<string[]> {
    const rows = await this.gateway.differences();
    return rows.map(({ check, subject, difference }) => `${check} ${subject} ${difference}`);
  }

  /** One member proposes, and another one approves. */
  async decide(proposal: Omit<StaffProposal, 'staffId' | 'reason'>): Promise<void> {
    const [one, other] = await this.#staff();
    const { staffActions } = this.gateway.settlement;
    const { id } = await staffActions.propose({ ...proposal, staffId: one, reason: 'test' });
    await staffActions.approve(id, other);
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
