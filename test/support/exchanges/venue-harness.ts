import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../../../src/app/orm.ts';
import { createLog } from '../../../src/base/log.ts';
import { Big } from '../../../src/base/money.ts';
import { ExchangeProcess } from '../../../src/exchanges/exchange-process.ts';
import type { ImitatedBook } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { ImitatedBinance } from '../../../src/exchanges/sandbox/imitated-binance.ts';
import type { ImitatedExchange } from '../../../src/exchanges/sandbox/imitated-exchange.ts';
import { ImitatedKraken } from '../../../src/exchanges/sandbox/imitated-kraken.ts';
import { TradingAccount } from '../../../src/exchanges/trading-account.ts';
import type { VenueAnswer, VenueOrder } from '../../../src/settlement/rows/liquidity-venue.ts';
import type { TradeBound } from '../../../src/settlement/rows/trade-bound.ts';
import { ExchangeVenue, type ExchangeVenueOptions } from '../../../src/settlement/trade/exchange-venue.ts';
import { createDatabase, query, type TestDatabase } from '../database/database.ts';
import { RunningClock } from '../gateway/clock.ts';
import { LogSink } from '../gateway/log-sink.ts';

/**
 * The exchanges that are imitated: the coin between the legs there, and the end of the path that
 * places orders.
 */
export const loopbackVenues = [
  { name: 'kraken', cash: 'USD', place: 'AddOrder' },
  { name: 'binance', cash: 'USDT', place: 'order' },
] as const;

/** Market prices of the coins in US dollars, apart from the order books of the exchange. */
export const marketPrices: Readonly<Record<string, string>> = { BTC: '64000', ETH: '3200', LTC: '80', XMR: '160' };
/** MAX_SLIPPAGE of the bound of a trade. */
const slippage = '0.02';

/** How long orders are valid, and how long after that they are looked for; by the venue's clock. */
const orderValidMs = 5_000;
const recordLagMs = 1_000;

/** A venue at an imitated exchange: the real process of ccxt, real HTTP and a real database. */
export class VenueHarness {
  readonly name: (typeof loopbackVenues)[number]['name'];
  readonly cash: string;
  /** Dollars for one of the cash. */
  cashPrice = '1';
  readonly exchange: ImitatedExchange;
  /**
   * Real time, and what a test adds to it. Orders of times too far ahead are refused by Kraken:
   * within a minute.
   */
  readonly clock = new RunningClock();
  readonly #isPaced: boolean;
  #database: TestDatabase | null = null;
  #orm: MikroORM | null = null;
  #process: ExchangeProcess | null = null;

  /** Unless `isPaced`, requests follow each other as fast as they can. */
  constructor({ name, cash, isPaced = false }: Pick<VenueHarness, 'name' | 'cash'> & { readonly isPaced?: boolean }) {
    this.name = name;
    this.cash = cash;
    this.#isPaced = isPaced;
    this.exchange = name === 'kraken' ? new ImitatedKraken() : new ImitatedBinance();
  }

  get databaseUrl(): string {
    return this.#database?.url ?? '';
  }

  get orm(): MikroORM {
    if (!this.#orm) throw new Error('the harness is not started');
    return this.#orm;
  }

  get process(): ExchangeProcess {
    if (!this.#process) throw new Error('the harness is not started');
    return this.#process;
  }

  async start(): Promise<void> {
    this.#database = await createDatabase();
    this.#orm = await createOrm({ url: this.#database.url, poolSize: 10 });
    await this.exchange.start();
    const { origin, key, secret } = this.exchange;
    this.#process = new ExchangeProcess({
      exchanges: [{ name: this.name, origin, key, secret }],
      log: createLog('info', new LogSink()),
      ...(this.#isPaced ? {} : { paceMs: 0 }),
      restartMs: 1,
      requestTimeoutMs: 2_000,
    });
  }

  async stop(): Promise<void> {
    await this.#process?.close();
    await this.exchange.stop();
    await this.#orm?.close();
    await this.#database?.drop();
  }

  /** The books of the exchange, at prices that agree with one another, with changes by coin. */
  books(changes: Record<string, Partial<ImitatedBook>> = {}): Record<string, ImitatedBook> {
    const plain: Record<string, ImitatedBook> = {
      BTC: { bid: '63990', ask: '64000', depth: null },
      ETH: { bid: '3200', ask: '3201', depth: null },
      LTC: { bid: '80', ask: '80.1', depth: null },
    };
    return Object.fromEntries(
      Object.entries(plain).map(([coin, book]) => [`${coin}/${this.cash}`, { ...book, ...changes[coin] }]),
    );
  }

  /** What the account has at first. */
  get first(): Record<string, string> {
    return { [this.cash]: '100000', BTC: '10', ETH: '100', LTC: '1000' };
  }

  /** A fresh account and a clock that is right. */
  reset(changes: Record<string, Partial<ImitatedBook>> = {}): void {
    this.exchange.reset(this.first, this.books(changes));
    this.clock.setRight();
  }

  /** A venue as a process that was just started has it. */
  openVenue(changes: Partial<ExchangeVenueOptions> = {}): ExchangeVenue {
    return new ExchangeVenue({
      orm: this.orm,
      clock: this.clock,
      log: createLog('info', new LogSink()),
      account: new TradingAccount(this.name, this.process),
      process: this.process,
      cash: this.cash,
      orderValidMs,
      recordLagMs,
      ...changes,
    });
  }

  /** 2 ETH, which are worth 0.1 BTC, for at least 0.098 BTC. */
  order(changes: Partial<VenueOrder> = {}): VenueOrder {
    const order = {
      clientId: randomUUID(),
      sellCoin: 'ETH',
      sellAmount: '2',
      buyCoin: 'BTC',
      buyAmount: '0.0999',
      minBuyAmount: '0.098',
      validUntil: new Date(this.clock.now().getTime() + 60_000),
      ...changes,
    };
    return { bound: this.boundOf(order), ...order };
  }

  /** The bound that settlement sets: a part of what is sold, by the market's prices. */
  boundOf({ sellCoin, sellAmount, buyCoin }: Pick<VenueOrder, 'sellCoin' | 'sellAmount' | 'buyCoin'>): TradeBound {
    const priceOf = (coin: string): string => marketPrices[coin] ?? this.cashPrice;
    const priceSell = priceOf(sellCoin);
    const maxLoss = new Big(sellAmount).times(priceSell).times(slippage).toFixed();
    return { priceSell, priceBuy: priceOf(buyCoin), priceCash: this.cashPrice, maxLoss };
  }

  /** What the house has more than at first, in dollars by the market's prices. */
  worth(): Big {
    return [this.cash, ...Object.keys(marketPrices)].reduce(
      (sum, coin) => sum.plus(new Big(this.gained(coin)).times(marketPrices[coin] ?? this.cashPrice)),
      new Big('0'),
    );
  }

  /** What the account has of a coin more than at first. */
  gained(coin: string): string {
    return new Big(this.exchange.balance(coin)).minus(this.first[coin] ?? '0').toFixed();
  }

  /** What was bought, order by order. */
  buys(): string[] {
    return this.exchange.orders
      .filter(({ side, filled }) => side === 'buy' && filled !== '0')
      .map(({ filled }) => filled);
  }

  /** Asks as settlement does: again and again, until there is an answer. */
  async persist(order: VenueOrder, changes: Partial<ExchangeVenueOptions> = {}): Promise<VenueAnswer> {
    for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
      try {
        return await this.openVenue(changes).trade(order);
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  /**
   * Lets the validity of every order that was sent pass: for requests that are lost, and never
   * late.
   */
  outlast(): void {
    this.clock.advance(orderValidMs + recordLagMs + 1);
  }

  /** Sweeps until nothing is left to sell. */
  async square(clientId: string): Promise<void> {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(20)) {
      await this.openVenue().settleCash();
      const [row] = await query<{ done: boolean }>(
        this.databaseUrl,
        'select squared_at is not null as done from venue_trade where client_id = $1',
        [clientId],
      );
      if (row?.done) return;
    }
    throw new Error('the sale was not done');
  }

  /**
   * Kills the process of ccxt at a request of a trade, which arrives or not, goes on until the
   * trade is done, and tells what came of it.
   */
  async killAt(at: (number: number, path: string) => boolean, arrives: boolean): Promise<object> {
    this.reset();
    const order = this.order();
    let isKilled = false;
    this.exchange.onRequest = (number, path) => {
      if (isKilled || !at(number, path)) return;
      isKilled = true;
      if (!arrives) this.exchange.faults.push({ path: path.split('/').at(-1) ?? '', kind: 'lose_request' });
      if (this.process.pid !== null) globalThis.process.kill(this.process.pid, 'SIGKILL');
    };
    await this.openVenue()
      .trade(order)
      .catch(() => {});
    if (!arrives) this.outlast();
    const answer = await this.persist(order);
    await this.square(order.clientId);
    return { isKilled, answer, buys: this.buys(), sold: this.gained('ETH') };
  }

  /** What `killAt` tells when nothing was lost and nothing done twice. */
  killed(): object {
    return {
      isKilled: true,
      answer: { outcome: 'filled', bought: this.gained('BTC') },
      buys: ['0.0999'],
      sold: '-2',
    };
  }
}
