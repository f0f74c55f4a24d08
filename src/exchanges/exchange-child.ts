import { systemMs } from '../base/clock.ts';
import { AccountReader } from './account-reader.ts';
import { binanceDialect } from './binance-dialect.ts';
import { type CcxtExchange, type CcxtMarket, loadCcxt } from './ccxt-exchange.ts';
import type { Dialect } from './dialect.ts';
import {
  dollarCoins,
  type ExchangeKey,
  type ExchangeName,
  ExchangeRefusal,
  ExchangeUnavailable,
  type Market,
  type Ticker,
} from './exchange.ts';
import type { ExchangeQuestions, Introduction, Question, Reply } from './exchange-messages.ts';
import { krakenDialect } from './kraken-dialect.ts';
import { Turns } from './turns.ts';

// The child process in which ccxt runs. It knows only the exchanges that its introduction names,
// and ends with the gateway.

const dialects: Readonly<Record<ExchangeName, Dialect>> = { binance: binanceDialect, kraken: krakenDialect };

/** How long loaded markets are kept. Exchanges list and delist markets, and change their rules. */
const marketsForMs = 600_000;

/** One exchange, with the answers to the gateway's questions. */
class Exchange implements ExchangeQuestions {
  readonly #ccxt: CcxtExchange;
  readonly #dialect: Dialect;
  readonly #turns: Turns;
  readonly #reader: AccountReader | null;
  #loadedMs = 0;
  #loading: Promise<unknown> | null = null;

  constructor(ccxt: CcxtExchange, dialect: Dialect, reader: AccountReader | null) {
    this.#ccxt = ccxt;
    this.#dialect = dialect;
    this.#turns = new Turns(dialect.takesTurns);
    this.#reader = reader;
  }

  async tickers(coins: readonly string[]): Promise<Ticker[]> {
    await this.#load();
    const markets = coins
      .flatMap((coin) => ['USD', ...dollarCoins].map((quote) => this.#find(coin, quote)))
      .filter((market) => market !== null);
    return markets.length === 0 ? [] : this.#tops(markets);
  }

  async market(base: string, quote: string) {
    await this.#load();
    const market = this.#find(base, quote);
    if (market === null) return null;
    return { ...this.#rules(market), ...(await this.#dialect.book(this.#ccxt, market)) };
  }

  async clockSkew(): Promise<number> {
    const before = systemMs();
    const theirs = BigInt(String(await this.#ccxt.fetchTime()));
    return Number(theirs) - (before + systemMs()) / 2;
  }

  async place(order: Parameters<ExchangeQuestions['place']>[0]) {
    await this.#load();
    return this.#turns.take(() => this.#dialect.place(this.#ccxt, this.#open(order.base, order.quote), order));
  }

  async find({ base, quote, clientId }: Parameters<ExchangeQuestions['find']>[0]) {
    await this.#load();
    const market = this.#ccxt.markets[`${base}/${quote}`];
    if (!market) throw new Error(`there is no market of ${base} in ${quote} any more`);
    return this.#turns.take(() => this.#dialect.find(this.#ccxt, market, clientId));
  }

  async holdings() {
    return this.#reading().holdings();
  }

  async movements(...asked: Parameters<ExchangeQuestions['movements']>) {
    return this.#reading().movements(...asked);
  }

  #reading(): AccountReader {
    if (!this.#reader) throw new ExchangeUnavailable('there is no key that reads the account');
    return this.#reader;
  }

  async #load(): Promise<void> {
    if (systemMs() - this.#loadedMs < marketsForMs) return;
    this.#loading ??= this.#ccxt.loadMarkets(true).finally(() => {
      this.#loading = null;
    });
    try {
      await this.#loading;
      this.#loadedMs = systemMs();
    } catch (error) {
      if (this.#loadedMs === 0) throw error;
    }
  }

  #find(base: string, quote: string): CcxtMarket | null {
    const market = this.#ccxt.markets[`${base}/${quote}`];
    return market?.active && market.spot ? market : null;
  }

  #open(base: string, quote: string): CcxtMarket {
    const market = this.#find(base, quote);
    if (!market) throw new ExchangeRefusal('refused', `there is no open market of ${base} in ${quote}`);
    return market;
  }

  async #tops(markets: readonly CcxtMarket[]): Promise<Ticker[]> {
    const askedMs = systemMs();
    const tops = await this.#dialect.tops(
      this.#ccxt,
      markets.map(({ symbol }) => symbol),
    );
    return markets.flatMap(({ symbol, base, quote }) => {
      const top = tops[symbol];
      if (!top) return [];
      const atMs = Math.min(askedMs, top.timestamp === undefined ? askedMs : Number(top.timestamp));
      return [{ base, quote, bid: String(top.bid), ask: String(top.ask), atMs }];
    });
  }

  #rules(market: CcxtMarket): Market {
    const { base, quote, precision, limits, taker } = market;
    return {
      base,
      quote,
      lot: String(precision.amount),
      tick: String(this.#dialect.tick?.(market) ?? precision.price),
      minAmount: String(limits.amount.min ?? '0'),
      minCost: String(limits.cost?.min ?? '0'),
      takerFee: String(taker ?? '0'),
    };
  }
}

const exchanges = new Map<ExchangeName, Promise<Exchange>>();

async function open(
  { funding, ...exchange }: Introduction['exchanges'][number],
  bounds: Omit<Introduction, 'exchanges'>,
): Promise<Exchange> {
  const dialect = dialects[exchange.name];
  const load = (keys: Partial<ExchangeKey>) => {
    return loadCcxt({ ...exchange, ...keys }, bounds, dialect.options, dialect.refusalOf);
  };
  // One key neither overtakes nor delays the other.
  const reader = funding ? new AccountReader(await load(funding), dialect, bounds.listTimeoutMs) : null;
  return new Exchange(await load({}), dialect, reader);
}

function introduce({ exchanges: introduced, ...bounds }: Introduction): void {
  for (const exchange of introduced) {
    const opening = open(exchange, bounds);
    opening.catch(() => {});
    exchanges.set(exchange.name, opening);
  }
}

async function answer({ id, exchange: name, method, args }: Question): Promise<Reply> {
  try {
    const exchange = await exchanges.get(name);
    if (!exchange) throw new Error(`the exchange ${name} was not introduced`);
    const ask = exchange[method] as (...args: readonly unknown[]) => Promise<unknown>;
    return { id, result: await ask.apply(exchange, [...args]) };
  } catch (error) {
    if (error instanceof ExchangeRefusal) return { id, refusal: error.code, message: error.message.slice(0, 300) };
    // Our own words.
    if (error instanceof ExchangeUnavailable) return { id, failure: error.message };
    // The class only: the message may hold the request, and with it the signature.
    return { id, failure: error instanceof Error ? error.constructor.name : typeof error };
  }
}

process.on('message', (message: Introduction | Question) => {
  if ('exchanges' in message) introduce(message);
  else void answer(message).then((reply) => process.connected && process.send?.(reply));
});
process.on('disconnect', () => process.exit());
