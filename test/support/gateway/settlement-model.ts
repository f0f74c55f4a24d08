import { setTimeout as sleep } from 'node:timers/promises';
import type fc from 'fast-check';
import { Client } from 'pg';
import type { OutsideWorld } from '../../../src/app/outside-world.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { type ChainAdapter, ChainError, type SignedTx, type Transfer } from '../../../src/chains/chain-adapter.ts';
import { hotWalletSetting } from '../../../src/chains/hot-wallet.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { SignerError } from '../../../src/chains/signer.ts';
import { AppError } from '../../../src/errors.ts';
import { reconcile } from '../../../src/ledger/reconcile.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../../src/money.ts';
import { orderMoves } from '../../../src/orders/order-status.ts';
import type { PriceSource, SourcePrice } from '../../../src/rates/price-source.ts';
import { sandboxPrices } from '../../../src/rates/sources/sandbox-prices.ts';
import type { CrashPoint } from '../../../src/settlement/crash-point.ts';
import type { StaffActionName } from '../../../src/settlement/staff-action.entity.ts';
import type { StaffProposal } from '../../../src/settlement/staff-actions.ts';
import type { LiquidityVenue } from '../../../src/settlement/venues/liquidity-venue.ts';
import { createDatabase } from '../database/database.ts';
import { withWaiting } from '../faults/faults.ts';
import { TestClock } from './clock.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from './settled-gateway.ts';

/** The pairs of the model. All chains of theirs are the networks below. */
export const pairs = {
  'BTC-USDT': { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', amount_from: 0.01 },
  'XRP-BTC': { coin_from: 'XRP', network_from: 'XRP', coin_to: 'BTC', network_to: 'BTC', amount_from: 2000 },
  'ETH-SOL': { coin_from: 'ETH', network_from: 'ETH', coin_to: 'SOL', network_to: 'SOL', amount_from: 1 },
} as const;
export type PairName = keyof typeof pairs;
/** All networks of the pairs. */
const networks = ['BTC', 'TRC20', 'XRP', 'ETH', 'SOL'] as const;

/** One of an order's two chains. */
export class Place {
  readonly index: number;
  readonly at: 'from' | 'to';

  constructor(index: number, at: 'from' | 'to') {
    this.index = index;
    this.at = at;
  }

  toString(): string {
    return `#${this.index}.${this.at}`;
  }
}

export const depositKinds = [
  'exact',
  'partial',
  'below_minimum',
  'dust',
  'over',
  'above_maximum',
  'wrong_tag',
  'no_tag',
  'wrong_coin',
  'stuck',
] as const;
export type DepositKind = (typeof depositKinds)[number];

/** What a node does with the next transaction it is handed. */
export const broadcastAnswers = ['silent', 'throws', 'refuses', 'swallows'] as const;
export type BroadcastAnswer = (typeof broadcastAnswers)[number];
/** What the venue does when it is asked next. */
export const venueAnswers = ['silent', 'throws', 'rejects'] as const;
export type VenueAnswerName = (typeof venueAnswers)[number];
export const signerStates = ['here', 'away', 'silent'] as const;
export type SignerState = (typeof signerStates)[number];
export const nodeQuestions = ['status', 'scan', 'pending', 'prepare'] as const;
export type NodeQuestion = (typeof nodeQuestions)[number];

/** How prices stand to the table, at most twice one another. */
export const priceLevels = ['1', '1.01', '0.99', '1.4', '0.7'] as const;

const answering = ['completed', 'expired', 'refunded', 'failed', 'waiting_deposit'];

/** Refuses, at commit, a payment that is decided or begun while its order's account is in debit. */
const noPaymentInDebit = `
  create function refuse_debit() returns trigger language plpgsql as $$
  begin
    if exists (select from ledger_transaction x join ledger_line l on l.transaction_id = x.id and l.account = 'client'
                where x.order_id = new.order_id group by l.coin, l.network having sum(l.amount) > 0) then
      raise exception 'payment % (% to %) of an order in debit', new.id, new.kind, new.state;
    end if;
    return null;
  end $$;
  create constraint trigger payment_decided_in_debit after insert on payment
    deferrable initially deferred for each row execute function refuse_debit();
  create constraint trigger payment_begun_in_debit after update on payment
    deferrable initially deferred for each row
    when (old.state = 'ready' and new.state = 'prepared') execute function refuse_debit()`;

/** A fault of the outside world that this test made. */
class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}

/** Prices of the table, moved by what the model says. */
class ModelPrices implements PriceSource {
  readonly name = 'model';
  readonly #clock: TestClock;
  readonly levels = new Map<string, string>();
  isAway = false;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    if (this.isAway) throw new InjectedFault('no prices');
    const at = this.#clock.now();
    const known = coins.flatMap((coin): [string, SourcePrice][] => {
      const base = sandboxPrices[coin];
      if (base === undefined) return [];
      return [[coin, { price: formatDecimal(new Big(base).times(this.levels.get(coin) ?? '1')), at }]];
    });
    return new Map(known);
  }
}

/** One process of the gateway, which can end half way through anything. */
interface Process {
  isDead: boolean;
  crashAt: { readonly crashPoint: CrashPoint; nth: number } | null;
  died: () => void;
}

interface Attempt {
  readonly payment_id: string;
  readonly attempt: number;
  readonly raw: string | null;
}

function chainOf(network: string): string {
  return networkById(network)?.chain ?? '';
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** A gateway, everything around it, and what must always hold. */
export class World {
  readonly clock = new TestClock();
  readonly prices = new ModelPrices(this.clock);
  readonly orders: MadeOrder[] = [];
  /** Kept apart from the database, which must never forget one. */
  readonly #acknowledged = new Set<string>();
  readonly #broadcasts = new Map<string, BroadcastAnswer[]>();
  /** What waits for a block that never comes. */
  readonly #stuck: { readonly chain: string; readonly transfer: Transfer }[] = [];
  #stuckCount = 0;
  readonly #questions: { chain: string; question: NodeQuestion }[] = [];
  readonly #unread = new Set<string>();
  readonly #venue: VenueAnswerName[] = [];
  readonly #sent = new Map<string, Set<string>>();
  readonly #violations: string[] = [];
  readonly #staff: string[] = [];
  readonly #databaseUrl: string;
  readonly #dropDatabase: () => Promise<void>;
  readonly #client: Client;
  #signer: SignerState = 'here';
  #hot = '';
  #isHealed = false;
  #process: Process | null = null;
  #gateway: SettledGateway | null = null;

  private constructor(databaseUrl: string, dropDatabase: () => Promise<void>) {
    this.#databaseUrl = databaseUrl;
    this.#dropDatabase = dropDatabase;
    this.#client = new Client({ connectionString: databaseUrl });
    this.#client.on('error', () => {});
  }

  static async open(): Promise<World> {
    const database = await createDatabase();
    const world = new World(database.url, database.drop);
    await world.#client.connect();
    // Two epochs are many blocks to make for every order, and reorganisations here are not that
    // deep.
    await world.rows(`update currency set min_confirmations = 3 where network in ('ETH', 'ERC20')`);
    await world.rows(noPaymentInDebit);
    await world.#start();
    for (const name of ['first', 'second']) {
      world.#staff.push((await world.gateway.staff.create(`${name}@example.com`, 'operator')).member.id);
    }
    const [row] = await world.rows<{ value: string }>('select value from setting where name = $1', [
      hotWalletSetting('sandbox'),
    ]);
    world.#hot = row?.value ?? '';
    return world;
  }

  async close(): Promise<void> {
    await this.#gateway?.stop();
    await this.#client.end();
    await this.#dropDatabase();
  }

  get gateway(): SettledGateway {
    if (!this.#gateway) throw new Error('the gateway is not running');
    return this.#gateway;
  }

  async rows<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(sql, values)).rows;
  }

  // ----- what happens -----

  async create(pair: PairName, rateType: 'float' | 'fixed', hasRefund: boolean): Promise<boolean> {
    const { amount_from: amount, network_from: networkFrom, network_to: networkTo, ...coins } = pairs[pair];
    const body = {
      ...coins,
      network_from: networkFrom,
      network_to: networkTo,
      amount_from: amount,
      rate_type: rateType,
      recipient_address: addressExample(networkTo),
      refund_address: hasRefund ? addressExample(networkFrom) : undefined,
    };
    try {
      const order = await this.gateway.order(body);
      this.orders.push(order);
      this.#acknowledged.add(order.id);
      return true;
    } catch (error) {
      // Without a fresh price there is no quote, and so no order.
      if (!this.prices.isAway || !String(error).includes('pair_unavailable')) throw error;
      return false;
    }
  }

  order(index: number): MadeOrder {
    const order = this.orders[index % this.orders.length];
    if (!order) throw new Error('there is no order yet');
    return order;
  }

  async deposit(index: number, kind: DepositKind): Promise<void> {
    const order = this.order(index);
    const currency = this.gateway.app.catalogue.find(order.coinFrom, order.networkFrom);
    const [limits] = await this.rows<{ min: string; max: string }>(
      'select min_amount::text as min, max_amount::text as max from exchange_order where id = $1',
      [order.id],
    );
    if (!currency || !limits) throw new Error('an order without a currency');
    const expected = new Big(order.amountFrom);
    const amounts: Record<DepositKind, Big> = {
      exact: expected,
      partial: expected.plus(limits.min).div('2'),
      below_minimum: new Big(limits.min).div('2'),
      dust: new Big(currency.networkFee).div('2'),
      over: expected.times('1.5'),
      above_maximum: new Big(limits.max).plus(expected),
      wrong_tag: expected,
      no_tag: expected,
      wrong_coin: expected,
      stuck: expected,
    };
    if (kind === 'stuck') {
      // It waits for a block, and no block takes it.
      const { depositAddress: address, depositTag: tag } = order;
      this.#stuckCount += 1;
      const txid = this.#stuckCount.toString(16).padStart(64, '0');
      const amount = toUnits(order.amountFrom, currency.decimals);
      const transfer = { key: `${txid}:0`, txid, address, tag, contract: currency.contract, amount };
      this.#stuck.push({ chain: chainOf(order.networkFrom), transfer });
      return;
    }
    if (kind === 'wrong_coin' && order.networkFrom === 'ETH') {
      await this.gateway.deposit(order, { coin: 'USDT', network: 'ERC20', amount: '500' });
      return;
    }
    const amount = formatDecimal(floorTo(amounts[kind], currency.decimals));
    const tag = kind === 'wrong_tag' ? '4294967295' : kind === 'no_tag' ? null : order.depositTag;
    await this.gateway.deposit(order, { amount, tag: order.depositTag === null ? null : tag });
  }

  /** A deposit that no block would take is no longer in the mempool. */
  unstick(): void {
    this.#stuck.shift();
  }

  async mine(place: Place, blocks: number): Promise<void> {
    await this.gateway.mine(this.#network(place), blocks);
  }

  #network({ index, at }: Place): string {
    const { networkFrom, networkTo } = this.order(index);
    return at === 'from' ? networkFrom : networkTo;
  }

  /**
   * Never so deep that a payment which the adapter called final is lost, nor what the hot wallet
   * began with: that is what finality promises. A payment that succeeded may wait for a block
   * again, since it is mined again.
   */
  async reorg(place: Place, depth: number, keep: boolean): Promise<void> {
    const network = this.#network(place);
    const [row] = await this.rows<{ depth: number }>(
      `select c.height::int - coalesce(max(t.height), 0)::int as depth
         from sandbox_chain c
         left join (sandbox_tx t
                    left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
                    left join payment p on p.id = a.payment_id)
           on t.chain = c.chain and t.state = 'mined'
              and (t.recipient = $3 or (not ($2 and t.success) and (a.dead_at is not null or p.state = 'confirmed')))
        where c.chain = $1 group by c.height`,
      [chainOf(network), keep, this.#hot],
    );
    const allowed = Math.min(depth, row?.depth ?? 0);
    if (allowed > 0) await this.gateway.reorg(network, allowed, keep);
  }

  /** The mempool forgets any transaction, except a payment that was final before. */
  async drop(index: number): Promise<void> {
    const waiting = await this.rows<{ chain: string; txid: string }>(
      `select t.chain, t.txid from sandbox_tx t
         left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
         left join payment p on p.id = a.payment_id
        where t.state = 'mempool' and p.state is distinct from 'confirmed' order by t.seq`,
    );
    const tx = waiting[index % Math.max(1, waiting.length)];
    if (tx) await this.gateway.settlement.sandbox.drop(tx.chain, tx.txid);
  }

  async movePrice(coin: string, level: string): Promise<void> {
    this.prices.levels.set(coin, level);
    await this.#refreshPrices();
  }

  async setPricesAway(isAway: boolean): Promise<void> {
    this.prices.isAway = isAway;
    await this.#refreshPrices();
  }

  async advance(seconds: number): Promise<void> {
    this.clock.advance(seconds * 1000);
    await this.#refreshPrices();
  }

  tick(): Promise<void> {
    return this.gateway.tick();
  }

  /** The ordinary course of an order's chains. */
  async work(index: number, rounds: number): Promise<void> {
    const order = this.order(index);
    for (let round = 0; round < rounds; round++) {
      await this.tick();
      for (const network of new Set([order.networkFrom, order.networkTo])) await this.gateway.mine(network);
      await this.advance(2);
    }
    await this.tick();
  }

  answerBroadcast(place: Place, answer: BroadcastAnswer, times: number): void {
    const chain = chainOf(this.#network(place));
    const answers = Array.from({ length: times }, () => answer);
    this.#broadcasts.set(chain, [...(this.#broadcasts.get(chain) ?? []), ...answers]);
  }

  answerVenue(answer: VenueAnswerName, times: number): void {
    for (let i = 0; i < times; i++) this.#venue.push(answer);
  }

  /** A chain that cannot be read, or can again. */
  setUnread(place: Place, isUnread: boolean): void {
    const chain = chainOf(this.#network(place));
    if (isUnread) this.#unread.add(chain);
    else this.#unread.delete(chain);
  }

  failQuestion(place: Place, question: NodeQuestion): void {
    this.#questions.push({ chain: chainOf(this.#network(place)), question });
  }

  setSigner(state: SignerState): void {
    this.#signer = state;
  }

  /** The users' wallets of a network take nothing, or something again. */
  async refuse(place: Place, isRefusing: boolean): Promise<void> {
    await this.#refuse(this.#network(place), isRefusing);
  }

  async #refuse(network: string, isRefusing: boolean): Promise<void> {
    const { sandbox } = this.gateway.settlement;
    const address = addressExample(network);
    await (isRefusing ? sandbox.refuse(chainOf(network), address) : sandbox.accept(chainOf(network), address));
  }

  /**
   * The process ends at a crash point in the course of an order's chains, and another one starts.
   */
  async crash(crashPoint: CrashPoint, nth: number, index: number): Promise<void> {
    const process = this.#process;
    if (!process) throw new Error('the gateway is not running');
    process.crashAt = { crashPoint, nth };
    const died = new Promise<void>((resolve) => {
      process.died = resolve;
    });
    const worked = this.work(index, 3).catch((error: unknown) => {
      if (!process.isDead) throw error;
    });
    await Promise.race([died, worked]);
    process.crashAt = null;
    if (!process.isDead) return;
    // What was under way beside it comes to its own next crash point, and ends there.
    await sleep(30);
    await this.restart();
  }

  async restart(): Promise<void> {
    if (this.#process) this.#process.isDead = true;
    await this.#gateway?.stop();
    this.#gateway = null;
    await this.#start();
  }

  /**
   * Two members do something to an order; what makes no sense is refused. Returns whether it was
   * done.
   */
  async staff(action: StaffActionName, index: number): Promise<boolean> {
    const order = this.order(index);
    const [row] = await this.rows<{ status: string; extra: string | null; main: string | null }>(
      `select status, deposit_id as main,
              (select id from deposit d where d.order_id = o.id and d.problem is not null order by seen_at, id limit 1)
                as extra
         from exchange_order o where id = $1`,
      [order.id],
    );
    const recipient = { address: addressExample(order.networkFrom), tag: null };
    const depositId = row?.status === 'failed' ? null : (row?.extra ?? null);
    const asked = { action, staffId: this.#staff[0] ?? '', reason: 'the model says so' };
    if (action === 'resume_payouts') {
      const [hold] = await this.rows<{ id: string }>(
        'select id from payout_hold where closed_at is null order by opened_at limit 1',
      );
      return hold ? this.#act({ ...asked, holdId: hold.id, acknowledges: true }) : false;
    }
    return this.#act({
      ...asked,
      orderId: order.id,
      ...(action === 'refund' ? { recipient, ...(depositId === null ? {} : { depositId }) } : {}),
      ...(action === 'venue_price' ? { price: '1' } : {}),
    });
  }

  async #act(proposal: StaffProposal): Promise<boolean> {
    const { staffActions } = this.gateway.settlement;
    try {
      const { id, state } = await staffActions.propose(proposal);
      if (state === 'proposed') await staffActions.approve(id, this.#staff[1] ?? '');
      return true;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'action_not_possible') return false;
      throw error;
    }
  }

  // ----- the end of a run -----

  /**
   * Nothing goes wrong any more; then everything comes to rest, and staff can finish what failed.
   */
  async heal(): Promise<void> {
    this.#broadcasts.clear();
    this.#questions.length = 0;
    this.#unread.clear();
    this.#venue.length = 0;
    this.#stuck.length = 0;
    this.#signer = 'here';
    this.prices.levels.clear();
    this.prices.isAway = false;
    this.#isHealed = true;
    for (const network of networks) await this.#refuse(network, false);
    // A jump back that is too large is believed only once the price before it has grown old.
    await this.advance(3700);
    await this.#untilQuiet();
    await this.verify('heal');
    await this.verifyRest();
    const staffed = await this.rows<{ id: string }>(
      `select id from exchange_order where hold_reason = 'staff' order by id`,
    );
    for (const { id } of staffed) await this.staff('release', this.#indexOf(id));
    await this.#untilQuiet();
    const failed = await this.rows<{ id: string }>(`select id from exchange_order where status = 'failed' order by id`);
    for (const { id } of failed) {
      const isRetried = await this.staff('retry_payout', this.#indexOf(id));
      if (!isRetried) await this.staff('refund', this.#indexOf(id));
    }
    await this.#untilQuiet();
    await this.verify('staff finish');
    await this.verifyRest();
    await this.#verifyFinished();
  }

  #indexOf(id: string): number {
    return this.orders.findIndex((order) => order.id === id);
  }

  async #untilQuiet(): Promise<void> {
    for (let round = 0; round < 60; round++) {
      for (const network of networks) await this.gateway.mine(network, 2);
      await this.advance(round < 5 ? 6 : 60);
      await this.tick();
      if ((await this.#restless()).length === 0) return;
    }
  }

  /** What has not come to its end although nothing stands in its way. */
  async #restless(): Promise<string[]> {
    const rows = await this.rows<{ what: string }>(
      `select 'order ' || o.short_id || ' is ' || o.status || ', deposit ' || coalesce(d.state, 'none') as what
         from exchange_order o left join deposit d on d.id = o.deposit_id
        where not o.status = any($1) and o.held_at is null and (d.state is null or d.state <> 'orphaned')
       union all
       select p.kind || ' of ' || coalesce(o.short_id, 'no order') || ' is ' || p.state || ', problem '
              || coalesce(p.problem, 'none')
         from payment p join deposit d on d.id = p.deposit_id left join exchange_order o on o.id = p.order_id
        where p.state not in ('confirmed', 'dead') and o.held_at is null
          and not (p.state in ('ready', 'prepared') and d.state = 'orphaned')
       union all
       select 'a deposit of ' || coalesce(o.short_id, 'no order') || ' is ' || d.state
         from deposit d left join exchange_order o on o.id = d.order_id where d.state in ('mempool', 'mined')
       union all
       select 'order ' || o.short_id || ' is expired, its deposit is credited'
         from exchange_order o join deposit d on d.id = o.deposit_id
        where o.status = 'expired' and d.state = 'credited' and o.held_at is null
       union all
       select 'an extra deposit of ' || o.short_id || ' is credited, and nothing happens to it'
         from deposit d join exchange_order o on o.id = d.order_id
        where d.state = 'credited' and d.problem is null and d.id is distinct from o.deposit_id
          and not (o.held_at is not null and o.status in ('waiting_deposit', 'confirming'))
          and not exists (select 1 from payment p where p.deposit_id = d.id and p.state <> 'dead')
       union all
       select 'transaction on ' || chain || ' waits for a block' from sandbox_tx where state = 'mempool'`,
      [answering],
    );
    return rows.map(({ what }) => what);
  }

  async verifyRest(): Promise<void> {
    this.#none('at rest', await this.#restless());
    // What left the hot wallet is what confirmed payments say, and the fees are what the book says.
    const outflow = await this.rows<{ what: string }>(
      `with gone as (
         select chain, coalesce(contract, '') as contract, amount, 0::numeric as paid
           from sandbox_tx where sender = $1 and state = 'mined' and success
         union all
         select p.chain, coalesce(p.contract, ''), 0, p.amount * power(10::numeric, c.decimals)
           from payment p join currency c on c.coin = p.coin and c.network = p.network where p.state = 'confirmed'
       )
       select chain || ' ' || contract || ': ' || sum(amount) || ' left, ' || sum(paid) || ' was paid' as what
         from gone group by chain, contract having sum(amount) <> sum(paid)`,
      [this.#hot],
    );
    this.#none(
      'outflow',
      outflow.map(({ what }) => what),
    );
    const fees = await this.rows<{ what: string }>(
      `with fee as (
         select chain, fee as taken, 0::numeric as booked from sandbox_tx where sender = $1 and state = 'mined'
         union all
         select case l.network when 'BTC' then 'bitcoin' when 'TRX' then 'tron' when 'XRP' then 'ripple'
                               when 'ETH' then 'ethereum' when 'SOL' then 'solana' else l.network end,
                0, l.amount * power(10::numeric, c.decimals)
           from ledger_line l join currency c on c.coin = l.coin and c.network = l.network
          where l.account = 'network_cost'
       )
       select chain || ': ' || sum(taken) || ' taken, ' || sum(booked) || ' booked' as what
         from fee group by chain having sum(taken) <> sum(booked)`,
      [this.#hot],
    );
    this.#none(
      'fees',
      fees.map(({ what }) => what),
    );
    await this.verifyBook();
    for (const order of this.orders) {
      const shown = await this.gateway.show(order);
      const [row] = await this.rows<{ status: string }>('select status from exchange_order where id = $1', [order.id]);
      if (shown?.status !== row?.status) throw new Error(`${order.id} is shown as ${JSON.stringify(shown)}`);
    }
  }

  /**
   * Failed orders that staff could neither pay out nor refund have a reason that staff cannot
   * change.
   */
  async #verifyFinished(): Promise<void> {
    const rows = await this.rows<{ what: string }>(
      `select o.short_id || ' stays failed: deposit ' || d.state || ' ' || d.amount || ', payments '
              || coalesce((select string_agg(p.kind || ' ' || p.state, ', ') from payment p where p.order_id = o.id), 'none')
                as what
         from exchange_order o join deposit d on d.id = o.deposit_id
         join currency c on c.coin = o.coin_from and c.network = o.network_from
        where o.status = 'failed' and d.state = 'credited' and d.amount > c.network_fee`,
    );
    this.#none(
      'finished',
      rows.map(({ what }) => what),
    );
  }

  // ----- what always holds -----

  async verify(after: string): Promise<void> {
    this.#none('outside', this.#violations);
    const faults: string[] = [];
    const demand = async (name: string, sql: string, values: unknown[] = []): Promise<void> => {
      for (const row of await this.rows(sql, values)) faults.push(`${name}: ${JSON.stringify(row)}`);
    };
    const known = await this.rows<{ id: string }>('select id from exchange_order');
    const ids = new Set(known.map(({ id }) => id));
    for (const id of this.#acknowledged) if (!ids.has(id)) faults.push(`the order ${id} is gone`);
    await demand(
      'paid twice',
      `select deposit_id, leg, count(*) from payment where state <> 'dead' group by deposit_id, leg having count(*) > 1`,
    );
    await demand(
      'two payouts',
      `select order_id, count(*) from payment where state <> 'dead' and kind = 'payout'
        group by order_id having count(*) > 1`,
    );
    await demand(
      'more than one attempt succeeded',
      `select a.payment_id, count(*) from payment_attempt a
         join sandbox_tx t on t.chain = a.chain and t.txid = a.txid and t.state = 'mined' and t.success
        group by a.payment_id having count(*) > 1`,
    );
    await demand(
      'what left the hot wallet is no payment, or not as it was decided',
      `select t.chain, t.txid, t.amount, p.id as payment, p.state
         from sandbox_tx t
         left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
         left join payment p on p.id = a.payment_id
         left join currency c on c.coin = p.coin and c.network = p.network
        where t.sender is not null and t.state <> 'dropped'
          and (t.sender <> $1 or p.id is null or a.raw <> t.raw or t.recipient <> p.address
               or t.tag is distinct from p.tag or t.contract is distinct from p.contract
               or t.amount <> p.amount * power(10::numeric, c.decimals)
               or (t.state = 'mined' and t.success and p.state in ('ready', 'prepared', 'dead')))`,
      [this.#hot],
    );
    await demand(
      'a confirmed payment is on no chain',
      `select p.id, t.state from payment p
         left join payment_attempt a on a.payment_id = p.id and a.attempt = p.attempt
         left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid
        where p.state = 'confirmed' and not coalesce(t.state in ('mined', 'mempool') and t.success is not false, false)`,
    );
    await demand(
      'the book does not sum to zero',
      `select coin, network, sum(amount) from ledger_line group by coin, network having sum(amount) <> 0`,
    );
    await demand(
      'a deposit address was given twice',
      `select a.address, a.tag, count(*) from exchange_order o join deposit_address a on a.id = o.deposit_address_id
        group by a.address, a.tag having count(*) > 1`,
    );
    await demand(
      'a completed order was not paid as it says',
      `select o.short_id, o.payout_txid, o.amount_to_actual, t.amount
         from exchange_order o
         left join currency c on c.coin = o.coin_to and c.network = o.network_to
         left join payment p on p.order_id = o.id and p.kind = 'payout' and p.state = 'confirmed'
         left join payment_attempt a on a.payment_id = p.id and a.attempt = p.attempt
         left join sandbox_tx t on t.chain = a.chain and t.txid = a.txid
        where o.status = 'completed'
          and (o.payout_txid is null or o.payout_txid is distinct from a.txid or t.amount is null
               or t.amount <> o.amount_to_actual * power(10::numeric, c.decimals))`,
    );
    await demand(
      'a fixed order was not paid what was agreed',
      `select o.short_id, o.amount_to_actual, o.amount_to_expected from exchange_order o
         join deposit d on d.id = o.deposit_id
        where o.status = 'completed' and o.rate_type = 'fixed' and d.amount >= o.amount_from_expected
          and o.amount_to_actual <> o.amount_to_expected`,
    );
    await demand(
      'less than the minimum is confirmed, exchanged or paid out',
      `select o.short_id, o.status, d.amount, o.min_amount from exchange_order o join deposit d on d.id = o.deposit_id
        where d.amount < o.min_amount and o.status not in ('refunding', 'refunded', 'failed')`,
    );
    await demand(
      'a stranger’s dust failed an order',
      `select o.short_id from exchange_order o join deposit d on d.id = o.deposit_id
         join currency c on c.coin = o.coin_from and c.network = o.network_from
        where d.amount < o.min_amount and o.status in ('refunding', 'failed')
          and (d.amount <= c.network_fee or o.refund_address is null)`,
    );
    // The chain of the sandbox keeps when a transaction was sent, and when its block was made.
    await demand(
      'a deposit that was sent after the window, or mined after its grace, was exchanged',
      `select o.short_id, o.rate_type, o.expires_at, t.seen_at, b.mined_at
         from exchange_order o join deposit d on d.id = o.deposit_id
         join sandbox_tx t on t.chain = d.chain and t.txid = d.txid
         join sandbox_block b on b.chain = t.chain and b.height = t.height
        where o.status = 'completed' and d.credits = 1
          and (t.seen_at > o.expires_at or b.mined_at > o.expires_at + make_interval(secs => $1))`,
      [this.gateway.config.DEPOSIT_GRACE_SEC],
    );
    await demand(
      'a deposit of at least the minimum that was mined in time went back as late',
      `select o.short_id, o.rate_type, o.expires_at, b.mined_at
         from exchange_order o join deposit d on d.id = o.deposit_id
         join sandbox_tx t on t.chain = d.chain and t.txid = d.txid and t.state = 'mined'
         join sandbox_block b on b.chain = t.chain and b.height = t.height
        where d.amount >= o.min_amount and b.mined_at <= o.expires_at
          and exists (select 1 from order_event e where e.order_id = o.id and e.cause in ('late_deposit', 'rate_expired'))`,
    );
    await demand(
      'a refunded order has no refund',
      `select short_id from exchange_order o where status = 'refunded' and not exists (
         select 1 from payment p where p.order_id = o.id and p.kind = 'refund' and p.leg = 'main'
            and p.deposit_id = o.deposit_id and p.state = 'confirmed')`,
    );
    faults.push(...(await this.#badHistories()), ...(await this.#badBroadcasts()));
    this.#none(after, faults);
  }

  /** Every order's events are a path of the table of moves. */
  async #badHistories(): Promise<string[]> {
    const events = await this.rows<{
      order_id: string;
      seq: number;
      from_status: string | null;
      to_status: string;
      cause: string;
      status: string;
      event_seq: number;
    }>(
      `select e.order_id, e.seq, e.from_status, e.to_status, e.cause, o.status, o.event_seq
         from order_event e join exchange_order o on o.id = e.order_id order by e.order_id, e.seq`,
    );
    const faults: string[] = [];
    const moves: Readonly<Record<string, { from: string; to: string }>> = orderMoves;
    for (const [id, history] of Map.groupBy(events, ({ order_id }) => order_id)) {
      let at: string | null = null;
      for (const [index, { seq, from_status: from, to_status: to, cause }] of history.entries()) {
        const edge = moves[cause];
        const isFirst = index === 0 && cause === 'created' && from === null && to === 'waiting_deposit';
        const isMove = index > 0 && edge?.from === from && edge.to === to && from === at;
        if (seq !== index + 1 || !(isFirst || isMove)) faults.push(`order ${id}: event ${seq} ${cause} ${from} ${to}`);
        at = to;
      }
      const [last] = history;
      if (last?.status !== at || last.event_seq !== history.length)
        faults.push(`order ${id} stands beside its history`);
    }
    return faults;
  }

  /** One attempt was only ever one text of bytes, and these are stored. */
  async #badBroadcasts(): Promise<string[]> {
    const stored = await this.#attempts([...this.#sent.keys()]);
    return [...this.#sent].flatMap(([txid, raws]) => {
      const attempt = stored.get(txid);
      const isSame = raws.size === 1 && attempt !== undefined && raws.has(attempt.raw ?? '');
      return isSame ? [] : [`${txid} was broadcast in ${raws.size} forms, and stored as ${attempt?.raw}`];
    });
  }

  async #attempts(txids: readonly string[]): Promise<Map<string, Attempt>> {
    const rows = await this.rows<Attempt & { txid: string }>(
      'select txid, payment_id, attempt, raw from payment_attempt where txid = any($1)',
      [txids],
    );
    return new Map(rows.map(({ txid, ...attempt }) => [txid, attempt]));
  }

  /** The book against the chains, the venue and the rows. */
  async verifyBook(): Promise<void> {
    const { orm } = this.gateway.app;
    const { rows } = await reconcile({ orm, adapters: this.#adapters() });
    // A payment whose deposit is gone for good is a loss, and shows as one.
    const lost = await this.rows<{ short_id: string }>(
      `select o.short_id from exchange_order o join deposit d on d.order_id = o.id
        where d.state = 'orphaned' and d.credits > 0`,
    );
    const isLoss = (subject: string): boolean => lost.some(({ short_id: id }) => subject.startsWith(`${id},`));
    const differing = rows.filter(
      ({ check, subject, difference }) => difference !== '0' && !(check === 'debits' && isLoss(subject)),
    );
    this.#none(
      'reconcile',
      differing.map((row) => JSON.stringify(row)),
    );
  }

  /** The chains without the faults of the model. */
  #adapters(): ReadonlyMap<string, ChainAdapter> {
    return new Map(
      [...this.gateway.settlement.adapters].map(([chain, adapter]) => [chain, this.#sound.get(chain) ?? adapter]),
    );
  }
  readonly #sound = new Map<string, ChainAdapter>();

  #none(what: string, faults: readonly string[]): void {
    if (faults.length > 0) throw new Error(`${what}:\n  ${faults.join('\n  ')}`);
  }

  // ----- the outside world -----

  async #refreshPrices(): Promise<void> {
    const { app, settlement } = this.gateway;
    await settlement.settler.tools.prices.refresh(app.catalogue.coins());
  }

  async #start(): Promise<void> {
    const process: Process = { isDead: false, crashAt: null, died: () => {} };
    this.#process = process;
    const key = this.#key;
    this.#gateway = await startSettledGateway({
      clock: this.clock,
      databaseUrl: this.#databaseUrl,
      ...(key === null ? {} : { key }),
      settings: { LOG_LEVEL: 'warn', PRICE_REFRESH_SEC: '3600', PRICE_MAX_AGE_SEC: '3600' },
      outside: this.#outside(process),
    });
    this.#key = this.#gateway.key;
  }
  #key: string | null = null;

  #outside(process: Process): OutsideWorld {
    /** A process that has ended does and hears nothing more. */
    const alive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (process.isDead) return never();
      const result = await work();
      return process.isDead ? never() : result;
    };
    return {
      priceSource: this.prices,
      logStream: { write: (line: string) => this.#read(line, process) },
      onCrashPoint: async (name) => {
        if (process.isDead) await never();
        if (process.crashAt?.crashPoint !== name) return;
        process.crashAt.nth -= 1;
        if (process.crashAt.nth > 0) return;
        process.isDead = true;
        process.died();
        await never();
      },
      chain: (adapter) => this.#chain(adapter, alive),
      venue: (venue) => this.#venueOf(venue, alive),
      signer: (signer) => ({
        hotWallet: (chain) => signer.hotWallet(chain),
        sign: (...args) => alive(() => this.#ask(() => signer.sign(...args))),
        revoke: (...args) => alive(() => this.#ask(() => signer.revoke(...args))),
      }),
    };
  }

  async #ask<T>(signer: () => Promise<T>): Promise<T> {
    if (this.#signer === 'away') throw new SignerError('unavailable', 'away');
    const answer = await signer();
    if (this.#signer !== 'silent') return answer;
    this.#signer = 'here';
    throw new SignerError('unavailable', 'silent');
  }

  #venueOf(venue: LiquidityVenue, alive: <T>(work: () => Promise<T>) => Promise<T>): LiquidityVenue {
    const ask = async <T>(question: () => Promise<T>, rejection: T): Promise<T> => {
      const answer = this.#venue.shift();
      if (answer === 'throws') throw new InjectedFault('unreachable');
      if (answer === 'rejects') return rejection;
      const given = await question();
      if (answer === 'silent') throw new InjectedFault('timeout');
      return given;
    };
    return {
      name: venue.name,
      trade: (order) => alive(() => ask(() => venue.trade(order), { outcome: 'rejected', code: 'no_inventory' })),
      find: (clientId) =>
        alive(async () => {
          // What it has filled it does not deny.
          while (this.#venue[0] === 'rejects') this.#venue.shift();
          return ask(() => venue.find(clientId), null);
        }),
    };
  }

  #chain(adapter: ChainAdapter, alive: <T>(work: () => Promise<T>) => Promise<T>): ChainAdapter {
    this.#sound.set(adapter.chain, adapter);
    const fails = (question: NodeQuestion): void => {
      const isUnread = question === 'scan' && this.#unread.has(adapter.chain);
      if (isUnread) throw new ChainError('injected', `${adapter.chain} cannot be read`);
      const index = this.#questions.findIndex((one) => one.chain === adapter.chain && one.question === question);
      if (index < 0) return;
      this.#questions.splice(index, 1);
      throw new ChainError('injected', `${question} of ${adapter.chain}`);
    };
    const asked = new Set<PropertyKey>(nodeQuestions);
    return new Proxy(adapter, {
      get: (target, name) => {
        if (name === 'pending') {
          return (known: readonly string[]) =>
            alive(async () => {
              fails('pending');
              const own = this.#stuck.filter(({ chain }) => chain === target.chain).map(({ transfer }) => transfer);
              return withWaiting(await target.pending(known), own);
            });
        }
        if (name === 'broadcast') return (tx: SignedTx) => alive(() => this.#broadcast(target, tx));
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          alive(async () => {
            if (asked.has(name)) fails(name as NodeQuestion);
            return value.apply(target, args);
          });
      },
    });
  }

  async #broadcast(adapter: ChainAdapter, tx: SignedTx): ReturnType<ChainAdapter['broadcast']> {
    const stored = (await this.#attempts([tx.txid])).get(tx.txid);
    if (stored?.raw !== tx.raw) this.#violations.push(`${tx.txid} was broadcast before its bytes were stored`);
    this.#sent.set(tx.txid, (this.#sent.get(tx.txid) ?? new Set()).add(tx.raw));
    const answer = this.#broadcasts.get(adapter.chain)?.shift();
    if (answer === 'throws') throw new InjectedFault('no route to host');
    if (answer === 'swallows') return { outcome: 'accepted', code: null };
    const given = await adapter.broadcast(tx);
    if (answer === 'silent') throw new InjectedFault('socket hang up');
    return answer === 'refuses' ? { outcome: 'rejected', code: 'injected' } : given;
  }

  /** Errors that the gateway swallows and logs are faults unless this test made them. */
  #read(line: string, process: Process): void {
    if (process.isDead) return;
    const { event, error, code, constraint, stack } = JSON.parse(line) as Record<string, string | undefined>;
    const failures = ['settle_failed', 'payment_failed', 'chain_failed', 'venue_failed', 'broadcast_failed'];
    if (!failures.includes(event ?? '')) return;
    const isOurs = error === 'InjectedFault' || error === 'SignerError' || code === 'injected';
    if (!isOurs || this.#isHealed) this.#violations.push(`${event} ${error} ${code} ${constraint ?? ''} ${stack}`);
  }
}

// ----- commands -----

/** What a command must know to be worth running. */
export interface Model {
  orders: number;
}

/** One thing that happens, after which everything that must hold is checked. */
export class Step implements fc.AsyncCommand<Model, World> {
  readonly #name: string;
  readonly #args: readonly unknown[];
  readonly #needsOrder: boolean;
  readonly #action: (world: World) => Promise<unknown> | unknown;

  constructor(
    name: string,
    args: readonly unknown[],
    action: (world: World) => Promise<unknown> | unknown,
    needsOrder = true,
  ) {
    this.#name = name;
    this.#args = args;
    this.#action = action;
    this.#needsOrder = needsOrder;
  }

  check({ orders }: Readonly<Model>): boolean {
    return orders > 0 || !this.#needsOrder;
  }

  async run(model: Model, world: World): Promise<void> {
    await this.#action(world);
    model.orders = world.orders.length;
    await world.verify(this.toString());
  }

  toString(): string {
    return `${this.#name}(${this.#args.join(', ')})`;
  }
}
