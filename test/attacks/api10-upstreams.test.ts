import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainAdapter, ScanResult } from '../../src/chains/port/chain-adapter.ts';
import type { Fault } from '../../src/exchanges/sandbox/exchange-state.ts';
import { ImitatedBinance } from '../../src/exchanges/sandbox/imitated-binance.ts';
import { ImitatedKraken } from '../../src/exchanges/sandbox/imitated-kraken.ts';
import type { PriceSource, SourcePrice } from '../../src/market/rates/price-source.ts';
import { SandboxPriceSource } from '../../src/market/rates/sources/sandbox-price-source.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { Faults } from '../support/faults/faults.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API10:2023, unsafe consumption of APIs: price sources, nodes and a venue that lie, seen by
 * partners and in the ledger. Lies in the real protocols have separate tests:
 *
 * - test/integration/exchanges: prices, orders and fees of exchanges, holdings and movements there.
 * - test/integration/chains/evm-lies.test.ts: junk in every place of a node's answers.
 * - test/unit/chains/json-rpc.test.ts: HTML, redirects, endless and late answers of a node.
 * - test/integration/staff/oidc.test.ts: an identity provider.
 */

describe('a price source with false prices', () => {
  const priced = (text: string) => (price: SourcePrice) => ({ ...price, price: text });
  const times = (factor: number) => (price: SourcePrice) => ({ ...price, price: String(Number(price.price) * factor) });
  /** What becomes of a true price; each is reported for a separate coin. */
  const lies: Record<string, (price: SourcePrice) => unknown> = {
    'less than nothing': times(-1),
    nothing: priced('0'),
    'almost nothing': priced('0.000000000000000001'),
    NaN: priced('NaN'),
    infinity: priced('Infinity'),
    'beyond all numbers': priced('1e400'),
    'a huge number': priced('9'.repeat(60)),
    'no text': priced(''),
    'a web page': priced('<html>'),
    hexadecimal: priced('0x10'),
    'a comma': priced('64000,5'),
    'ten times': times(10),
    'a tenth': times(0.1),
    'of yesterday': ({ at }) => ({ price: '1', at: new Date(at.getTime() - 86_400_000) }),
    'a number': ({ at }) => ({ price: 1, at }),
    'a list': ({ at }) => ({ price: ['1'], at }),
    'of no time': ({ price }) => ({ price, at: new Date(Number.NaN) }),
  };
  const clock = new TestClock();
  const honest = new SandboxPriceSource(clock, 'attacks', async () => new Map());
  const liars = new Map<string, (price: SourcePrice) => unknown>();
  let asked = 0;
  const source: PriceSource = {
    name: 'liar',
    fetch: async (coins) => {
      asked++;
      const prices = [...(await honest.fetch(coins))];
      return new Map(prices.map(([coin, price]) => [coin, (liars.get(coin)?.(price) ?? price) as SourcePrice]));
    },
  };
  let gateway: TestGateway;
  let key: string;
  /** A currency of each coin but one, which they are quoted against. */
  let currencies: { coin: string; network: string }[];

  beforeAll(async () => {
    gateway = await startGateway({
      outside: { clock, priceSource: source, background: false },
      settings: { PRICE_REFRESH_SEC: '1', PRICE_MAX_AGE_SEC: '60' },
    });
    ({ key } = await gateway.partner());
    const { json } = await gateway.call('GET', '/currencies');
    const rows = json as { coin: string; network: string }[];
    currencies = rows.filter(({ coin }, at) => coin !== 'USDC' && rows.findIndex((row) => row.coin === coin) === at);
  });
  afterAll(() => gateway?.stop());

  /** Waits until prices were taken that were asked for since now. */
  const refreshed = async (): Promise<void> => {
    const seen = asked;
    for (const deadline = Date.now() + 30_000; asked < seen + 2 && Date.now() < deadline; ) await sleep(20);
  };
  const quoteOf = ({ coin, network }: { coin: string; network: string }, rateType = 'float') =>
    gateway.call(
      'GET',
      `/partner/rates?coin_from=${coin}&network_from=${network}&coin_to=USDC&network_to=BASE&rate_type=${rateType}`,
    );

  it('changes no quote', async () => {
    expect(currencies.length).toBeGreaterThanOrEqual(Object.keys(lies).length);
    const before = await Promise.all(currencies.map((currency) => quoteOf(currency)));
    expect(before.map(({ status }) => status)).toEqual(before.map(() => 200));
    for (const [at, told] of Object.values(lies).entries()) liars.set(currencies[at]?.coin ?? '', told);
    await refreshed();
    for (const [at, what] of Object.keys(lies).entries()) {
      const currency = currencies[at];
      if (currency) attempt(`a price ${what}`, (await quoteOf(currency)).text, before[at]?.text);
    }
  });

  it('stops all quotes and orders once the last true price is too old', async () => {
    for (const { coin } of currencies) liars.set(coin, priced('-1'));
    await refreshed();
    clock.advance(61_000);
    await changingNothing(gateway, async () => {
      for (const rateType of ['float', 'fixed']) {
        for (const currency of currencies) {
          attempt(`a ${rateType} quote of ${currency.coin}`, (await quoteOf(currency, rateType)).status, 422);
        }
        const made = await gateway.call('POST', '/partner/orders', { key, body: orderBody({ rate_type: rateType }) });
        attempt(`a ${rateType} order`, made.status, 422);
      }
    });
    liars.clear();
    await refreshed();
    for (const currency of currencies) expect((await quoteOf(currency)).status).toBe(200);
  });
});

describe('exchanges with malformed or false tickers', () => {
  const kraken = new ImitatedKraken();
  const binance = new ImitatedBinance();
  let gateway: TestGateway;
  beforeAll(async () => {
    await Promise.all([kraken.start(), binance.start()]);
    kraken.reset(
      {},
      {
        'BTC/USD': { bid: '64000', ask: '64010', depth: null },
        'ETH/USD': { bid: '3200', ask: '3201', depth: null },
        'USDT/USD': { bid: '1', ask: '1', depth: null },
      },
    );
    binance.reset(
      {},
      {
        'BTC/USDT': { bid: '64000', ask: '64010', depth: null },
        'ETH/USDT': { bid: '3200', ask: '3201', depth: null },
      },
    );
    gateway = await startGateway({
      settings: { PRICE_SOURCES: `kraken=${kraken.origin},binance=${binance.origin}`, PRICE_REFRESH_SEC: '1' },
      outside: { background: false },
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([kraken.stop(), binance.stop()]);
  });

  const ticker = (bid: unknown, ask: unknown): Omit<Fault, 'path'> => ({
    kind: 'answer',
    body: JSON.stringify({
      error: [],
      result: {
        XXBTZUSD: { a: [ask, '1', '1'], b: [bid, '1', '1'] },
        XETHZUSD: { a: ['3201'], b: ['3200'] },
        USDTZUSD: { a: ['1'], b: ['1'] },
      },
    }),
  });

  it('cannot move a quote past the price of the other exchange', async () => {
    const told = async () => {
      const { status, json } = await gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH&amount=1');
      return status === 200 ? Math.round(json.rate) : status;
    };
    for (const deadline = Date.now() + 60_000; (await told()) === 422 && Date.now() < deadline; ) await sleep(100);
    const honest = await told();
    expect(honest).toBeGreaterThan(15);
    const faults: Record<string, Omit<Fault, 'path'>> = {
      'ten times': ticker('640000', '640100'),
      'a tenth': ticker('6400', '6401'),
      'less than nothing': ticker('-64010', '-64000'),
      nothing: ticker('0', '0'),
      NaN: ticker('NaN', 'NaN'),
      'numbers beyond all': ticker('1e400', '1e400'),
      crossed: ticker('64010', '1'),
      'a web page': { kind: 'answer', body: '<html>maintenance</html>' },
      'status 500': { kind: 'answer', status: 500, body: '{}' },
      'ten megabytes': { kind: 'answer', body: `{"error":[],"result":{"x":"${'x'.repeat(10 * 1024 * 1024)}"}}` },
      'lists, 100,000 deep': { kind: 'answer', body: '['.repeat(100_000) },
      prototypes: {
        kind: 'answer',
        body: '{"error":[],"result":{"__proto__":{"a":["1"],"b":["1"]},"constructor":{"a":["1"]}}}',
      },
    };
    for (const [what, fault] of Object.entries(faults)) {
      kraken.faults.push({ path: 'Ticker', ...fault });
      const quotes = new Set<number>();
      for (const deadline = Date.now() + 60_000; kraken.faults.length > 0 && Date.now() < deadline; await sleep(50)) {
        quotes.add(await told());
      }
      quotes.add(await told());
      // While the exchanges contradict each other, no quote is given.
      attempt(
        `quotes at ${what}`,
        [...quotes].filter((quote) => quote !== honest && quote !== 422),
        [],
      );
      expect(kraken.faults).toEqual([]);
    }
    for (const deadline = Date.now() + 60_000; (await told()) !== honest && Date.now() < deadline; ) await sleep(100);
    expect(await told()).toBe(honest);
  });
});

describe('a malformed answer of a venue or a node', () => {
  const faults = new Faults();
  /** Changes what a node tells of the chain, between the node and the gateway. */
  let lie: ((found: ScanResult, chain: string) => ScanResult) | null = null;
  let gateway: SettledGateway;

  beforeAll(async () => {
    const { chain, ...outside } = faults.outside();
    gateway = await startSettledGateway({
      outside: {
        ...outside,
        background: false,
        chain: (adapter) => {
          const faulty = chain?.(adapter) ?? adapter;
          return new Proxy<ChainAdapter>(faulty, {
            get(target, name) {
              if (name !== 'scan') return Reflect.get(target, name, target);
              return async (...args: Parameters<ChainAdapter['scan']>) => {
                const found = await target.scan(...args);
                return lie ? lie(found, target.chain) : found;
              };
            },
          });
        },
      },
    });
  });
  afterAll(() => gateway?.stop());
  afterEach(() => {
    lie = null;
    faults.venue = null;
  });

  const payouts = (order: MadeOrder) =>
    gateway.query("select id from payment where order_id = $1 and kind = 'payout'", [order.id]);

  it.each<[string, unknown]>([
    ['less than nothing', '-1'],
    ['nothing', '0'],
    ['almost nothing', '0.000000000000000001'],
    ['less than was allowed', '1'],
    ['NaN', 'NaN'],
    ['infinity', 'Infinity'],
    ['beyond all numbers', '1e400'],
    ['no text', ''],
    ['a web page', '<html>'],
    ['no amount', undefined],
    ['an object', {}],
  ])('a venue that claims to have bought %s causes no payout, and the true fill is paid once', async (what, bought) => {
    const order = await gateway.order();
    await gateway.deposit(order);
    faults.venue = async (trade) => {
      await trade();
      return { outcome: 'filled', bought: bought as string };
    };
    for (let round = 0; round < 6; round++) {
      await gateway.mine(order.networkFrom);
      await gateway.tick();
      gateway.clock.advance(6_000);
    }
    attempt(`a fill of ${what}`, await payouts(order), []);
    faults.venue = null;
    await gateway.settle(order);
    gateway.clock.advance(60_000);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    attempt(`payouts after a fill of ${what}`, (await payouts(order)).length, 1);
  });

  it('a malformed answer of the venue causes no payout', async () => {
    for (const answer of [
      null,
      undefined,
      {},
      'filled',
      { outcome: 'FILLED', bought: '1000' },
      { outcome: '__proto__' },
    ]) {
      const order = await gateway.order();
      await gateway.deposit(order);
      faults.venue = async () => answer as never;
      for (let round = 0; round < 4; round++) {
        await gateway.mine(order.networkFrom);
        await gateway.tick();
        gateway.clock.advance(6_000);
      }
      attempt(`the answer ${JSON.stringify(answer)}`, await payouts(order), []);
      faults.venue = null;
    }
  });

  it('a transfer that a node reports twice is credited once', async () => {
    const order = await gateway.order();
    const other = await gateway.order();
    await gateway.deposit(order);
    const seen: ScanResult['blocks'][number]['transfers'][number][] = [];
    lie = (found, chain) => {
      if (chain !== 'bitcoin') return found;
      const blocks = found.blocks.map((block) => {
        const own = block.transfers.filter(({ address }) => address === order.depositAddress);
        seen.push(...own);
        // In each block from now on, and for the address of another order too.
        const again = seen.flatMap((transfer) => [transfer, { ...transfer, address: other.depositAddress }]);
        return { ...block, transfers: [...block.transfers, ...again] };
      });
      return { ...found, blocks };
    };
    await gateway.settle(order);
    for (let i = 0; i < 5; i++) {
      await gateway.mine('BTC');
      await gateway.tick();
    }
    expect(seen.length).toBeGreaterThan(0);
    attempt('a transfer told twice, for another order', await payouts(other), []);
    const credits = await gateway.query<{ order_id: string; credits: number }>(
      'select order_id, credits from deposit where order_id = any($1)',
      [[order.id, other.id]],
    );
    attempt('a transfer told twice', credits.filter(({ credits: times }) => times > 0).length <= 1, true);
    attempt('payouts of a transfer told twice', (await payouts(order)).length <= 1, true);
  });
});
