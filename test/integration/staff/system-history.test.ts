import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from '../../../src/base/money.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { HistoryTurns, type HistoryTurnsOptions, keptDays, slotMs } from '../../../src/operations/history-turns.ts';
import { query } from '../../support/database/database.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { Faults } from '../../support/faults/faults.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway } from '../../support/gateway/gateway.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const faults = new Faults();
const statements: string[] = [];
let gateway: SettledGateway;
let viewer: Member;
let support: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: { ...faults.outside(), onStatement: (sql) => statements.push(sql) },
  });
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
});
afterAll(() => gateway?.stop());
beforeEach(async () => {
  faults.scan = null;
  for (const table of ['wallet_history', 'chain_history', 'venue_history', 'wallet_level', 'venue_level']) {
    await gateway.query(`delete from ${table}`);
  }
  // Each test begins with a separate slot.
  gateway.clock.advance(2 * slotMs - (gateway.clock.now().getTime() % slotMs));
});

/** A worker's own part of the history. */
function worker(changes: Partial<HistoryTurnsOptions> = {}): HistoryTurns {
  const { clock, app } = gateway;
  return new HistoryTurns({
    orm: app.orm,
    clock,
    isExchange: false,
    slowestPollMs: 250,
    depthMaxAgeSec: 360,
    reconcileEverySec: 3_600,
    ...changes,
  });
}

/** A hot wallet as the watch of its worker stores it, seen now. */
async function walletHas(balance: string, coin = 'ETH', bounds: readonly [string, string] = ['1', '50']) {
  await gateway.query(
    `insert into wallet_level (chain, coin, network, balance, low, high, level, seen_at)
     values ('ethereum', $1, 'ETH', $2, $3, $4, 'ok', $5)
     on conflict (chain, coin, network) do update set balance = excluded.balance, seen_at = excluded.seen_at`,
    [coin, balance, ...bounds, gateway.clock.now()],
  );
}

async function minute(): Promise<void> {
  gateway.clock.advance(minuteMs);
  await gateway.tick();
}

/** The last hours of the history, to the end of this minute. */
function lately(ms: number): { from: Date; to: Date } {
  const now = gateway.clock.now().getTime();
  return { from: new Date(now - ms), to: new Date(now + minuteMs) };
}

const walletQuery = `query ($from: DateTime!, $to: DateTime!, $limit: Int!, $coin: String, $first: Int = 5) {
  walletHistory(from: $from, to: $to, coin: $coin, first: $first) {
    chain coin network points(limit: $limit) { at lowest highest last low high readings }
  } }`;
const chainQuery = `query ($from: DateTime!, $to: DateTime!, $limit: Int!, $chain: String) {
  chainHistory(from: $from, to: $to, chain: $chain, first: 1) {
    chain points(limit: $limit) { at lagLowest lagHighest lagLast height head failures failure readings }
  } }`;
const venueQuery = `query ($from: DateTime!, $to: DateTime!, $limit: Int!) {
  venueHistory(from: $from, to: $to, first: 100) {
    measure coin points(limit: $limit) { lowest highest last readings }
  } }`;

describe('the readings of a minute', () => {
  it('are written once by several workers, and once by one that looks often', async () => {
    const workers = [worker(), worker(), worker()];
    await walletHas('10.000000000000000001');
    const took = await Promise.all(workers.map((one) => one.takeIfDue()));
    expect(took.filter(Boolean)).toEqual([true]);
    for (const one of workers) expect(await one.takeIfDue()).toBe(false);
    // A worker whose clock is somewhat behind takes no turn of a minute before.
    const slow = new TestClock(new Date(gateway.clock.now().getTime() - minuteMs));
    expect(await worker({ clock: slow }).takeIfDue()).toBe(false);
    expect(await gateway.query('select coin, last::text, readings from wallet_history')).toEqual([
      { coin: 'ETH', last: '10.000000000000000001', readings: 1 },
    ]);
    await minute();
    await walletHas('9');
    expect(await workers[1]?.takeIfDue()).toBe(true);
    expect(
      await gateway.query(
        'select trim_scale(last)::text as last, trim_scale(highest)::text as highest, readings from wallet_history',
      ),
    ).toEqual([{ last: '9', highest: '10.000000000000000001', readings: 2 }]);
  });

  it('are written again when the clock was far ahead', async () => {
    const ahead = new TestClock(new Date(gateway.clock.now().getTime() + dayMs));
    expect(await worker({ clock: ahead }).takeIfDue()).toBe(true);
    expect(await worker().takeIfDue()).toBe(true);
    expect(await worker().takeIfDue()).toBe(false);
  });

  it('cost one statement, and one more for the old rows of each table', async () => {
    await worker().takeIfDue();
    gateway.clock.advance(minuteMs);
    statements.length = 0;
    const one = worker({ orm: gateway.app.orm });
    expect(await one.takeIfDue()).toBe(true);
    const own = statements.filter((sql) => /_history|history_turn/.test(sql));
    expect(own).toHaveLength(4);
    statements.length = 0;
    expect(await one.takeIfDue()).toBe(false);
    expect(statements.filter((sql) => /_history|history_turn/.test(sql))).toHaveLength(0);
  });
});

describe('a worker that runs by itself', () => {
  it('writes the history of its chains', async () => {
    const running = await startGateway();
    try {
      const chains = () => query(running.databaseUrl, 'select distinct chain from chain_history where lag_last = 0');
      while ((await chains()).length < 20) await sleep(250);
    } finally {
      await running.stop();
    }
  }, 600_000);
});

describe('a reading that is not known', () => {
  it('leaves a gap in the history of a wallet', async () => {
    const one = worker();
    await walletHas('10');
    await one.takeIfDue();
    for (let passed = 0; passed < 30; passed++) {
      await minute();
      await one.takeIfDue();
    }
    await walletHas('12');
    await one.takeIfDue();
    gateway.clock.advance(minuteMs);
    await one.takeIfDue();
    const { walletHistory } = await viewer.data(walletQuery, { ...lately(30 * minuteMs), limit: 100 });
    expect(walletHistory).toHaveLength(1);
    expect(walletHistory[0]).toMatchObject({ chain: 'ethereum', coin: 'ETH', network: 'ETH' });
    expect(
      walletHistory[0].points.map(({ last, readings }: { last: string; readings: number }) => [last, readings]),
    ).toEqual([
      // The balance counts for three minutes after it was seen.
      ['10', 4],
      [null, 0],
      [null, 0],
      ['12', 1],
    ]);
    expect(walletHistory[0].points[1]).toMatchObject({ lowest: null, highest: null, low: null, high: null });
  });

  it('leaves a gap in the lag of a chain, and counts as a failure', async () => {
    const one = worker();
    await gateway.tick();
    await one.takeIfDue();
    faults.scan = async (chain) => {
      if (chain === 'bitcoin') throw new ChainError('unreachable', 'the node is away');
    };
    for (let passed = 0; passed < 20; passed++) {
      await minute();
      await one.takeIfDue();
    }
    const asked = { ...lately(20 * minuteMs), limit: 100, chain: 'bitcoin' };
    const { chainHistory } = await viewer.data(chainQuery, asked);
    expect(chainHistory[0].points).toMatchObject([
      { lagLast: 0, lagHighest: 0, failures: 9, failure: 'unreachable', readings: 10 },
      { lagLast: null, lagHighest: null, head: null, failures: 10, failure: 'unreachable', readings: 10 },
      { lagLast: null, failures: 1, readings: 1 },
    ]);
    expect(chainHistory[0].points[1].height).not.toBeNull();
    const { chainHistory: others } = await viewer.data(chainQuery, { ...asked, chain: 'ethereum' });
    expect(others[0].points).toMatchObject([{ failures: 0, failure: null, readings: 10 }, { failures: 0 }, {}]);
  });

  it('is no hole where a failure began and ended between two readings', async () => {
    const one = worker();
    await gateway.tick();
    await one.takeIfDue();
    gateway.clock.advance(minuteMs / 2);
    faults.scan = async (chain) => {
      if (chain === 'bitcoin') throw new ChainError('unreachable', 'the node is away');
    };
    await gateway.tick();
    faults.scan = null;
    gateway.clock.advance(minuteMs / 2);
    await gateway.tick();
    expect(await one.takeIfDue()).toBe(true);
    const { chainHistory } = await viewer.data(chainQuery, { ...lately(2 * minuteMs), limit: 1, chain: 'bitcoin' });
    expect(chainHistory[0].points).toMatchObject([{ lagLast: 0, failures: 1, failure: 'unreachable', readings: 2 }]);
    await minute();
    await one.takeIfDue();
    const { chainHistory: later } = await viewer.data(chainQuery, {
      ...lately(3 * minuteMs),
      limit: 1,
      chain: 'bitcoin',
    });
    expect(later[0].points).toMatchObject([{ failures: 1, readings: 3 }]);
  });

  it('of a chain that no worker holds is left out', async () => {
    await gateway.query(`update chain_state set lease_until = now() - interval '1 second' where chain = 'bitcoin'`);
    await worker().takeIfDue();
    const rows = await gateway.query<{ chain: string }>('select chain from chain_history');
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.map(({ chain }) => chain)).not.toContain('bitcoin');
    await gateway.tick();
  });
});

describe('downsampling', () => {
  it('keeps a dip of one minute in a quarter of a year', async () => {
    const one = worker();
    await walletHas('10');
    await one.takeIfDue();
    gateway.clock.advance(minuteMs);
    await walletHas('0.000000000000000003');
    await one.takeIfDue();
    gateway.clock.advance(minuteMs);
    await walletHas('10');
    await one.takeIfDue();
    // The same balance, before and after, over 90 days.
    const at = gateway.clock.now();
    await gateway.query(
      `insert into wallet_history (at, chain, coin, network, lowest, highest, last, readings)
       select date_bin('10 minutes', at, 'epoch'), 'ethereum', 'ETH', 'ETH', 10, 11, 10, 10
         from generate_series($1::timestamptz - interval '45 days', $1::timestamptz + interval '45 days', interval '10 minutes') at
       on conflict do nothing`,
      [at],
    );
    const range = { from: new Date(at.getTime() - 45 * dayMs), to: new Date(at.getTime() + 45 * dayMs) };
    for (const limit of [1, 7, 90, 400]) {
      const { walletHistory } = await viewer.data(walletQuery, { ...range, limit, first: 1 });
      const { points } = walletHistory[0];
      expect(points.length).toBeLessThanOrEqual(limit);
      const dips = points.filter(({ lowest }: { lowest: string }) => lowest === '0.000000000000000003');
      expect(dips).toHaveLength(1);
      expect(dips[0]).toMatchObject({ highest: '11', last: '10' });
      expect(points.filter(({ readings }: { readings: number }) => readings === 0)).toEqual([]);
      const counted = points.reduce((sum: number, { readings }: { readings: number }) => sum + readings, 0);
      expect(counted).toBeGreaterThan(90 * 144 * 10 - 100);
    }
  }, 120_000);

  it('covers a whole range with buckets of equal width, and no more than were asked for', async () => {
    const one = worker();
    await walletHas('10');
    await one.takeIfDue();
    for (const [hours, limit] of [
      [24, 144],
      [25, 24],
      [7 * 24, 168],
      [1, 400],
    ] as const) {
      const range = lately(hours * 3_600_000);
      const { walletHistory } = await viewer.data(walletQuery, { ...range, limit, first: 1 });
      const times = walletHistory[0].points.map(({ at }: { at: string }) => Date.parse(at));
      expect(times.length).toBeLessThanOrEqual(limit);
      expect(times[0]).toBeLessThanOrEqual(range.from.getTime());
      const widths = new Set(times.slice(1).map((at: number, index: number) => at - times[index]));
      expect(widths.size).toBe(1);
      expect((times.at(-1) ?? 0) + ([...widths][0] as number)).toBeGreaterThanOrEqual(range.to.getTime());
    }
  });
});

describe('old rows', () => {
  it('are removed in steps of bounded size, and younger ones are kept', async () => {
    const one = worker();
    const edge = new Date(gateway.clock.now().getTime() - keptDays * dayMs);
    await gateway.query(
      `insert into chain_history (at, chain, height, readings, failures, failure)
       select $1::timestamptz + make_interval(mins => n), 'chain' || abs(n) % 10, 1, 1, 1, 'unreachable'
         from generate_series(-4999, 500) n`,
      [edge],
    );
    const left = async (): Promise<number> => {
      const [row] = await gateway.query<{ count: number }>(
        `select count(*)::int as count from chain_history where chain like 'chain_'`,
      );
      return row?.count ?? 0;
    };
    const counts = [];
    for (let turn = 0; turn < 4; turn++) {
      expect(await one.takeIfDue()).toBe(true);
      counts.push(await left());
      gateway.clock.advance(minuteMs);
    }
    expect(counts.slice(0, 2)).toEqual([3_500, 1_500]);
    // The edge moves on by a minute with each turn.
    expect(counts[3]).toBeGreaterThanOrEqual(496);
    expect(counts[3]).toBeLessThanOrEqual(501);
  });
});

describe('the venue', () => {
  async function figures(): Promise<Record<string, [string | null, number]>> {
    const { venueHistory } = await support.data(venueQuery, { ...lately(5 * minuteMs), limit: 1 });
    return Object.fromEntries(
      venueHistory.map(
        ({
          measure,
          coin,
          points: [{ last, readings }],
        }: {
          measure: string;
          coin: string;
          points: [{ last: string; readings: number }];
        }) => [`${measure} ${coin}`, [last, readings]],
      ),
    );
  }

  it('has the balance that a comparison of the ledger found, until one is left out', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    gateway.clock.advance(3_600_000);
    expect(await gateway.settlement.reconciliations?.runIfDue()).toBe(true);
    await gateway.settlement.history.takeIfDue();
    const { ledgerBalances } = await support.data('{ ledgerBalances { account coin balance } }');
    const book = new Map<string, Big>();
    for (const { account, coin, balance } of ledgerBalances) {
      if (account === 'VENUE') book.set(coin, (book.get(coin) ?? new Big('0')).plus(balance));
    }
    expect(book.size).toBeGreaterThanOrEqual(2);
    const found = await figures();
    for (const [coin, balance] of book) expect(found[`BALANCE ${coin}`]?.[0]).toBe(balance.toFixed());
    gateway.clock.advance(2 * 3_600_000 + minuteMs);
    await gateway.settlement.history.takeIfDue();
    expect(await figures()).toEqual({});
  });

  it('has the stock of our own inventory', async () => {
    await gateway.query(`insert into sandbox_inventory values ('LTC', 12.5)`);
    await worker().takeIfDue();
    expect(await figures()).toEqual({ 'STOCK LTC': ['12.5', 1] });
    await gateway.query('delete from sandbox_inventory');
  });

  it('has the depth of its books and its open positions', async () => {
    const now = gateway.clock.now();
    const depth = {
      BTC: { buy: '120000.01', sell: '90000', atMs: now.getTime() - minuteMs },
      ETH: { buy: '1', sell: '1', atMs: now.getTime() - 400_000 },
    };
    await gateway.query(
      `insert into price_window (starts_at, fixed, reference, overrides, depth) values ($1, '{}', '{}', '{}', $2)
       on conflict (starts_at) do update set depth = excluded.depth`,
      [now, depth],
    );
    await gateway.query(
      `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash, price_sell,
                                price_buy, price_cash, max_loss, valid_until, created_at, outcome, bought, decided_at)
       values (gen_random_uuid(), 'kraken', 'LTC', 2, 'BTC', 1, 1, 'USD', 84.5, 64000, 1, 10, $1, $1, 'filled', 1, $1)`,
      [now],
    );
    await worker({ isExchange: true }).takeIfDue();
    expect(await figures()).toEqual({
      'BUY_DEPTH BTC': ['120000.01', 1],
      'SELL_DEPTH BTC': ['90000', 1],
      'OPEN_USD null': ['169', 1],
    });
    await gateway.query('delete from venue_trade');
    gateway.clock.advance(minuteMs);
    await worker({ isExchange: true }).takeIfDue();
    expect((await figures())['OPEN_USD null']).toEqual(['0', 2]);
    await gateway.query('delete from price_window where starts_at = $1', [now]);
  });
});

describe('the staff API', () => {
  it('shows the history to the roles of its pages', async () => {
    const range = { ...lately(3_600_000), limit: 10 };
    expect(await viewer.data(walletQuery, range)).toEqual({ walletHistory: [] });
    expect(await viewer.data(chainQuery, range)).toEqual({ chainHistory: [] });
    expect(kinds(await viewer.ask(venueQuery, range))).toEqual(['insufficient_role']);
    expect(await support.data(venueQuery, range)).toEqual({ venueHistory: [] });
  });

  it('says what is wrong with a range or a number', async () => {
    await walletHas('1');
    await worker().takeIfDue();
    const good = { ...lately(3_600_000), limit: 10, first: 1 };
    for (const bad of [
      { from: good.to },
      { from: new Date(good.to.getTime() - 93 * dayMs) },
      { limit: 0 },
      { limit: 401 },
      { first: 0 },
      { first: 101 },
    ]) {
      expect(kinds(await viewer.ask(walletQuery, { ...good, ...bad }))).toEqual(['invalid_value']);
    }
    expect(kinds(await viewer.ask(walletQuery, { ...good, first: 100, limit: 400 }))).toEqual(['query_too_complex']);
  });

  it('reads all wallets with as many statements as one', async () => {
    await walletHas('1');
    await worker().takeIfDue();
    const range = { ...lately(3_600_000), limit: 10, first: 20 };
    const count = (wallets: number) =>
      readingStatements(statements, async () => {
        const { walletHistory } = await viewer.data(walletQuery, range);
        expect(walletHistory).toHaveLength(wallets);
      });
    const ofOne = await count(1);
    for (let coin = 0; coin < 15; coin++) await walletHas('2', `C${coin}`);
    gateway.clock.advance(minuteMs);
    await worker().takeIfDue();
    expect(await count(16)).toBe(ofOne);
    const { walletHistory } = await viewer.data(walletQuery, { ...range, coin: 'C3' });
    expect(walletHistory).toMatchObject([{ coin: 'C3' }]);
  });
});
