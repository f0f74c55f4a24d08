import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import { errorMembers, type Log } from '../../../base/log.ts';
import { Big, floorTo, formatDecimal, parseDecimal, storedDecimals } from '../../../base/money.ts';
import { dollarCoins, type ExchangeName, type Ticker } from '../../../exchanges/exchange.ts';
import type { ExchangeProcess } from '../../../exchanges/exchange-process.ts';
import { type ExchangePrice, type MedianRules, medianPrice } from '../price-median.ts';
import type { CoinDepth, PriceSource, SourcePrice } from '../price-source.ts';
import type { VenueDepth } from './venue-depth.ts';

interface ExchangePriceSourceOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<ExchangeProcess, 'ask'>;
  readonly exchanges: readonly ExchangeName[];
  readonly rules: MedianRules;
  /** Older tickers are ignored. */
  readonly staleSec: number;
  /** How long a refresh waits for slow exchanges. A late answer counts at the next refresh. */
  readonly roundTimeoutMs?: number;
  /** Reads the venue's order books. Null without such a venue. */
  readonly venue?: { readonly depth: VenueDepth; readonly cash: string } | null;
}

/** The best bid and ask of a market, validated. */
interface Top {
  readonly bid: Big;
  readonly ask: Big;
  readonly at: Date;
}

/** The price at one exchange, with the time of its oldest ticker. */
interface DatedPrice {
  readonly price: Big;
  readonly at: Date;
}

type Book = ReadonlyMap<string, Top>;

/** A bid and an ask farther apart than this fraction of their middle give no price. */
const widestSpread = '0.05';

/**
 * Computes prices from the order books of exchanges. An exchange's price is the middle of bid and
 * ask, in dollars or in a stablecoin at that coin's own price. The result is the median over the
 * exchanges. Missing, old and invalid tickers are ignored. Coins whose exchanges contradict each
 * other are `paused`.
 */
export class ExchangePriceSource implements PriceSource {
  readonly name: string;
  readonly #options: Required<ExchangePriceSourceOptions>;
  /** The last valid tickers of each exchange. They age until the next answer. */
  readonly #books = new Map<ExchangeName, Book>();
  readonly #asking = new Map<ExchangeName, Promise<void>>();
  #paused: ReadonlySet<string> = new Set();
  readonly #outliers = new Set<string>();

  constructor(options: ExchangePriceSourceOptions) {
    this.#options = { roundTimeoutMs: 4_000, venue: null, ...options };
    this.name = options.exchanges.join(',');
  }

  paused(): ReadonlySet<string> {
    return this.#paused;
  }

  depth(): ReadonlyMap<string, CoinDepth> {
    return this.#options.venue?.depth.depth() ?? new Map();
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    const { exchanges, roundTimeoutMs, venue } = this.#options;
    const wanted = [...new Set([...coins, ...dollarCoins])];
    const timeout = new AbortController();
    const enough = sleep(roundTimeoutMs, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
    await Promise.race([Promise.all(exchanges.map((name) => this.#hear(name, wanted))), enough]);
    timeout.abort();
    venue?.depth.follow(coins, () => this.#priceOf(venue.cash));
    return this.#prices(coins);
  }

  /** The current price of a coin in dollars. Null when unknown. */
  #priceOf(coin: string): Big | null {
    if (coin === 'USD') return new Big('1');
    return dollarPrices([...this.#freshBooks().values()], this.#options.rules).get(coin)?.price ?? null;
  }

  /**
   * Sends one request at a time to each exchange, so that requests to a slow exchange do not pile
   * up.
   */
  #hear(name: ExchangeName, coins: readonly string[]): Promise<void> {
    const asked = this.#asking.get(name) ?? this.#ask(name, coins).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asked);
    return asked;
  }

  async #ask(name: ExchangeName, coins: readonly string[]): Promise<void> {
    const { process, log } = this.#options;
    try {
      const answer = await process.ask(name, 'tickers', coins);
      if (!Array.isArray(answer)) throw new TypeError('the answer is not a list of tickers');
      const sound = answer.flatMap((ticker): [string, Top][] => {
        const top = topOf(ticker);
        return top ? [[`${ticker.base}/${ticker.quote}`, top]] : [];
      });
      if (sound.length < answer.length) {
        const count = answer.length - sound.length;
        log.warn({ event: 'tickers_refused', code: name, count }, 'invalid tickers were ignored');
      }
      this.#books.set(name, new Map(sound));
    } catch (error) {
      log.warn({ event: 'exchange_silent', code: name, ...errorMembers(error) }, 'an exchange gave no prices');
    }
  }

  #prices(coins: readonly string[]): Map<string, SourcePrice> {
    const { rules, log } = this.#options;
    const books = this.#freshBooks();
    const direct = dollarPrices([...books.values()], rules);
    const opinionsOf = (coin: string, dollars: ReadonlyMap<string, DatedPrice>): (ExchangePrice & DatedPrice)[] =>
      [...books].flatMap(([source, book]) => {
        const price = priceAt(coin, book, dollars);
        return price ? [{ source, ...price }] : [];
      });
    // A stablecoin with contradicting prices is not used to price other coins.
    const dollars = new Map(
      [...direct].filter(([coin]) => {
        const { outcome } = medianPrice(opinionsOf(coin, direct), rules);
        return outcome === 'price' || (outcome === 'too_few' && !this.#paused.has(coin));
      }),
    );
    const prices = new Map<string, SourcePrice>();
    const paused = new Set<string>();
    for (const coin of coins) {
      const opinions = opinionsOf(coin, direct.has(coin) ? direct : dollars);
      const verdict = medianPrice(opinions, rules);
      if (verdict.outcome !== 'too_few') this.#noteOutliers(coin, verdict.dropped);
      if (verdict.outcome === 'disagreement') {
        paused.add(coin);
        if (!this.#paused.has(coin)) log.warn({ event: 'price_paused', coin }, 'the exchanges contradict each other');
      } else if (verdict.outcome === 'price') {
        const counted = opinions.filter(({ source }) => verdict.counted.includes(source));
        const at = new Date(Math.min(...counted.map(({ at }) => at.getTime())));
        const price = floorTo(verdict.price, storedDecimals);
        if (price.gt('0')) prices.set(coin, { price: formatDecimal(price), at });
        if (this.#paused.has(coin)) log.info({ event: 'price_resumed', coin }, 'the exchanges agree again');
      } else if (this.#paused.has(coin)) {
        // Too few prices do not show that the contradiction is over.
        paused.add(coin);
      }
    }
    this.#paused = paused;
    return prices;
  }

  #freshBooks(): Map<ExchangeName, Book> {
    const { clock, staleSec } = this.#options;
    const oldestMs = clock.now().getTime() - staleSec * 1000;
    const fresh = [...this.#books].map(([name, book]) => {
      return [name, new Map([...book].filter(([, { at }]) => at.getTime() >= oldestMs))] as const;
    });
    return new Map(fresh);
  }

  /** Logs an outlier once, when it begins. */
  #noteOutliers(coin: string, dropped: readonly string[]): void {
    for (const source of this.#options.exchanges) {
      const key = `${coin} ${source}`;
      if (!dropped.includes(source)) this.#outliers.delete(key);
      else if (!this.#outliers.has(key)) {
        this.#outliers.add(key);
        this.#options.log.warn({ event: 'price_outlier', coin, code: source }, 'a price was far from the others');
      }
    }
  }
}

/** Validates a ticker. Null when it cannot be true. */
function topOf(ticker: Partial<Ticker> | null | undefined): Top | null {
  const { bid: bidText, ask: askText, atMs } = ticker ?? {};
  const bid = typeof bidText === 'string' ? parseDecimal(bidText) : null;
  const ask = typeof askText === 'string' ? parseDecimal(askText) : null;
  if (!bid || !ask || typeof atMs !== 'number' || !Number.isSafeInteger(atMs)) return null;
  if (bid.lte('0') || ask.lt(bid) || ask.minus(bid).gt(bid.plus(ask).div('2').times(widestSpread))) return null;
  return { bid, ask, at: new Date(atMs) };
}

function middle({ bid, ask, at }: Top): DatedPrice {
  return { price: bid.plus(ask).div('2'), at };
}

/**
 * Dollar prices of the stablecoins, from the exchanges that trade them for dollars; one exchange is
 * enough. A coin without such a market, or with contradicting prices, has no price.
 */
function dollarPrices(books: readonly Book[], rules: MedianRules): ReadonlyMap<string, DatedPrice> {
  const prices = new Map<string, DatedPrice>();
  for (const coin of dollarCoins) {
    const opinions = books.flatMap((book, index) => {
      const top = book.get(`${coin}/USD`);
      return top ? [{ source: String(index), ...middle(top) }] : [];
    });
    const verdict = medianPrice(opinions, { ...rules, minSources: 1 });
    if (verdict.outcome !== 'price') continue;
    prices.set(coin, { price: verdict.price, at: new Date(Math.min(...opinions.map(({ at }) => at.getTime()))) });
  }
  return prices;
}

/** A coin's price at one exchange, in dollars: from its dollar market, or through a stablecoin. */
function priceAt(coin: string, book: Book, dollars: ReadonlyMap<string, DatedPrice>): DatedPrice | null {
  const direct = book.get(`${coin}/USD`);
  if (direct) return middle(direct);
  for (const quote of dollarCoins) {
    const rate = dollars.get(quote);
    if (!rate || quote === coin) continue;
    const forward = book.get(`${coin}/${quote}`);
    if (forward) return times(middle(forward), rate);
    // A stablecoin may be priced by the inverse of its market with the other stablecoin.
    const backward = dollarCoins.some((other) => other === coin) ? book.get(`${quote}/${coin}`) : undefined;
    if (backward) {
      const { price, at } = middle(backward);
      return times({ price: new Big('1').div(price), at }, rate);
    }
  }
  return null;
}

function times(a: DatedPrice, b: DatedPrice): DatedPrice {
  return { price: a.price.times(b.price), at: a.at < b.at ? a.at : b.at };
}
