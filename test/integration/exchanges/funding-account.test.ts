import { readFile } from 'node:fs/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { openVenue } from '../../../src/app/open-venue.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createLog } from '../../../src/base/log.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { MovementKind } from '../../../src/exchanges/exchange.ts';
import { ExchangeProcess, type ExchangeProcessOptions } from '../../../src/exchanges/exchange-process.ts';
import { FundingAccount } from '../../../src/exchanges/funding-account.ts';
import type { Fault } from '../../../src/exchanges/sandbox/exchange-state.ts';
import { ImitatedBinance } from '../../../src/exchanges/sandbox/imitated-binance.ts';
import { ImitatedKraken } from '../../../src/exchanges/sandbox/imitated-kraken.ts';
import { TradingAccount } from '../../../src/exchanges/trading-account.ts';
import type { PriceBook } from '../../../src/market/rates/price-book.ts';
import { movement } from '../../support/exchanges/movement.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';

/** Both exchanges: the ends of the paths of the lists, and what is asked for the holdings. */
const exchanges = {
  kraken: { holdings: 'BalanceEx', deposit: 'DepositStatus', withdrawal: 'WithdrawStatus' },
  binance: { holdings: 'account', deposit: 'hisrec', withdrawal: 'history' },
} as const;
type Name = keyof typeof exchanges;
const names = Object.keys(exchanges) as Name[];
const kinds = ['deposit', 'withdrawal'] as const;
const both = names.flatMap((name) => kinds.map((kind) => ({ name, kind })));

const loopbacks = { kraken: new ImitatedKraken(), binance: new ImitatedBinance() };
const processes = {} as Record<Name, ExchangeProcess>;
const log = createLog('info', new LogSink());

function open(
  name: Name,
  keys: Partial<ExchangeProcessOptions['exchanges'][number]> = {},
  changes: Partial<ExchangeProcessOptions> = {},
): ExchangeProcess {
  const { origin, key, secret, funding } = loopbacks[name];
  return new ExchangeProcess({
    exchanges: [{ name, origin, key, secret, funding, ...keys }],
    log,
    paceMs: 0,
    restartMs: 1,
    requestTimeoutMs: 1_500,
    ...changes,
  });
}

/** Asks a separate process, which is closed afterwards. */
async function asking<T>(process: ExchangeProcess, name: Name, ask: (account: FundingAccount) => Promise<T>) {
  try {
    return await ask(new FundingAccount(name, process));
  } finally {
    await process.close();
  }
}

const account = (name: Name) => new FundingAccount(name, processes[name]);
const dayMs = 86_400_000;
const lately = () => Date.now() - dayMs;

beforeAll(async () => {
  for (const name of names) {
    await loopbacks[name].start();
    processes[name] = open(name);
  }
});
afterAll(async () => {
  for (const name of names) {
    await processes[name]?.close();
    await loopbacks[name].stop();
  }
});
beforeEach(() => {
  loopbacks.kraken.reset(
    { USD: '1000', BTC: '2', DOGE: '50', XMR: '0', LTC: '3' },
    { 'BTC/USD': { bid: '64000', ask: '64010', depth: null } },
  );
  loopbacks.binance.reset(
    { USDT: '1000', BTC: '2', DOGE: '50', XMR: '0', LTC: '3' },
    { 'BTC/USDT': { bid: '64000', ask: '64010', depth: null } },
  );
});

describe('the holdings', () => {
  it.each(names)('at %s are every coin that there is, with what is free', async (name) => {
    loopbacks[name].locked.BTC = '0.5';
    const cash = name === 'kraken' ? 'USD' : 'USDT';
    expect((await account(name).holdings()).sort((a, b) => (a.coin < b.coin ? -1 : 1))).toEqual([
      { coin: 'BTC', total: '2', free: '1.5' },
      { coin: 'DOGE', total: '50', free: '50' },
      { coin: 'LTC', total: '3', free: '3' },
      { coin: cash, total: '1000', free: '1000' },
    ]);
  });

  it('at Kraken count what earns interest, which is not free', async () => {
    const { balances } = loopbacks.kraken;
    for (const coin of Object.keys(balances)) delete balances[coin];
    for (const [coin, amount] of Object.entries({
      BTC: '1',
      'BTC.F': '0.25',
      'BTC.M': '0.125',
      'ETH.B': '4',
      'ETH.P': '2',
      'DOT28.S': '7',
      'DOT.S': '3',
      'USD.HOLD': '5',
    })) {
      balances[coin] = amount;
    }
    expect(await account('kraken').holdings()).toEqual([
      { coin: 'BTC', total: '1.375', free: '1' },
      { coin: 'ETH', total: '6', free: '0' },
      { coin: 'DOT', total: '10', free: '0' },
      { coin: 'USD.HOLD', total: '5', free: '5' },
    ]);
  });
});

describe('a movement', () => {
  const states: Record<Name, Record<MovementKind, { readonly [told: string]: unknown }>> = {
    kraken: {
      deposit: {
        Initial: 'pending',
        Pending: 'pending',
        Settled: 'pending',
        Success: 'done',
        Failure: 'returned',
        Partial: 'unknown',
        Celebrated: 'unknown',
        ['construct' + 'or']: 'unknown',
        'Success onhold': 'locked',
        'Success on-hold': 'locked',
        'Settled onhold': 'pending',
        'Failure onhold': 'returned',
        'Settled return': 'pending',
        'Failure return': 'returned',
        'Success return': 'unknown',
        'Success examined': 'unknown',
      },
      withdrawal: {
        Initial: 'pending',
        Pending: 'pending',
        Settled: 'pending',
        Success: 'done',
        Failure: 'returned',
        Partial: 'unknown',
        'Initial onhold': 'pending',
        'Success onhold': 'pending',
        'Pending cancel-pending': 'pending',
        'Success cancel-pending': 'pending',
        'Failure canceled': 'returned',
        'Pending canceled': 'returned',
        'Success canceled': 'unknown',
        'Pending cancel-denied': 'pending',
        'Success cancel-denied': 'done',
        'Success return': 'unknown',
      },
    },
    binance: {
      deposit: {
        0: 'pending',
        1: 'done',
        2: 'returned',
        3: 'unknown',
        4: 'unknown',
        5: 'unknown',
        6: 'locked',
        7: 'returned',
        8: 'pending',
        9: 'unknown',
      },
      withdrawal: {
        0: 'pending',
        1: 'returned',
        2: 'pending',
        3: 'returned',
        4: 'pending',
        5: 'returned',
        6: 'done',
        7: 'unknown',
        8: 'unknown',
      },
    },
  };

  it.each(both)('has the state that the exchange tells ($name, $kind)', async ({ name, kind }) => {
    for (const told of Object.keys(states[name][kind])) {
      loopbacks[name].movements.push(movement({ kind, told, reference: told }));
    }
    const found = await account(name).movements(kind, lately());
    expect(Object.fromEntries(found.map(({ told, state }) => [told, state]))).toEqual(states[name][kind]);
  });

  it.each(both)('is told with all that belongs to it ($name, $kind)', async ({ name, kind }) => {
    const { told: _, ...expected } = movement({ kind, coin: 'DOGE', network: 'Dogecoin', amount: '1200.50000001' });
    loopbacks[name].movements.push({ ...expected, told: null });
    expect(await account(name).movements(kind, lately())).toEqual([{ ...expected, told: expect.any(String) }]);
    expect(await account(name).movements(kind === 'deposit' ? 'withdrawal' : 'deposit', lately())).toEqual([]);
  });

  it.each(both)('has no transaction before it was sent ($name, $kind)', async ({ name, kind }) => {
    loopbacks[name].movements.push(movement({ kind, txid: null, state: 'pending' }));
    expect(await account(name).movements(kind, lately())).toMatchObject([{ txid: null, isInternal: false }]);
  });

  it.each(kinds)('inside Binance is on no chain (%s)', async (kind) => {
    loopbacks.binance.movements.push(movement({ kind, txid: null, isInternal: true, tag: '7' }));
    const [found] = await account('binance').movements(kind, lately());
    expect(found).toMatchObject({ txid: null, isInternal: true, tag: '7' });
    // The words alone say so as well.
    loopbacks.binance.movements.splice(0, 1, movement({ kind, txid: 'Internal transfer 51376627901' }));
    expect(await account('binance').movements(kind, lately())).toMatchObject([{ txid: null, isInternal: true }]);
  });

  it('costs a fee in addition to what arrives, or out of it', async () => {
    const raw = (list: string, row: object): Fault => ({
      path: list === 'deposit' ? 'DepositStatus' : 'WithdrawStatus',
      kind: 'answer',
      body: JSON.stringify({ error: [], result: { [list]: [{ ...row, time: 1669126657 }], next_cursor: null } }),
    });
    const usdt = { method: 'Tether USD (TRC20)', asset: 'USDT', txid: '1c7a', info: 'TQmdx', status: 'Success' };
    loopbacks.kraken.faults.push(
      raw('withdrawals', { ...usdt, refid: 'W', amount: '1996.50000000', fee: '2.50000000', network: 'Tron' }),
      raw('deposit', { ...usdt, refid: 'D', amount: '100.00', fee: '1.00' }),
      raw('deposit', { ...usdt, refid: 'D', amount: '100.00', originators: ['9f01'] }),
    );
    expect(await account('kraken').movements('withdrawal', 0)).toMatchObject([
      { amount: '1999', fee: '2.5', network: 'Tron', txid: '1c7a', atMs: 1669126657_000 },
    ]);
    expect(await account('kraken').movements('deposit', 0)).toMatchObject([
      { amount: '99', fee: '1', network: 'Tether USD (TRC20)' },
    ]);
    // Kraken credits when it collects the address. Ours is the transaction of the sender.
    expect(await account('kraken').movements('deposit', 0)).toMatchObject([{ amount: '100', fee: '0', txid: '9f01' }]);
  });

  it.each(names)('at %s to an invoice has no address', async (name) => {
    loopbacks[name].movements.push(movement({ kind: 'withdrawal', address: `lnbc1${'q'.repeat(300)}` }));
    expect(await account(name).movements('withdrawal', lately())).toMatchObject([{ address: null }]);
  });
});

describe('a list of movements', () => {
  /** Movements of the last hours, newest last. */
  const fill = (name: Name, kind: MovementKind, count: number, everyMs = 60_000): string[] => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const references = Array.from({ length: count }, (_, index) => `R-${index}`);
    loopbacks[name].movements.push(
      ...references.map((reference, index) => movement({ kind, reference, atMs: now - (count - index) * everyMs })),
    );
    return references;
  };
  const referencesOf = async (name: Name, kind: MovementKind, sinceMs: number) => {
    const found = await account(name).movements(kind, sinceMs);
    return found.map(({ reference }) => reference).sort((a, b) => Number(a.slice(2)) - Number(b.slice(2)));
  };
  const requests = (name: Name, kind: MovementKind) =>
    loopbacks[name].asked.filter((path) => path.endsWith(`/${exchanges[name][kind]}`)).length;

  it.each(both)('is read page by page to its end ($name, $kind)', async ({ name, kind }) => {
    const references = fill(name, kind, 7);
    loopbacks[name].pageSize = 2;
    expect(await referencesOf(name, kind, lately())).toEqual(references);
    expect(requests(name, kind)).toBeGreaterThanOrEqual(4);
  });

  it.each(both)('begins at the moment that was asked for ($name, $kind)', async ({ name, kind }) => {
    fill(name, kind, 7);
    expect(await referencesOf(name, kind, Date.now() - 150_000)).toEqual(['R-5', 'R-6']);
  });

  it.each(both)('is complete where one is added meanwhile ($name, $kind)', async ({ name, kind }) => {
    const references = fill(name, kind, 5);
    loopbacks[name].pageSize = 2;
    loopbacks[name].onRequest = () => {
      if (requests(name, kind) !== 2) return;
      loopbacks[name].movements.push(movement({ kind, reference: 'R-9', atMs: Math.floor(Date.now() / 1000) * 1000 }));
      loopbacks[name].onRequest = null;
    };
    expect(await referencesOf(name, kind, lately())).toEqual(expect.arrayContaining(references));
  });

  it.each(kinds)('at Binance goes back more than 90 days, by periods (%s)', async (kind) => {
    const references = fill('binance', kind, 40, 10 * dayMs);
    loopbacks.binance.pageSize = 3;
    expect(await referencesOf('binance', kind, Date.now() - 401 * dayMs)).toEqual(references);
  });

  it.each(both)('that has too many pages is an error ($name, $kind)', async ({ name, kind }) => {
    fill(name, kind, 201);
    loopbacks[name].pageSize = 1;
    await expect(account(name).movements(kind, lately())).rejects.toMatchObject({
      name: 'ExchangeUnavailable',
      message: expect.stringContaining(`the list of ${kind}s has more than 200 pages`),
    });
  });

  it.each(both)('that breaks off is an error ($name, $kind)', async ({ name, kind }) => {
    const references = fill(name, kind, 5);
    loopbacks[name].pageSize = 2;
    loopbacks[name].onRequest = () => {
      if (requests(name, kind) !== 2) return;
      loopbacks[name].faults.push({ path: exchanges[name][kind], kind: 'answer', status: 500, body: '{}' });
      loopbacks[name].onRequest = null;
    };
    await expect(account(name).movements(kind, lately())).rejects.toMatchObject({ name: 'ExchangeUnavailable' });
    expect(await referencesOf(name, kind, lately())).toEqual(references);
  });

  it.each(names)('at %s that takes too long is an error, and the process lives on', async (name) => {
    const own = open(name, {}, { listTimeoutMs: -1 });
    await asking(own, name, async (funding) => {
      await expect(funding.movements('deposit', lately())).rejects.toThrow('the list of deposits takes too long');
      expect(await funding.holdings()).toHaveLength(4);
    });
  });

  it.each([
    ['begins again', { deposit: [], next_cursor: 'again' }, 'begins again before its end'],
    ['is not divided into pages', [{ refid: 'R-1' }], 'no page of deposits'],
    ['is none', {}, 'no page of deposits'],
  ])('at Kraken that %s is an error', async (_what, result, message) => {
    const body = JSON.stringify({ error: [], result });
    loopbacks.kraken.faults.push({ path: 'DepositStatus', kind: 'answer', body, times: 2 });
    await expect(account('kraken').movements('deposit', 0)).rejects.toThrow(message);
  });

  it('at Kraken that has no rows is empty', async () => {
    loopbacks.kraken.faults.push({ path: 'DepositStatus', kind: 'answer', body: '{"error":[],"result":[]}' });
    expect(await account('kraken').movements('deposit', 0)).toEqual([]);
  });
});

describe('hostile answers', () => {
  const deposit = {
    refid: 'R',
    asset: 'XXBT',
    txid: 'aa',
    info: 'bc1',
    amount: '1',
    fee: '0',
    time: 1,
    status: 'Success',
  };
  const row = {
    id: 'R',
    coin: 'BTC',
    txId: 'aa',
    address: 'bc1',
    amount: '1',
    insertTime: 1,
    status: 1,
    network: 'BTC',
  };
  const krakenRow = (changes: object) =>
    JSON.stringify({ error: [], result: { deposit: [{ ...deposit, ...changes }] } });
  const binanceRow = (changes: object) => JSON.stringify([{ ...row, ...changes }]);
  const rows: Record<string, { kraken: object; binance: object }> = {
    'an amount less than nothing': { kraken: { amount: '-1' }, binance: { amount: '-1' } },
    'an amount of nothing': { kraken: { amount: '0' }, binance: { amount: '0' } },
    'an amount beyond all': { kraken: { amount: '1e400' }, binance: { amount: '1e400' } },
    'an amount too fine': { kraken: { amount: '0.0000000000000000001' }, binance: { amount: '1e-19' } },
    'an amount NaN': { kraken: { amount: 'NaN' }, binance: { amount: 'NaN' } },
    'an amount with a comma': { kraken: { amount: '1,5' }, binance: { amount: '1,5' } },
    'no amount': { kraken: { amount: null }, binance: { amount: {} } },
    'no reference': { kraken: { refid: null }, binance: { id: undefined } },
    'a reference without end': { kraken: { refid: 'R'.repeat(201) }, binance: { id: 'R'.repeat(201) } },
    'no coin': { kraken: { asset: '' }, binance: { coin: [] } },
    'a coin that cannot be printed': { kraken: { asset: 'x\u0000' }, binance: { coin: 'x\u001b[2J' } },
    'a time far ahead': { kraken: { time: 9_999_999_999 }, binance: { insertTime: 9_999_999_999_000 } },
    'no time': { kraken: { time: 'soon' }, binance: { insertTime: null } },
    'a time before all': { kraken: { time: -5 }, binance: { insertTime: -5 } },
    'a transaction without end': { kraken: { txid: 'a'.repeat(201) }, binance: { txId: 'a'.repeat(201) } },
    'a network without end': { kraken: { method: 'a'.repeat(201) }, binance: { network: 'a'.repeat(201) } },
  };
  const lists: Record<string, string> = {
    'a web page': '<html>maintenance</html>',
    'no list': '{"error":[],"result":null}',
    'a text': '"deposits"',
    'lists, 100,000 deep': '['.repeat(100_000),
    'ten megabytes': `{"error":[],"result":{"x":"${'x'.repeat(10 * 1024 * 1024)}"}}`,
    prototypes: '{"error":[],"result":{"__proto__":{"deposit":[]},"constructor":1}}',
    'rows that are none': '{"error":[],"result":{"deposit":[1,null,"x"]}}',
  };

  it.each(names)('of %s are no movements', async (name) => {
    const bodies = {
      ...lists,
      ...Object.fromEntries(
        Object.entries(rows).map(([what, changes]) => [
          what,
          name === 'kraken' ? krakenRow(changes.kraken) : binanceRow(changes.binance),
        ]),
      ),
      'one reference of two':
        name === 'kraken'
          ? JSON.stringify({ error: [], result: { deposit: [deposit, { ...deposit, amount: '2' }] } })
          : JSON.stringify([row, { ...row, amount: '2' }]),
    };
    const told: Record<string, unknown> = {};
    for (const [what, body] of Object.entries(bodies)) {
      loopbacks[name].faults.push({ path: exchanges[name].deposit, kind: 'answer', body });
      told[what] = await account(name)
        .movements('deposit', lately())
        .catch((error: Error) => error.name);
    }
    expect(told).toEqual(Object.fromEntries(Object.keys(bodies).map((what) => [what, 'ExchangeUnavailable'])));
    loopbacks[name].movements.push(movement());
    expect(await account(name).movements('deposit', lately())).toHaveLength(1);
  });

  it.each(names)('of %s are no holdings', async (name) => {
    const balances: unknown[] =
      name === 'kraken'
        ? [
            { XXBT: { balance: '-1', hold_trade: '-2' } },
            { XXBT: { balance: 'x' } },
            { XXBT: {} },
            { '': { balance: '1' } },
            { XXBT: { balance: '1', hold_trade: '-1' } },
            { XXBT: 1 },
            7,
          ]
        : [
            [{ asset: 'BTC', free: '2', locked: '-1' }],
            [{ asset: 'BTC', free: 'x', locked: '0' }],
            [{ asset: 'BTC', free: '1' }],
            [{ asset: '', free: '1', locked: '0' }],
            [
              { asset: 'BTC', free: '1', locked: '0' },
              { asset: 'BTC', free: '2', locked: '0' },
            ],
            {},
          ];
    for (const balance of balances) {
      const body = JSON.stringify(name === 'kraken' ? { error: [], result: balance } : { balances: balance });
      loopbacks[name].faults.push({ path: exchanges[name].holdings, kind: 'answer', body });
      const told = await account(name)
        .holdings()
        .catch((error: Error) => error.name);
      expect({ balance, told }).toEqual({ balance, told: 'ExchangeUnavailable' });
    }
    expect(await account(name).holdings()).toHaveLength(4);
  });
});

describe('the key that reads', () => {
  it.each(names)('is needed, at %s: a process without it says so', async (name) => {
    const { origin, key, secret } = loopbacks[name];
    const own = open(name, {}, { exchanges: [{ name, origin, key, secret }] });
    await asking(own, name, async (funding) => {
      await expect(funding.holdings()).rejects.toThrow('there is no key that reads the account');
      await expect(funding.movements('deposit', 0)).rejects.toThrow('there is no key that reads the account');
    });
    expect(loopbacks[name].asked).toEqual([]);
  });

  it.each(names)('is another than the key that trades, at %s: each is declined in place of the other', async (name) => {
    const { key, secret, funding } = loopbacks[name];
    const own = open(name, { ...funding, funding: { key, secret } });
    const declined = { name: 'ExchangeRefusal', code: 'refused', message: expect.stringMatching(/permission/i) };
    await asking(own, name, async (account) => {
      await expect(account.holdings()).rejects.toMatchObject(declined);
      for (const kind of kinds) await expect(account.movements(kind, 0)).rejects.toMatchObject(declined);
      const [base, quote] = ['BTC', name === 'kraken' ? 'USD' : 'USDT'];
      const order = { clientId: '9cc788d8-9c00-8b25-84d3-26d93603948d', base, quote };
      await expect(own.ask(name, 'find', order)).rejects.toMatchObject(declined);
    });
  });

  it('is taken from the settings', async () => {
    const { origin, key, secret, funding: reading } = loopbacks.kraken;
    const settings = {
      PRICE_SOURCES: 'kraken,binance',
      VENUE: `kraken=${origin}`,
      VENUE_KEY: key,
      VENUE_SECRET: secret,
    };
    const openBy = (texts: Record<string, string>) => {
      const setup = { clock: systemClock, log, orm: {} as MikroORM, prices: {} as PriceBook, isSandbox: true };
      return openVenue({ config: loadConfig(texts), ...setup });
    };
    expect(openBy(settings).source).toBeNull();
    const { venue, source: funding } = openBy({
      ...settings,
      VENUE_FUNDING_KEY: reading.key,
      VENUE_FUNDING_SECRET: reading.secret,
    });
    try {
      expect(await funding?.holdings()).toHaveLength(4);
    } finally {
      await venue.close?.();
    }
  });

  it.each(names)('has its own order of requests, at %s: reading and trading go side by side', async (name) => {
    const [base, quote] = ['BTC', name === 'kraken' ? 'USD' : 'USDT'];
    loopbacks[name].pageSize = 1;
    for (const reference of ['1', '2', '3']) loopbacks[name].movements.push(movement({ reference }));
    const order = { clientId: '9cc788d8-9c00-8b25-84d3-26d93603948d', base, quote, side: 'buy', amount: '1' } as const;
    const trading = new TradingAccount(name, processes[name]);
    const answers = await Promise.all([
      trading.find(order),
      account(name).movements('deposit', lately()),
      account(name).holdings(),
      trading.find(order),
      account(name).movements('withdrawal', lately()),
      trading.find(order),
    ]);
    expect(answers.map((answer) => answer.length)).toEqual([0, 3, 4, 0, 0, 0]);
  });

  it('waits at Kraken for its own answers only, one request after the other', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    loopbacks.kraken.onRequest = (_number, path) => (path.endsWith('/BalanceEx') ? held : undefined);
    const own = open('kraken', {}, { requestTimeoutMs: 30_000 });
    const reads = () => loopbacks.kraken.asked.filter((path) => /BalanceEx|Status$/.test(path));
    await asking(own, 'kraken', async (account) => {
      const holdings = account.holdings();
      const deposits = account.movements('deposit', lately());
      const order = { clientId: '9cc788d8-9c00-8b25-84d3-26d93603948d', base: 'BTC', quote: 'USD' };
      expect(await own.ask('kraken', 'find', order)).toEqual([]);
      expect(reads()).toEqual(['POST /0/private/BalanceEx']);
      release();
      expect(await holdings).toHaveLength(4);
      expect(await deposits).toEqual([]);
    });
    expect(reads()).toEqual(['POST /0/private/BalanceEx', 'POST /0/private/DepositStatus']);
  });

  it.each(names)('moves nothing, at %s: no request but these is ever signed', async (name) => {
    const [base, quote] = ['BTC', name === 'kraken' ? 'USD' : 'USDT'];
    const trading = new TradingAccount(name, processes[name]);
    const clientId = '9cc788d8-9c00-8b25-84d3-26d93603948d';
    const order = { clientId, base, quote, side: 'buy', amount: '0.01', limit: '64010' } as const;
    loopbacks[name].movements.push(movement(), movement({ kind: 'withdrawal' }));
    await account(name).holdings();
    for (const kind of kinds) await account(name).movements(kind, lately());
    await trading.market(base, quote);
    await trading.clockSkewMs();
    await trading.place({ ...order, notAfterMs: Date.now() + 10_000 });
    await trading.find(order);
    const signed = {
      kraken: ['AddOrder', 'BalanceEx', 'ClosedOrders', 'DepositStatus', 'OpenOrders', 'QueryOrders', 'WithdrawStatus'],
      binance: [
        'GET /api/v3/account',
        'GET /api/v3/myTrades',
        'GET /api/v3/order',
        'GET /sapi/v1/capital/deposit/hisrec',
        'GET /sapi/v1/capital/withdraw/history',
        'POST /api/v3/order',
      ],
    };
    const isPublic = /\/0\/public\/|\/(exchangeInfo|depth|time|bookTicker)$/;
    const asked = [...new Set(loopbacks[name].asked.filter((path) => !isPublic.test(path)))].sort();
    const expected = name === 'kraken' ? signed.kraken.map((call) => `POST /0/private/${call}`) : signed.binance;
    expect(asked).toEqual(expected);
    // The dialect names no other either.
    const source = await readFile(`src/exchanges/${name}-dialect.ts`, 'utf8');
    const called = [...new Set([...source.matchAll(/\bccxt\.((?:private|sapi)\w+)\(/g)].map(([, call]) => call))];
    expect(called.sort()).toEqual(
      name === 'kraken'
        ? signed.kraken.map((call) => `privatePost${call}`)
        : [
            'privateGetAccount',
            'privateGetMyTrades',
            'privateGetOrder',
            'privatePostOrder',
            'sapiGetCapitalDepositHisrec',
            'sapiGetCapitalWithdrawHistory',
          ],
    );
  });
});
