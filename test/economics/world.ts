import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerService } from '../../src/accounts/partners/partner-service.ts';
import { type App, startApp } from '../../src/app/app.ts';
import { openHasher } from '../../src/app/bootstrap.ts';
import type { Settlement } from '../../src/app/open-settlement.ts';
import { startEmbeddedPostgres } from '../../src/base/db/embedded/embedded-postgres.ts';
import { AppError } from '../../src/base/errors.ts';
import { Big, floorTo, formatDecimal, toUnits } from '../../src/base/money.ts';
import { networkById } from '../../src/chains/networks/networks.ts';
import type { ChainAdapter } from '../../src/chains/port/chain-adapter.ts';
import { fixedRateTimes, gatewayTerms } from '../../src/config/fixed-rates.ts';
import type { Config } from '../../src/config/settings.ts';
import { reconcile } from '../../src/ledger/reconcile.ts';
import type { Currency } from '../../src/market/currencies/currency.entity.ts';
import { FixedResults } from '../../src/orders/fixed-results.ts';
import type { OrderView } from '../../src/orders/order-statements.ts';
import { newRecipient, type Recipient } from '../support/chains/recipients.ts';
import { RunningClock, TestClock } from '../support/gateway/clock.ts';
import { Dice } from '../support/gateway/dice.ts';
import { testConfig, testSettings } from '../support/gateway/settings.ts';
import { busyBlocks, type Coin, chains, coins, networkOf, paceOf, withOutages } from './chains.ts';
import type { Account, Deposit, MadeOrder, Sent, Wish, WorldOptions } from './dealings.ts';
import { Ethereum } from './ethereum.ts';
import { Market, stepSec } from './market.ts';
import { ThinExchange } from './thin-exchange.ts';

/**
 * How often settlement looks at every chain, so that orders expire; it takes no other turn while
 * nothing is under way.
 */
const idleTurnSec = 600;
/** Turns between two looks whether anything is under way. */
const turnsPerLook = 4;
/** How long the last orders may take to come to rest. */
const restHours = 6;
const wallRestSec = 60;
const ethereumChain = 'ethereum';

/**
 * A whole gateway on the sandbox's chains and a separate clock, in a market that moves. The
 * market moves first in each step, then users act, and then the gateway takes its turn.
 */
export class World {
  readonly clock: TestClock;
  readonly market: Market;
  readonly dice: Dice;
  readonly config: Config;
  readonly app: App;
  readonly settlement: Settlement;
  readonly startMs: number;
  /** Seconds between two turns of settlement while something is under way. */
  turnSec = 15;
  /** How many creates were refused, by code. */
  readonly refusals = new Map<string, number>();
  readonly accounts: Account[] = [];
  created = 0;
  /** A real node in place of the sandbox's Ethereum. */
  readonly ethereum: Ethereum | null;
  /**
   * Where the gateway trades, in place of its own inventory. Time is that of the wall then, and
   * prices stand still.
   */
  readonly exchange: ThinExchange | null;
  readonly #partners: PartnerService;
  readonly #fixedResults: FixedResults;
  readonly #chains: ReadonlySet<string> = new Set(coins.map((coin) => this.chain(coin)));
  /** Adapters of all chains. The worker gets the adapters of chains with new blocks. */
  readonly #adapters: ReadonlyMap<string, ChainAdapter>;
  readonly #close: () => Promise<void>;
  readonly #outages: Map<string, number>;
  readonly #held = new Map<string, Set<string>>();
  readonly #creates = new Map<string, { minute: number; count: number }>();
  readonly #minedMs = new Map<string, number>();
  #turnMs = 0;
  #wholeMs = 0;
  #pricedMs = 0;
  #turns = 0;
  #isBusy = false;

  private constructor(parts: {
    clock: TestClock;
    market: Market;
    dice: Dice;
    config: Config;
    app: App;
    settlement: Settlement;
    partners: PartnerService;
    outages: Map<string, number>;
    ethereum: Ethereum | null;
    exchange: ThinExchange | null;
    close: () => Promise<void>;
  }) {
    this.clock = parts.clock;
    this.market = parts.market;
    this.dice = parts.dice;
    this.config = parts.config;
    this.app = parts.app;
    this.settlement = parts.settlement;
    this.#adapters = new Map(parts.settlement.adapters);
    this.startMs = parts.clock.now().getTime();
    this.#partners = parts.partners;
    this.#outages = parts.outages;
    this.#fixedResults = new FixedResults(parts.app.orm, parts.clock);
    this.ethereum = parts.ethereum;
    this.exchange = parts.exchange;
    this.#close = parts.close;
  }

  static async open({ seed, market: model, settings = {}, databaseUrl, needs }: WorldOptions): Promise<World> {
    // A real node and an exchange date what they do by the clock of the wall.
    const clock =
      needs === 'exchange'
        ? new RunningClock()
        : new TestClock(needs === 'anvil' ? new Date(Date.now() + 60_000) : undefined);
    const isStill = needs === 'exchange';
    const market = new Market(clock, isStill ? { ...model, volatility: 0, jumpsPerDay: 0 } : model, seed);
    const outages = new Map<string, number>();
    // In memory where there is some: nothing of it is kept.
    const dataDir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'economics-'));
    // A run that is ended in the middle must not leave its database in memory.
    const forget = (): void => rmSync(dataDir, { recursive: true, force: true });
    process.once('exit', forget);
    const closing: (() => unknown)[] = [
      async () => {
        process.off('exit', forget);
        await rm(dataDir, { recursive: true, force: true });
      },
    ];
    const close = async (): Promise<void> => {
      for (const each of closing.splice(0).reverse()) await each();
    };
    try {
      const postgres = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir, ephemeral: true }) : null;
      if (postgres) closing.push(() => postgres.stop());
      const url = databaseUrl ?? postgres?.url ?? '';
      const ethereum = needs === 'anvil' ? await Ethereum.start() : null;
      if (ethereum) closing.push(() => ethereum.anvil.stop());
      const served = await ethereum?.serve(dataDir);
      if (served) closing.push(() => served.close());
      const exchange = needs === 'exchange' ? await ThinExchange.start(market, clock, url) : null;
      if (exchange) closing.push(() => exchange.close());
      const config = testConfig({
        DATA_DIR: process.env.TEST_DATA_DIR ?? dataDir,
        DATABASE_URL: url,
        ...testSettings,
        LOG_LEVEL: 'silent',
        RECONCILE_EVERY_SEC: '0',
        ...served?.settings,
        ...settings,
      });
      const app = await startApp({
        config,
        databaseUrl: url,
        embedded: true,
        outside: {
          clock,
          background: false,
          priceSource: market,
          chain: (adapter) => withOutages(adapter, clock, outages),
          ...(exchange ? { venue: () => exchange.venue } : {}),
        },
      });
      closing.push(() => app.stop());
      // By the simulation's clock from here on.
      app.prices.stop();
      const { settlement } = app;
      if (!settlement) throw new Error('this gateway does not settle');
      const partners = new PartnerService(
        app.orm,
        await openHasher(config, app.orm),
        clock,
        false,
        gatewayTerms(config),
        async () => {},
      );
      const dice = new Dice(seed + 1);
      const parts = { clock, market, dice, config, app, settlement, partners, outages, ethereum, exchange, close };
      const world = new World(parts);
      await world.#setChains();
      return world;
    } catch (error) {
      await close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#close();
  }

  get nowMs(): number {
    return this.clock.now().getTime();
  }

  /** Networks on real nodes, whose fees are real. */
  get realNetworks(): readonly string[] {
    return this.ethereum ? ['ETH', 'ERC20'] : [];
  }

  /** Days since the world began. A run by the clock of the wall counts as one. */
  get days(): number {
    return this.exchange ? 1 : (this.nowMs - this.startMs) / 86_400_000;
  }

  async rows<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.app.orm.em.fork().execute<Row[]>(sql, [...values]);
  }

  currency(coin: Coin): Currency {
    const found = this.app.catalogue.find(coin, networkOf[coin]);
    if (!found) throw new Error(`there is no ${coin} on ${networkOf[coin]}`);
    return found;
  }

  chain(coin: Coin): string {
    return networkById(networkOf[coin])?.chain ?? '';
  }

  /** What an amount of a coin is worth now, in US dollars. */
  usd(coin: string, amount: string | number): number {
    return Number(amount) * this.market.price(coin);
  }

  /**
   * So much of a coin as is worth that many US dollars now, as decimal text with six decimals at
   * most.
   */
  amountOf(coin: Coin, usd: number): string {
    const places = Math.min(6, this.currency(coin).decimals);
    return formatDecimal(floorTo(new Big((usd / this.market.price(coin)).toFixed(18)), places));
  }

  async account(name: string): Promise<Account> {
    const partner = await this.#partners.create(name);
    const { keyId } = await this.#partners.issueKey(partner.id);
    const account: Account = {
      name,
      caller: { kind: 'key', keyId, scopes: ['orders:create'], partner, defaultMarkupBps: null, addressAllowed: true },
    };
    this.accounts.push(account);
    return account;
  }

  /** This many accounts of one name, numbered. */
  async accountsOf(name: string, count: number): Promise<Account[]> {
    const made: Account[] = [];
    for (let number = 1; number <= count; number++) made.push(await this.account(`${name} ${number}`));
    return made;
  }

  recipient(coin: Coin): Recipient {
    return newRecipient(networkOf[coin], this.dice);
  }

  /**
   * Creates an order as the public listener does, which admits this many a minute. Null when it is
   * refused.
   */
  async create(account: Account, wish: Wish): Promise<MadeOrder | null> {
    if (!this.#isAdmitted(account)) return this.#refused('rate_limited');
    const { from, to, rateType, recipient = this.recipient(to), refund = this.recipient(from) } = wish;
    const amountFrom = new Big(this.amountOf(from, wish.usd));
    const input = {
      coinFrom: from,
      networkFrom: networkOf[from],
      coinTo: to,
      networkTo: networkOf[to],
      amountFrom,
      rateType,
      recipientAddress: recipient.address,
      recipientAddressTag: recipient.tag,
      refundAddress: refund.address,
      refundAddressTag: refund.tag,
    };
    await this.refreshPrices();
    try {
      const { body } = await this.app.creation.create(input, account.caller, null, (order) => JSON.stringify(order));
      const order = JSON.parse(body) as OrderView;
      this.created += 1;
      return {
        id: order.id,
        account,
        from,
        to,
        rateType,
        amountFrom: order.amountFromExpected,
        amountTo: order.amountToExpected,
        address: order.depositAddress,
        tag: order.depositAddressTag,
        createdMs: this.nowMs,
        expiresMs: new Date(order.expiresAt).getTime(),
      };
    } catch (error) {
      if (error instanceof AppError) return this.#refused(error.kind);
      throw error;
    }
  }

  #isAdmitted({ name }: Account): boolean {
    const minute = Math.floor(this.nowMs / 60_000);
    const known = this.#creates.get(name);
    const count = known?.minute === minute ? known.count + 1 : 1;
    this.#creates.set(name, { minute, count });
    return count <= this.config.RATE_LIMIT_ORDERS_PER_MIN;
  }

  #refused(code: string): null {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    return null;
  }

  /** Sends coins to the order's address. */
  async pay(order: MadeOrder, deposit: Deposit = {}): Promise<Sent> {
    const { amount = order.amountFrom, currency = this.currency(order.from) } = deposit;
    const { isHeld = false, isUrgent = isHeld } = deposit;
    const chain = this.chain(order.from);
    const [to, units] = [order.address, toUnits(amount, currency.decimals)];
    const txid =
      this.ethereum && chain === ethereumChain
        ? await this.ethereum.send(to, units)
        : await this.settlement.sandbox.pay(chain, {
            to,
            tag: order.tag,
            contract: currency.contract,
            amount: units,
            busyBlocks: busyBlocks(chain),
          });
    if (isUrgent) this.#turnMs = 0;
    if (isHeld) this.#held.set(chain, (this.#held.get(chain) ?? new Set()).add(txid));
    this.#isBusy = true;
    return { chain, txid };
  }

  /** Lets miners take a transaction that was held. */
  release({ chain, txid }: Sent): void {
    this.#held.get(chain)?.delete(txid);
    this.#isBusy = true;
  }

  /** Forgets a transaction that waits for a block. */
  async drop(sent: Sent): Promise<void> {
    this.release(sent);
    await this.settlement.sandbox.drop(sent.chain, sent.txid);
  }

  /** The gateway cannot read the coin's chain for so long. Blocks go on. */
  outage(coin: Coin, seconds: number): void {
    this.#outages.set(this.chain(coin), this.nowMs + seconds * 1000);
  }

  /** Takes the newest blocks of the coin's chain away, with all that they held. */
  async reorg(coin: Coin, depth: number): Promise<void> {
    await this.settlement.sandbox.reorg(this.chain(coin), depth, { keep: false });
    this.#isBusy = true;
  }

  /** The gateway asks for prices: once in a step. */
  async refreshPrices(): Promise<void> {
    if (this.#pricedMs === this.nowMs) return;
    this.#pricedMs = this.nowMs;
    await this.app.prices.refresh(this.app.catalogue.coins());
  }

  /** Five seconds pass: the market moves, and users may act on it before the gateway knows. */
  async step(): Promise<void> {
    if (this.exchange) return void (await sleep(5));
    this.clock.advance(stepSec * 1000);
    this.market.step();
    // The rates of a hold window are those of its beginning.
    if (this.nowMs % (fixedRateTimes(this.config).windowSec * 1000) === 0) await this.refreshPrices();
  }

  /** Gives settlement its turn, if it is due. */
  async turn(): Promise<void> {
    const everySec = this.#isBusy ? this.turnSec : idleTurnSec;
    if (!this.exchange && this.nowMs - this.#turnMs < everySec * 1000) return;
    this.#turnMs = this.nowMs;
    this.#turns += 1;
    await this.refreshPrices();
    if (this.#isBusy) await this.#mineDue();
    const isWhole = this.nowMs - this.#wholeMs >= idleTurnSec * 1000;
    if (isWhole) {
      this.#wholeMs = this.nowMs;
      await this.#fixedResults.rollUp();
      await this.settlement.payoutWatch.runIfDue();
    }
    this.#workOn(isWhole ? [...this.#chains] : await this.#activeChains());
    await this.settlement.worker.tick();
    await this.exchange?.venue.settleCash?.();
    if (this.#isBusy && this.#turns % turnsPerLook === 0) this.#isBusy = await this.#isUnderWay();
  }

  /** Goes on until every order has come to rest. */
  async rest(): Promise<void> {
    this.turnSec = Math.max(this.turnSec, 60);
    this.#outages.clear();
    this.#isBusy = true;
    const until = this.nowMs + (this.exchange ? wallRestSec * 1000 : restHours * 3_600_000);
    const waits = this.exchange ? 0 : this.nowMs + (this.config.DEPOSIT_WINDOW_SEC + 60) * 1000;
    while (this.nowMs < until && (this.nowMs < waits || this.#isBusy)) {
      await this.step();
      await this.turn();
    }
  }

  /** Where the book does not agree with the chains, the venue or itself, a line each. */
  async differences(): Promise<string[]> {
    const { rows } = await reconcile({ orm: this.app.orm, adapters: this.#adapters });
    return rows.filter(({ difference }) => difference !== '0').map((row) => Object.values(row).join(' | '));
  }

  /** Makes a block on each chain that has something to do, as often as that chain has one. */
  async #mineDue(): Promise<void> {
    const open = await this.rows<{ chain: string }>(
      `select chain from sandbox_chain c where height < busy_until
          or exists (select from sandbox_tx t where t.chain = c.chain and t.state = 'mempool')`,
    );
    if (this.ethereum) open.push({ chain: ethereumChain });
    for (const { chain } of open) {
      const blockMs = this.exchange ? 0 : 1000 * paceOf(chain).blockSec;
      if (this.nowMs - (this.#minedMs.get(chain) ?? 0) < blockMs) continue;
      this.#minedMs.set(chain, this.nowMs);
      await this.#mine(chain);
    }
  }

  /** A block, which leaves out what pays too low a fee. */
  async #mine(chain: string): Promise<void> {
    if (this.ethereum && chain === ethereumChain) return this.ethereum.mine(this.clock.now());
    const held = JSON.stringify([...(this.#held.get(chain) ?? [])]);
    const set = (to: string, from: string): Promise<object[]> =>
      this.rows(
        `update sandbox_tx set state = ? where chain = ? and state = ?
            and txid in (select jsonb_array_elements_text(?::jsonb))`,
        [to, chain, from, held],
      );
    if (held !== '[]') await set('dropped', 'mempool');
    await this.settlement.sandbox.mine(chain);
    if (held !== '[]') await set('mempool', 'dropped');
  }

  /** Chains that made a block lately, have a transaction to see, or a payment to make. */
  async #activeChains(): Promise<string[]> {
    const rows = await this.rows<{ chain: string }>(
      `select chain from sandbox_chain c where height < busy_until
           or exists (select from sandbox_tx t where t.chain = c.chain and t.state = 'mempool' and t.seen_at >= ?)
           or exists (select from sandbox_tx t where t.chain = c.chain and t.state = 'mempool'
                         and t.txid not in (select jsonb_array_elements_text(?::jsonb)))
        union select chain from payment where state not in ('confirmed', 'dead')`,
      [new Date(this.nowMs - 2 * this.turnSec * 1000), JSON.stringify(this.#heldTxids)],
    );
    return [...rows.map(({ chain }) => chain), ...(this.ethereum ? [ethereumChain] : [])];
  }

  /**
   * Gives the worker these chains and no others: chains without news would take most of each turn.
   */
  #workOn(active: readonly string[]): void {
    const worked = this.settlement.adapters as Map<string, ChainAdapter>;
    worked.clear();
    for (const chain of active.filter((each) => this.#chains.has(each))) {
      const adapter = this.#adapters.get(chain);
      if (adapter) worked.set(chain, adapter);
    }
  }

  /** Whether anything goes on. A transaction that is held waits for its user. */
  async #isUnderWay(): Promise<boolean> {
    const [row] = await this.rows<{ open: boolean }>(
      `with held as (select jsonb_array_elements_text(?::jsonb) as txid)
       select exists (select from payment where state not in ('confirmed', 'dead'))
           or exists (select from deposit where state = 'mined')
           or exists (select from sandbox_tx where state = 'mempool' and txid not in (select txid from held))
           or exists (select from exchange_order where held_at is null
                         and (status in ('exchanging', 'sending', 'refunding')
                              or status = 'confirming' and deposit_txid not in (select txid from held))) as open`,
      [JSON.stringify(this.#heldTxids)],
    );
    return row?.open ?? true;
  }

  get #heldTxids(): string[] {
    return [...this.#held.values()].flatMap((txids) => [...txids]);
  }

  async #setChains(): Promise<void> {
    for (const { network, confirmations } of chains) {
      await this.rows('update currency set min_confirmations = ? where network = ?', [confirmations, network]);
    }
    await this.app.catalogue.refresh();
    await this.settlement.worker.tick();
    if (!this.ethereum) return;
    const hot = await this.#adapters.get(ethereumChain)?.hotWallet();
    await this.ethereum.fund(hot?.address ?? '');
    for (let block = 0; block < paceOf(ethereumChain).confirmations; block++) {
      this.clock.advance(stepSec * 1000);
      this.market.step();
      await this.ethereum.mine(this.clock.now());
    }
    await this.settlement.worker.tick();
  }
}
