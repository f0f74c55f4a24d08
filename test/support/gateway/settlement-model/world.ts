import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Big, floorTo, formatDecimal, toUnits } from '../../../../src/base/money.ts';
import { addressExample } from '../../../../src/chains/addresses/address.ts';
import { hotWalletSetting } from '../../../../src/chains/addresses/hot-wallet.ts';
import type { CrashPoint } from '../../../../src/settlement/turns/crash-point.ts';
import { createDatabase } from '../../database/database.ts';
import { TestClock } from '../clock.ts';
import type { Rows } from '../orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../settled-gateway.ts';
import { chainOf, type DepositKind, type PairName, type Place, pairs } from './cases.ts';
import { ModelPrices } from './model-prices.ts';
import { ModelProcess } from './model-process.ts';
import { OutsideFaults } from './outside-faults.ts';

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

/** A gateway with its database and its outside world, and all that may happen to them. */
export class World {
  readonly clock = new TestClock();
  readonly orders: MadeOrder[] = [];
  /** Ids of the orders that a partner has seen. The database must never lose one. */
  readonly acknowledged = new Set<string>();
  readonly faults: OutsideFaults;
  /** Two members: the first proposes, the second approves. */
  readonly staffIds: string[] = [];
  hotWallet = '';
  readonly #databaseUrl: string;
  readonly #dropDatabase: () => Promise<void>;
  readonly #client: Client;
  #key: string | null = null;
  #process: ModelProcess | null = null;
  #gateway: SettledGateway | null = null;

  private constructor(databaseUrl: string, dropDatabase: () => Promise<void>) {
    this.#databaseUrl = databaseUrl;
    this.#dropDatabase = dropDatabase;
    this.#client = new Client({ connectionString: databaseUrl });
    this.#client.on('error', () => {});
    this.faults = new OutsideFaults(this.rows, new ModelPrices(this.clock));
  }

  static async open(): Promise<World> {
    const database = await createDatabase();
    const world = new World(database.url, database.drop);
    await world.#client.connect();
    // Reorganisations of the model are shallow, so two epochs of blocks for each order are not
    // needed.
    await world.rows(`update currency set min_confirmations = 3 where network in ('ETH', 'ERC20')`);
    await world.rows(noPaymentInDebit);
    await world.#start();
    for (const name of ['first', 'second']) {
      world.staffIds.push((await world.gateway.staff.create(`${name}@example.com`, 'operator')).member.id);
    }
    const [row] = await world.rows<{ value: string }>('select value from setting where name = $1', [
      hotWalletSetting('sandbox'),
    ]);
    world.hotWallet = row?.value ?? '';
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

  readonly rows: Rows = async <Row extends object>(sql: string, values: unknown[] = []) =>
    (await this.#client.query<Row>(sql, values)).rows;

  // ----- orders and their chains -----

  /** Makes an order. False when the gateway has no price. */
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
      this.acknowledged.add(order.id);
      return true;
    } catch (error) {
      // Without a fresh price there is no quote, and no order.
      if (!this.faults.prices.isAway || !String(error).includes('pair_unavailable')) throw error;
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
      const { depositAddress: address, depositTag: tag } = order;
      const amount = toUnits(order.amountFrom, currency.decimals);
      this.faults.addStuck(chainOf(order.networkFrom), { address, tag, contract: currency.contract, amount });
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

  network({ index, at }: Place): string {
    const { networkFrom, networkTo } = this.order(index);
    return at === 'from' ? networkFrom : networkTo;
  }

  chain(place: Place): string {
    return chainOf(this.network(place));
  }

  async mine(place: Place, blocks: number): Promise<void> {
    await this.gateway.mine(this.network(place), blocks);
  }

  /**
   * Reorganises a chain, but never so deep that a final payment or the first balance of the hot
   * wallet is lost: finality promises that. A successful payment may return to the mempool, since
   * it is mined again.
   */
  async reorg(place: Place, depth: number, keep: boolean): Promise<void> {
    const network = this.network(place);
    const [row] = await this.rows<{ depth: number }>(
      `select c.height::int - coalesce(max(t.height), 0)::int as depth
         from sandbox_chain c
         left join (sandbox_tx t
                    left join payment_attempt a on a.chain = t.chain and a.txid = t.txid
                    left join payment p on p.id = a.payment_id)
           on t.chain = c.chain and t.state = 'mined'
              and (t.recipient = $3 or (not ($2 and t.success) and (a.dead_at is not null or p.state = 'confirmed')))
        where c.chain = $1 group by c.height`,
      [chainOf(network), keep, this.hotWallet],
    );
    const allowed = Math.min(depth, row?.depth ?? 0);
    if (allowed > 0) await this.gateway.reorg(network, allowed, keep);
  }

  /** The mempool drops a transaction that is not a confirmed payment. */
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

  /** The users' wallets of a network refuse all payments, or accept them again. */
  async setRefusing(network: string, isRefusing: boolean): Promise<void> {
    const { sandbox } = this.gateway.settlement;
    const address = addressExample(network);
    await (isRefusing ? sandbox.refuse(chainOf(network), address) : sandbox.accept(chainOf(network), address));
  }

  // ----- prices and time -----

  async movePrice(coin: string, level: string): Promise<void> {
    this.faults.prices.levels.set(coin, level);
    await this.#refreshPrices();
  }

  async setPricesAway(isAway: boolean): Promise<void> {
    this.faults.prices.isAway = isAway;
    await this.#refreshPrices();
  }

  async advance(seconds: number): Promise<void> {
    this.clock.advance(seconds * 1000);
    await this.#refreshPrices();
  }

  /** Settlement, blocks on both chains of an order and time, in turn. */
  async work(index: number, rounds: number): Promise<void> {
    const order = this.order(index);
    for (let round = 0; round < rounds; round++) {
      await this.gateway.tick();
      for (const network of new Set([order.networkFrom, order.networkTo])) await this.gateway.mine(network);
      await this.advance(2);
    }
    await this.gateway.tick();
  }

  async #refreshPrices(): Promise<void> {
    const { app, settlement } = this.gateway;
    await settlement.settler.tools.prices.refresh(app.catalogue.coins());
  }

  // ----- the process -----

  async #start(): Promise<void> {
    const process = new ModelProcess();
    this.#process = process;
    const key = this.#key;
    this.#gateway = await startSettledGateway({
      clock: this.clock,
      databaseUrl: this.#databaseUrl,
      ...(key === null ? {} : { key }),
      settings: { LOG_LEVEL: 'warn', PRICE_REFRESH_SEC: '3600', PRICE_MAX_AGE_SEC: '3600' },
      outside: this.faults.around(process),
    });
    this.#key = this.#gateway.key;
  }

  /** The process dies at a crash point while it works on an order, and another one starts. */
  async crash(crashPoint: CrashPoint, nth: number, index: number): Promise<void> {
    const process = this.#process;
    if (!process) throw new Error('the gateway is not running');
    const died = process.dieAt(crashPoint, nth);
    const worked = this.work(index, 3).catch((error: unknown) => {
      if (!process.isDead) throw error;
    });
    await Promise.race([died, worked]);
    process.disarm();
    if (!process.isDead) return;
    // Other work of the dead process needs a moment to reach its own next crash point and stop.
    await sleep(30);
    await this.restart();
  }

  async restart(): Promise<void> {
    if (this.#process) this.#process.isDead = true;
    await this.#gateway?.stop();
    this.#gateway = null;
    await this.#start();
  }
}
