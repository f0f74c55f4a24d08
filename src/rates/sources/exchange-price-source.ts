import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { dollarCoins, type ExchangeName, type Ticker } from '../../exchanges/exchange.ts';
import type { ExchangeProcess } from '../../exchanges/exchange-process.ts';
import { errorMembers, type Log } from '../../log.ts';
import { Big, floorTo, formatDecimal, parseDecimal, storedDecimals } from '../../money.ts';
import { type MedianRules, medianPrice, type PriceOpinion } from '../price-median.ts';
import type { CoinDepth, PriceSource, SourcePrice } from '../price-source.ts';
import type { VenueDepth } from './venue-depth.ts';

export interface ExchangePriceSourceOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly process: Pick<ExchangeProcess, 'ask'>;
  readonly exchanges: readonly ExchangeName[];
  readonly rules: MedianRules;
  /** An older ticker has no say. */
  readonly staleSec: number;
  /** How long a refresh waits for exchanges that are slow; they are heard at the next one. */
  readonly patienceMs?: number;
  /** Reads the order books of the venue; null where there is no such venue. */
  readonly venue?: { readonly depth: VenueDepth; readonly cash: string } | null;
}

/** The best bid and ask of a market, checked. */
interface Top {
  readonly bid: Big;
  readonly ask: Big;
  readonly at: Date;
}

/** A price of one exchange, with the time of the oldest ticker in it. */
interface DatedPrice {
  readonly price: Big;
  readonly at: Date;
}

type Book = ReadonlyMap<string, Top>;

/** A bid and an ask farther apart than this fraction of their middle make no price. */
const widestSpread = '0.05';

/**
 * Prices out of the order books of exchanges: per exchange the middle of bid and ask, in dollars or in a coin that stands
 * for dollars at that coin's own price; of the exchanges, the median. What is missing, old or unsound has no say. Coins
 * whose exchanges contradict each other are `paused`.
 */
export class ExchangePriceSource implements PriceSource {
  readonly name: string;
  readonly #options: Required<ExchangePriceSourceOptions>;
  /** The last good tickers of each exchange, which grow old. */
  readonly #books = new Map<ExchangeName, Book>();
  readonly #asking = new Map<ExchangeName, Promise<void>>();
  #paused: ReadonlySet<string> = new Set();
  readonly #outliers = new Set<string>();

  constructor(options: ExchangePriceSourceOptions) {
    this.#options = { patienceMs: 4_000, venue: null, ...options };
    this.name = options.exchanges.join(',');
  }

  paused(): ReadonlySet<string> {
    return this.#paused;
  }

  depth(): ReadonlyMap<string, CoinDepth> {
    return this.#options.venue?.depth.depth() ?? new Map();
  }

  async fetch(coins: readonly string[]): Promise<ReadonlyMap<string, SourcePrice>> {
    const { exchanges, patienceMs, venue } = this.#options;
    const wanted = [...new Set([...coins, ...dollarCoins])];
    const patience = new AbortController();
    const enough = sleep(patienceMs, undefined, { signal: patience.signal, ref: false }).catch(() => {});
    await Promise.race([Promise.all(exchanges.map((name) => this.#hear(name, wanted))), enough]);
    patience.abort();
    venue?.depth.follow(coins, () => this.#priceOf(venue.cash));
    return this.#prices(coins);
  }

  /** What one coin costs now, in dollars. */
  #priceOf(coin: string): Big | null {
    if (coin === 'USD') return new Big('1');
    return dollarPrices([...this.#freshBooks().values()], this.#options.rules).get(coin)?.price ?? null;
  }

  /** One question at a time to each exchange, so that a slow one is not asked ever more. */
  #hear(name: ExchangeName, coins: readonly string[]): Promise<void> {
    const asked = this.#asking.get(name) ?? this.#ask(name, coins).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asked);
    return asked;
  }

  async #ask(name: ExchangeName, coins: readonly string[]): Promise<void> {
    const { process, log } = this.#options;
    try {
      const answer = await process.ask(name, 'tickers', coins);
      if (!Array.isArray(answer)) throw new TypeError('no list of tickers');
      const sound = answer.flatMap((ticker): [string, Top][] => {
        const top = topOf(ticker);
        return top ? [[`${ticker.base}/${ticker.quote}`, top]] : [];
      });
      if (sound.length < answer.length) {
        const count = answer.length - sound.length;
        log.warn({ event: 'tickers_refused', code: name, count }, 'tickers were not sound and were ignored');
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
    const opinionsOf = (coin: string, dollars: ReadonlyMap<string, DatedPrice>): (PriceOpinion & DatedPrice)[] =>
      [...books].flatMap(([source, book]) => {
        const price = priceAt(coin, book, dollars);
        return price ? [{ source, ...price }] : [];
      });
    // One about which the exchanges contradict each other says nothing of what others cost.
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
        // Nothing says that the contradiction is over.
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

  /** An outlier is told once, when it becomes one. */
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

/** A ticker that can be true; null for any other. */
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
 * What the coins that stand for dollars cost in dollars, by the exchanges that trade them for dollars, be it only one; one
 * that has no such market anywhere, or about which they contradict each other, has no price.
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

/** What a coin costs at one exchange, in dollars: directly, or by way of a coin that stands for them. */
function priceAt(coin: string, book: Book, dollars: ReadonlyMap<string, DatedPrice>): DatedPrice | null {
  const direct = book.get(`${coin}/USD`);
  if (direct) return middle(direct);
  for (const quote of dollarCoins) {
    const rate = dollars.get(quote);
    if (!rate || quote === coin) continue;
    const forward = book.get(`${coin}/${quote}`);
    if (forward) return times(middle(forward), rate);
    // The one coin that stands for dollars, priced by the other.
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
