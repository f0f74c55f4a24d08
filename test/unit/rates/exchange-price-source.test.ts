import { createLog } from '../../../src/base/log.ts';
import type { ExchangeName, Ticker } from '../../../src/exchanges/exchange.ts';
import { PriceBook } from '../../../src/market/rates/price-book.ts';
import { ExchangePriceSource } from '../../../src/market/rates/sources/exchange-price-source.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { PriceWindowsInMemory } from '../../support/gateway/price-windows.ts';

/** What each exchange answers; a function may throw or never end. */
type Answers = Partial<Record<ExchangeName, unknown>>;

describe('ExchangePriceSource', () => {
  const clock = new TestClock();
  let answers: Answers;
  let sink: LogSink;
  let source: ExchangePriceSource;

  beforeEach(() => {
    answers = {};
    sink = new LogSink();
    source = new ExchangePriceSource({
      clock,
      log: createLog('info', sink),
      process: {
        ask: async (exchange: ExchangeName, ..._question: unknown[]) => {
          const answer = answers[exchange];
          if (answer === undefined) throw new Error('silent');
          return typeof answer === 'function' ? answer() : answer;
        },
      },
      exchanges: ['kraken', 'binance'],
      rules: { minSources: 2, outlier: '0.02', disagreement: '0.01' },
      staleSec: 20,
      roundTimeoutMs: 50,
    });
  });

  function ticker(market: string, bid: string, ask = bid, ageMs = 0): Ticker {
    const [base = '', quote = ''] = market.split('/');
    return { base, quote, bid, ask, atMs: clock.now().getTime() - ageMs };
  }

  /** Prices by coin, as text. */
  async function prices(...coins: string[]): Promise<Record<string, string>> {
    const found = await source.fetch(coins);
    return Object.fromEntries([...found].map(([coin, { price }]) => [coin, price]));
  }

  const logged = (): string[] => sink.lines().map((line) => JSON.parse(line).event);

  it('takes the middle of bid and ask, and the median of the exchanges', async () => {
    answers = { kraken: [ticker('BTC/USD', '100', '101')], binance: [ticker('BTC/USD', '100.5', '101.5')] };
    expect(await prices('BTC', 'ETH')).toEqual({ BTC: '100.75' });
  });

  it("converts by the stablecoin's own price", async () => {
    answers = {
      kraken: [ticker('BTC/USD', '98'), ticker('USDT/USD', '0.98')],
      binance: [ticker('BTC/USDT', '100.1')],
    };
    expect(await prices('BTC')).toEqual({ BTC: '98.049' });
  });

  it('has no price by way of a stablecoin without a separate price', async () => {
    answers = { kraken: [ticker('BTC/USD', '100')], binance: [ticker('BTC/USDT', '100')] };
    expect(await prices('BTC')).toEqual({});
    expect(source.paused().size).toBe(0);
  });

  it('prices a stablecoin by another one', async () => {
    answers = {
      kraken: [ticker('USDT/USD', '0.998'), ticker('USDC/USD', '1')],
      binance: [ticker('USDC/USDT', '1.002')],
    };
    const { USDT } = await prices('USDT');
    expect(USDT?.slice(0, 8)).toBe('0.998001');
  });

  it('has no price by way of a stablecoin while the exchanges contradict each other about it', async () => {
    // USDT against dollars at one, against another such coin at the other; Bitcoin would come out a
    // tenth too low.
    answers = {
      kraken: [ticker('BTC/USD', '90'), ticker('USDT/USD', '0.9'), ticker('USDC/USD', '1')],
      binance: [ticker('BTC/USDT', '100'), ticker('USDC/USDT', '1')],
    };
    expect(await prices('BTC', 'USDT', 'USDC')).toEqual({});
    expect([...source.paused()]).toEqual(['USDT', 'USDC']);
    // Too few have a say about it now, which settles nothing.
    answers.binance = [ticker('BTC/USDT', '100')];
    expect(await prices('BTC', 'USDT')).toEqual({});
    answers = {
      kraken: [ticker('BTC/USD', '100'), ticker('USDT/USD', '1'), ticker('USDC/USD', '1')],
      binance: [ticker('BTC/USDT', '100'), ticker('USDC/USDT', '1')],
    };
    expect(await prices('BTC', 'USDT', 'USDC')).toEqual({ BTC: '100', USDT: '1', USDC: '1' });
  });

  it('has no price by way of a stablecoin whose dollar markets contradict each other', async () => {
    answers = {
      kraken: [ticker('BTC/USD', '102'), ticker('USDT/USD', '1')],
      binance: [ticker('BTC/USDT', '100'), ticker('USDT/USD', '1.04')],
    };
    expect(await prices('BTC')).toEqual({});
    expect(source.paused().size).toBe(0);
  });

  it('gives a price the time of its oldest ticker', async () => {
    answers = { kraken: [ticker('BTC/USD', '100', '100', 7_000)], binance: [ticker('BTC/USD', '100', '100', 3_000)] };
    expect((await source.fetch(['BTC'])).get('BTC')?.at).toEqual(new Date(clock.now().getTime() - 7_000));
  });

  it('drops tickers that are too old', async () => {
    answers = { kraken: [ticker('BTC/USD', '100', '100', 20_001)], binance: [ticker('BTC/USD', '100')] };
    expect(await prices('BTC')).toEqual({});
  });

  it('keeps the last ticker of a silent exchange until it is too old', async () => {
    answers = { kraken: [ticker('BTC/USD', '100')], binance: [ticker('BTC/USD', '100')] };
    await prices('BTC');
    delete answers.kraken;
    clock.advance(15_000);
    answers.binance = [ticker('BTC/USD', '100')];
    expect(await prices('BTC')).toEqual({ BTC: '100' });
    clock.advance(6_000);
    answers.binance = [ticker('BTC/USD', '100')];
    expect(await prices('BTC')).toEqual({});
    expect(logged()).toContain('exchange_silent');
  });

  it('does not wait for a slow exchange, and takes its prices later', async () => {
    let say: (tickers: Ticker[]) => void = () => {};
    const slow = new Promise<Ticker[]>((resolve) => {
      say = resolve;
    });
    let asked = 0;
    answers = {
      kraken: () => {
        asked += 1;
        return slow;
      },
      binance: [ticker('BTC/USD', '100')],
    };
    expect(await prices('BTC')).toEqual({});
    expect(await prices('BTC')).toEqual({});
    expect(asked).toBe(1);
    say([ticker('BTC/USD', '100')]);
    await slow;
    expect(await prices('BTC')).toEqual({ BTC: '100' });
  });

  it.each([
    ['a crossed book', '101', '100'],
    ['zero', '0', '0'],
    ['a bid of zero', '0', '100'],
    ['a negative price', '-100', '-100'],
    ['NaN', 'NaN', 'NaN'],
    ['infinity', 'Infinity', 'Infinity'],
    ['nothing', 'undefined', 'undefined'],
    ['a web page', '<html>', '<html>'],
    ['too many digits', `1${'0'.repeat(50)}`, `1${'0'.repeat(50)}`],
    ['a huge exponent', '1e999', '1e999'],
    ['a bid far below the ask', '90', '100'],
  ])('ignores %s and counts it', async (_what, bid, ask) => {
    answers = { kraken: [ticker('BTC/USD', bid, ask), ticker('ETH/USD', '10')], binance: [ticker('ETH/USD', '10')] };
    expect(await prices('BTC', 'ETH')).toEqual({ ETH: '10' });
    expect(logged()).toContain('tickers_refused');
  });

  it.each([
    ['text', 'no list'],
    ['null', null],
    ['a list of nothing', [null, undefined, 7, {}]],
    ['numbers for decimals', [{ base: 'BTC', quote: 'USD', bid: 100, ask: 100, atMs: 0 }]],
    ['no time', [{ base: 'BTC', quote: 'USD', bid: '100', ask: '100' }]],
  ])('ignores an answer that is %s', async (_what, answer) => {
    answers = { kraken: answer, binance: [ticker('BTC/USD', '100')] };
    expect(await prices('BTC')).toEqual({});
  });

  it('pauses a coin whose exchanges contradict each other, at once and until they agree', async () => {
    const book = new PriceBook({
      clock,
      log: createLog('silent'),
      source,
      windows: new PriceWindowsInMemory(),
      refreshSec: 5,
      maxAgeSec: 60,
      fixedWindowSec: 60,
      fixedMaxDrift: '0.002',
    });
    answers = { kraken: [ticker('BTC/USD', '100')], binance: [ticker('BTC/USD', '100')] };
    await book.refresh(['BTC']);
    expect([book.live('BTC')?.toFixed(), book.pair('BTC', 'BTC', 'fixed')?.from.toFixed()]).toEqual(['100', '100']);
    answers.binance = [ticker('BTC/USD', '102')];
    await book.refresh(['BTC']);
    expect([book.live('BTC'), book.pair('BTC', 'BTC', 'fixed')?.from ?? null]).toEqual([null, null]);
    // One of them falls silent: that settles nothing.
    delete answers.binance;
    clock.advance(25_000);
    answers.kraken = [ticker('BTC/USD', '100')];
    await book.refresh(['BTC']);
    expect(book.live('BTC')).toBeNull();
    answers.binance = [ticker('BTC/USD', '100.5')];
    await book.refresh(['BTC']);
    expect(book.live('BTC')?.toFixed()).toBe('100.25');
    expect(logged().filter((event) => event.startsWith('price_'))).toEqual(['price_paused', 'price_resumed']);
  });
});
