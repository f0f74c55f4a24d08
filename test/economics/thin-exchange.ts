import { createOrm } from '../../src/app/orm.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { ExchangeProcess } from '../../src/exchanges/exchange-process.ts';
import type { ImitatedBook, ImitatedLevel } from '../../src/exchanges/sandbox/exchange-state.ts';
import { ImitatedBinance } from '../../src/exchanges/sandbox/imitated-binance.ts';
import { TradingAccount } from '../../src/exchanges/trading-account.ts';
import type { LiquidityVenue } from '../../src/settlement/rows/liquidity-venue.ts';
import { ExchangeVenue } from '../../src/settlement/trade/exchange-venue.ts';
import type { Market } from './market.ts';

const cash = 'USDT';
/** What the account at the exchange begins with. */
const first = { [cash]: '10000000', BTC: '200', ETH: '3000', LTC: '100000' } as const;
/** Coins whose price is far above the exchange's tick of a cent. */
export const thinCoins = ['BTC', 'ETH', 'LTC'] as const;
export type ThinCoin = (typeof thinCoins)[number];

/**
 * A book that strangers left alone: how far from the market a level stands, as a fraction, and what
 * it takes in dollars.
 */
const usualLevels = [
  [0.0003, 10_000],
  [0.001, 20_000],
  [0.003, 40_000],
  [0.01, 60_000],
  [0.03, 60_000],
  [0.08, 100_000],
  [0.25, 500_000],
] as const;
/** What a bidder adds at the top, in dollars. */
const deepUsd = 5_000_000;

/**
 * An exchange whose books are thin, and the gateway's account there, behind the gateway's own
 * venue.
 */
export class ThinExchange {
  readonly loopback: ImitatedBinance;
  readonly venue: LiquidityVenue;
  readonly #market: Market;
  readonly #close: () => Promise<void>;

  private constructor(loopback: ImitatedBinance, venue: LiquidityVenue, market: Market, close: () => Promise<void>) {
    this.loopback = loopback;
    this.venue = venue;
    this.#market = market;
    this.#close = close;
  }

  static async start(market: Market, clock: Clock, databaseUrl: string): Promise<ThinExchange> {
    const loopback = await new ImitatedBinance().start();
    const { origin, key, secret } = loopback;
    const log = createLog('silent');
    // As fast as it can: at the pace of a real exchange it makes a few trades a minute.
    const process = new ExchangeProcess({ exchanges: [{ name: 'binance', origin, key, secret }], log, paceMs: 0 });
    const orm = await createOrm({ url: databaseUrl, poolSize: 4 });
    const account = new TradingAccount('binance', process);
    const venue = new ExchangeVenue({ orm, clock, log, account, process, cash });
    const exchange = new ThinExchange(loopback, venue, market, async () => {
      await process.close();
      await orm.close(true);
      await loopback.stop();
    });
    loopback.reset(first, {});
    exchange.restore();
    return exchange;
  }

  async close(): Promise<void> {
    await this.#close();
  }

  /** Books as they are without the bidder, around the market's prices. */
  restore(): void {
    for (const coin of thinCoins) this.loopback.books[`${coin}/${cash}`] = this.#book(coin);
  }

  /** The bidder stands at the top of a coin's book with more than any order. */
  bid(coin: ThinCoin): void {
    const book = this.#book(coin);
    const top = this.#level(coin, -0.0001, deepUsd);
    this.loopback.books[`${coin}/${cash}`] = { ...book, bid: top[0], bids: [top, ...(book.bids ?? [])] };
  }

  /** The book goes on showing the bidder, whose bids are gone when an order arrives. */
  pretend(coin: ThinCoin): void {
    this.bid(coin);
    const { bids = [] } = this.loopback.books[`${coin}/${cash}`] ?? {};
    this.loopback.books[`${coin}/${cash}`] = { ...this.#book(coin), shown: { bids } };
  }

  /** What the account has more than at first, in US dollars at the market's prices. */
  gainedUsd(): number {
    return Object.entries(first)
      .map(([coin, before]) => (Number(this.loopback.balance(coin)) - Number(before)) * this.#market.price(coin))
      .reduce((sum, usd) => sum + usd, 0);
  }

  #book(coin: ThinCoin): ImitatedBook {
    const bids = usualLevels.map(([distance, usd]) => this.#level(coin, -distance, usd));
    const asks = usualLevels.map(([distance, usd]) => this.#level(coin, distance, usd));
    return { bid: bids[0]?.[0] ?? '0', ask: asks[0]?.[0] ?? '0', depth: null, bids, asks };
  }

  #level(coin: ThinCoin, distance: number, usd: number): ImitatedLevel {
    const price = this.#market.price(coin) * (1 + distance);
    return [price.toFixed(2), (usd / price).toFixed(5)];
  }
}
