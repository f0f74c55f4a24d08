import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { ExchangeProcess, type ExchangeProcessOptions } from '../../../src/exchanges/exchange-process.ts';
import { ImitatedBinance } from '../../../src/exchanges/sandbox/imitated-binance.ts';
import { ImitatedKraken } from '../../../src/exchanges/sandbox/imitated-kraken.ts';
import { ExchangePriceSource } from '../../../src/market/rates/sources/exchange-price-source.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';

const kraken = new ImitatedKraken();
const binance = new ImitatedBinance();
const sink = new LogSink();
const log = createLog('info', sink);
let process: ExchangeProcess;

function open(changes: Partial<ExchangeProcessOptions> = {}): ExchangeProcess {
  return new ExchangeProcess({
    exchanges: [
      { name: 'kraken', origin: kraken.origin },
      { name: 'binance', origin: binance.origin },
    ],
    log,
    paceMs: 0,
    restartMs: 1,
    requestTimeoutMs: 1_500,
    ...changes,
  });
}

function sourceOf(exchanges: ExchangeProcess): ExchangePriceSource {
  return new ExchangePriceSource({
    clock: systemClock,
    log,
    process: exchanges,
    exchanges: ['kraken', 'binance'],
    rules: { minSources: 2, outlier: '0.02', disagreement: '0.01' },
    staleSec: 20,
    roundTimeoutMs: 60_000,
  });
}

async function prices(source: ExchangePriceSource, ...coins: string[]): Promise<Record<string, string>> {
  return Object.fromEntries([...(await source.fetch(coins))].map(([coin, { price }]) => [coin, price]));
}

beforeAll(async () => {
  await Promise.all([kraken.start(), binance.start()]);
  process = open();
});
afterAll(async () => {
  await process?.close();
  await Promise.all([kraken.stop(), binance.stop()]);
});
beforeEach(() => {
  kraken.reset(
    {},
    {
      'BTC/USD': { bid: '64000', ask: '64010', depth: null },
      'ETH/USD': { bid: '3200', ask: '3201', depth: null },
      'USDT/USD': { bid: '0.9990', ask: '0.9992', depth: null },
    },
  );
  binance.reset(
    {},
    {
      'BTC/USDT': { bid: '64060', ask: '64070', depth: null },
      'ETH/USDT': { bid: '3203', ask: '3204', depth: null },
    },
  );
});

describe('prices of real protocols, through the process', () => {
  it('are the median of both exchanges, in dollars', async () => {
    // (64005 + 64065 × 0.9991) / 2
    expect(await prices(sourceOf(process), 'BTC', 'XMR')).toEqual({ BTC: '64006.17075' });
  });

  const long = `{"error":[],"result":{"x":"${'x'.repeat(10 * 1024 * 1024)}"}}`;

  it.each([
    ['a web page', { kind: 'answer' as const, body: '<html>maintenance</html>' }],
    ['status 500', { kind: 'answer' as const, status: 500, body: '{}' }],
    ['ten megabytes', { kind: 'answer' as const, body: long }],
    ['a slow drip', { kind: 'drip' as const }],
    ['a broken connection', { kind: 'lose_request' as const }],
    ['a refusal', { kind: 'answer' as const, body: '{"error":["EAPI:Rate limit exceeded"]}' }],
    ['nonsense', { kind: 'answer' as const, body: '{"result":{"XXBTZUSD":{"a":["x"],"b":[]}}}' }],
    ['JSON without prices', { kind: 'answer' as const, body: '[]' }],
  ])('are missing at %s of an exchange, and come back', async (_what, fault) => {
    await prices(sourceOf(process), 'BTC');
    const source = sourceOf(process);
    kraken.faults.push({ path: 'Ticker', ...fault });
    expect(await prices(source, 'BTC')).toEqual({});
    expect(await prices(source, 'BTC')).toEqual({ BTC: '64006.17075' });
  });

  it('are none for a market that is crossed', async () => {
    kraken.books['BTC/USD'] = { bid: '64010', ask: '64000', depth: null };
    const found = await prices(sourceOf(process), 'BTC', 'ETH');
    expect(Object.keys(found)).toEqual(['ETH']);
  });

  it('pause a coin on which the exchanges disagree', async () => {
    binance.books['BTC/USDT'] = { bid: '65000', ask: '65010', depth: null };
    const source = sourceOf(process);
    expect(Object.keys(await prices(source, 'BTC', 'ETH'))).toEqual(['ETH']);
    expect([...source.paused()]).toEqual(['BTC']);
  });
});

describe('ExchangeProcess', () => {
  it('shares nothing of ours with its child, and says no key on its command line', async () => {
    const own = open({
      exchanges: [
        {
          name: 'kraken',
          origin: kraken.origin,
          key: 'public half',
          secret: 'c2VjcmV0',
          funding: { key: 'reading half', secret: 'cmVhZHM=' },
        },
      ],
    });
    try {
      await own.ask('kraken', 'clockSkew');
      const environment = await readFile(`/proc/${own.pid}/environ`, 'utf8');
      const names = environment.split('\0').filter((line) => line !== '');
      expect(names.map((line) => line.split('=')[0]).sort()).toEqual([
        'NODE_CHANNEL_FD',
        'NODE_CHANNEL_SERIALIZATION_MODE',
      ]);
      const command = await readFile(`/proc/${own.pid}/cmdline`, 'utf8');
      expect(command).not.toMatch(/half|c2VjcmV0|cmVhZHM/);
    } finally {
      await own.close();
    }
  });

  it('comes back when it is killed', async () => {
    await process.ask('kraken', 'clockSkew');
    const before = process.pid;
    if (before) globalThis.process.kill(before, 'SIGKILL');
    await expect(process.ask('kraken', 'clockSkew')).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
    await sleep(50);
    expect(typeof (await process.ask('kraken', 'clockSkew'))).toBe('number');
    expect(process.pid).not.toBe(before);
  });

  it('waits longer after each death, though it answered in between, and no longer once it has lived', async () => {
    const restartMs = 60_000;
    const own = open({ restartMs });
    const { now } = Date;
    let nowMs = now();
    Date.now = () => nowMs;
    try {
      for (const { waits, livedMs } of [
        { waits: 1, livedMs: 0 },
        { waits: 2, livedMs: 0 },
        { waits: 4, livedMs: 0 },
        { waits: 1, livedMs: 100 * restartMs },
      ]) {
        expect(typeof (await own.ask('kraken', 'clockSkew'))).toBe('number');
        nowMs += livedMs;
        if (own.pid) globalThis.process.kill(own.pid, 'SIGKILL');
        await expect(own.ask('kraken', 'clockSkew')).rejects.toThrow('ended');
        nowMs += waits * restartMs - 1;
        await expect(own.ask('kraken', 'clockSkew')).rejects.toThrow('is down');
        expect(own.pid).toBeNull();
        nowMs += 1;
      }
    } finally {
      Date.now = now;
      await own.close();
    }
  });

  it('is ended when it hangs, and starts again', async () => {
    // Longer than a start takes on a busy machine.
    const own = open({ answerTimeoutMs: 20_000 });
    try {
      await own.ask('kraken', 'clockSkew');
      const before = own.pid;
      if (before) globalThis.process.kill(before, 'SIGSTOP');
      await expect(own.ask('kraken', 'clockSkew')).rejects.toThrow('in time');
      await sleep(100);
      await own.ask('kraken', 'clockSkew');
      expect(own.pid).not.toBe(before);
    } finally {
      await own.close();
    }
  });

  it('starts no more once it is closed, and leaves no process', async () => {
    const own = open();
    await own.ask('kraken', 'clockSkew');
    const { pid } = own;
    await own.close();
    await expect(own.ask('kraken', 'clockSkew')).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
    expect(() => globalThis.process.kill(pid ?? 0, 0)).toThrow();
  });

  it('refuses an answer that is longer than it reads', async () => {
    const own = open({ maxAnswerBytes: 100_000 });
    try {
      kraken.faults.push({ path: 'AssetPairs', kind: 'answer', body: `{"result":{"x":"${'x'.repeat(200_000)}"}}` });
      await expect(own.ask('kraken', 'tickers', ['BTC'])).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
      expect(await own.ask('kraken', 'tickers', ['BTC'])).toHaveLength(1);
    } finally {
      await own.close();
    }
  });

  it.each([
    ['ClosedOrders', 'without its client id', '{"error":[],"result":{"closed":{"O1":{"status":"closed"}},"count":1}}'],
    ['OpenOrders', 'of another client id', '{"error":[],"result":{"open":{"O1":{"cl_ord_id":"y","status":"open"}}}}'],
    ['ClosedOrders', 'in no list', '{"error":[],"result":{}}'],
  ])('does not take %s that are %s for none of ours', async (path, _what, body) => {
    const { key, secret, origin } = kraken;
    const own = open({ exchanges: [{ name: 'kraken', origin, key, secret }] });
    try {
      const order = { clientId: 'x', base: 'BTC', quote: 'USD' };
      expect(await own.ask('kraken', 'find', order)).toEqual([]);
      kraken.faults.push({ path, kind: 'answer', body });
      await expect(own.ask('kraken', 'find', order)).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
    } finally {
      await own.close();
    }
  });

  it('does not take the fees of some trades for the fees of all', async () => {
    const { key, secret, origin } = binance;
    const own = open({ exchanges: [{ name: 'binance', origin, key, secret }] });
    try {
      binance.balances.USDT = '1000';
      const clientId = '9cc788d8-9c00-8b25-84d3-26d93603948d';
      const order = { clientId, base: 'BTC', quote: 'USDT', side: 'buy' as const, amount: '0.01', limit: '64070.00' };
      await own.ask('binance', 'place', { ...order, notAfterMs: Date.now() + 10_000 });
      binance.faults.push({ path: 'myTrades', kind: 'answer', body: '[]' });
      await expect(own.ask('binance', 'find', order)).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
      expect(await own.ask('binance', 'find', order)).toMatchObject([
        { fees: [{ coin: 'BTC', amount: '0.00001000' }] },
      ]);
    } finally {
      await own.close();
    }
  });

  it('tells a refusal apart from no answer', async () => {
    const own = open({ exchanges: [{ name: 'kraken', origin: kraken.origin, key: 'wrong', secret: 'c2VjcmV0' }] });
    try {
      const order = { clientId: 'x', base: 'BTC', quote: 'USD' };
      await expect(own.ask('kraken', 'find', order)).rejects.toMatchObject({
        name: 'ExchangeRefusal',
        code: 'refused',
      });
    } finally {
      await own.close();
    }
  });
});
