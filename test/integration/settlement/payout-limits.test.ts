import { setTimeout as sleep } from 'node:timers/promises';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { SignerError } from '../../../src/chains/port/signer.ts';
import type { CrashPoint } from '../../../src/settlement/turns/crash-point.ts';
import { Faults } from '../../support/faults/faults.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// Each order pays out about 640 US dollars. An asset has room for two in an hour, all assets
// together for three.
const settings = {
  PAYOUT_LIMIT_USD_PER_HOUR: '2000',
  PAYOUT_LIMIT_USD_PER_DAY: '100000',
  PAYOUT_LIMIT_ASSET_USD_PER_HOUR: '1500,BTC/BTC=500',
  PAYOUT_LIMIT_ASSET_USD_PER_DAY: '100000,DOGE/DOGE=2000',
  // All orders are of one partner.
  PAYOUT_SHARE_PARTNER: '1',
  PAYOUT_SHARE_REFUNDS: '1',
};
const hourMs = 3_600_000;

const faults = new Faults();
/** Ends the work there, as a process that dies would. */
let dieAt: CrashPoint | null = null;
const clock = new TestClock();
let gateway: SettledGateway;
/** A second worker on the same database. */
let other: SettledGateway;

beforeAll(async () => {
  const outside = { ...faults.outside(), onCrashPoint: die };
  gateway = await startSettledGateway({
    clock,
    settings,
    outside,
  });
  other = await startSettledGateway({
    clock,
    settings: { ...settings, ROLE: 'worker' },
    outside,
    databaseUrl: gateway.databaseUrl,
    key: gateway.key,
  });
});
afterAll(async () => {
  try {
    expect(await gateway.differences()).toEqual([]);
  } finally {
    await other?.stop();
    await gateway?.stop();
  }
});
beforeEach(() => clock.advance(2 * hourMs));
afterEach(() => {
  faults.signing = null;
  dieAt = null;
});

function die(name: CrashPoint): void {
  if (name === dieAt) throw new Error(`died at ${name}`);
}

interface PaymentRow {
  readonly state: string;
  readonly problem: string | null;
  readonly value: string | null;
  readonly begun: Date | null;
}

async function payments(orders: readonly MadeOrder[]): Promise<PaymentRow[]> {
  return gateway.query<PaymentRow>(
    `select p.state, p.problem, p.value_usd::text as value, p.begun_at as begun
       from payment p where p.order_id = any($1) order by p.number`,
    [orders.map(({ id }) => id)],
  );
}

const states = async (orders: readonly MadeOrder[]): Promise<string[]> =>
  (await payments(orders)).map(({ state, problem }) => problem ?? (state === 'ready' ? 'ready' : 'begun'));

const toUsdt = {};
const toLtc = { coin_to: 'LTC', network_to: 'LTC', recipient_address: addressExample('LTC') };
const toDoge = { coin_to: 'DOGE', network_to: 'DOGE', recipient_address: addressExample('DOGE') };
const toBtc = {
  ...{ coin_from: 'LTC', network_from: 'LTC', amount_from: 7.6, refund_address: addressExample('LTC') },
  ...{ coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') },
};

/** Orders whose payouts are decided, in this order. */
async function decided(...changes: Record<string, unknown>[]): Promise<MadeOrder[]> {
  const orders: MadeOrder[] = [];
  for (const change of changes) {
    const order = await gateway.order(change);
    await gateway.deposit(order);
    // A block for each, so that they ripen one after the other.
    await gateway.mine(order.networkFrom);
    orders.push(order);
  }
  return orders;
}

/** Both workers at once: each has its share of the chains. */
async function tick(): Promise<void> {
  await Promise.all([gateway.tick(), other.tick()]);
}

/**
 * Lets deposits ripen, until each payment has begun or waits for something. Leases change hands by
 * real time.
 */
async function go(orders: readonly MadeOrder[], rounds = 60): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const network of ['BTC', 'LTC']) await gateway.mine(network, 2);
    await tick();
    const found = await states(orders);
    if (found.length === orders.length && !found.includes('ready')) return;
    clock.advance(1_000);
    await sleep(100);
  }
}

/** Until the payouts of the orders are final, whichever worker holds their chains. */
async function completed(orders: readonly MadeOrder[], rounds = 60): Promise<void> {
  const statuses = (): Promise<string[]> =>
    Promise.all(orders.map(async (order) => String((await gateway.show(order)).status)));
  for (let round = 0; round < rounds && (await statuses()).some((status) => status === 'sending'); round++) {
    for (const network of new Set(orders.map(({ networkTo }) => networkTo))) await gateway.mine(network, 2);
    await later(6_000);
  }
  expect(await statuses()).toEqual(orders.map(() => 'completed'));
}

/** Until what waits has asked for room again. */
async function later(ms: number): Promise<void> {
  clock.advance(ms);
  for (let round = 0; round < 3; round++) {
    await tick();
    await sleep(50);
  }
}

/** What the last hour counts: by the sums, and by the payments themselves. */
async function counted(coin: string): Promise<{ sums: string; rows: string }> {
  const since = new Date(clock.now().getTime() - hourMs);
  const [row] = await gateway.query<{ sums: string; rows: string }>(
    `select (select coalesce(sum(usd), 0) from payout_spent where coin = $1 and minute > $2)::text as sums,
            (select coalesce(sum(value_usd), 0) from payment
              where begun_at > $2 and ($1 = '' or coin = $1))::text as rows`,
    [coin, since],
  );
  return row ?? { sums: '', rows: '' };
}

describe('limits on automatic payouts', () => {
  it('let an asset begin what has room in an hour; the rest waits in its order, and goes when room is free', async () => {
    const large = await decided(toUsdt, toUsdt, toUsdt);
    await go(large);
    expect(await states(large)).toEqual(['begun', 'begun', 'payout_limit_asset']);
    // There is room for a small one, and it does not overtake.
    const orders = [...large, ...(await decided({ amount_from: 0.001 }))];
    await go(orders);
    expect(await states(orders)).toEqual(['begun', 'begun', 'payout_limit_asset', 'payout_limit_asset']);
    const sums = await counted('USDT');
    expect(sums.sums).toBe(sums.rows);
    expect(Number(sums.sums)).toBeGreaterThan(1200);
    expect(Number(sums.sums)).toBeLessThan(1500);
    await later(30 * 60_000);
    expect(await states(orders)).toEqual(['begun', 'begun', 'payout_limit_asset', 'payout_limit_asset']);
    await later(32 * 60_000);
    expect(await states(orders)).toEqual(['begun', 'begun', 'begun', 'begun']);
    await completed(orders);
  });

  it('hold for all assets and all workers together', async () => {
    const orders = await decided(toUsdt, toLtc, toUsdt, toLtc);
    await go(orders);
    const found = await states(orders);
    expect(found.filter((state) => state === 'begun')).toHaveLength(3);
    expect(found.filter((state) => state === 'payout_limit')).toHaveLength(1);
    const sums = await counted('');
    expect(sums.sums).toBe(sums.rows);
    expect(Number(sums.sums)).toBeLessThan(2000);
    await later(2 * hourMs);
    expect(await states(orders)).toEqual(['begun', 'begun', 'begun', 'begun']);
  });

  it('leave a payment that is above a limit by itself to staff, and let the others go on', async () => {
    const both = await decided(toBtc, { ...toBtc, amount_from: 1 });
    await go(both);
    expect(await states(both)).toEqual(['payout_limit_asset', 'begun']);
    const viewer = await newMember(gateway, 'viewer');
    const { attention, payoutBrakes } = await viewer.data(
      `{ attention { kind subjectId detail }
         payoutBrakes { limits { coin network hourUsd hourLimitUsd dayLimitUsd waiting waitingSince } } }`,
    );
    expect(attention).toContainEqual({
      kind: 'PAYOUT_LIMIT',
      subjectId: 'BTC on BTC',
      detail: 'payments that wait for room in the limit of BTC on BTC: 1',
    });
    expect(payoutBrakes.limits).toContainEqual(
      expect.objectContaining({ coin: 'BTC', hourLimitUsd: 500, dayLimitUsd: 100_000, waiting: 1 }),
    );
    clock.advance(60_000);
    const metrics = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/gateway_payout_limit_used\{asset="BTC\/BTC",window="hour"\} 0\.1\d/);
    expect(metrics).toMatch(/gateway_payout_limit_waiting_seconds\{asset="BTC\/BTC"\} [1-9]/);
  });

  it('count refunds, and no payment whose transaction is given up unsigned', async () => {
    faults.signing = () => Promise.reject(new SignerError('refused', 'a limit'));
    const orders = await decided({ amount_from: 0.001 });
    await go(orders);
    const [refused] = await payments(orders);
    expect(refused).toMatchObject({ state: 'ready', problem: 'signer_refused', begun: null });
    expect(await counted('USDT')).toEqual({ sums: '0.00', rows: '0' });
    faults.signing = null;
    await later(400_000);
    expect(await states(orders)).toEqual(['begun']);
    const after = await counted('USDT');
    expect(after.sums).toBe(after.rows);

    const back = await gateway.order();
    await gateway.deposit(back, { amount: '0.0002' });
    await gateway.mine('BTC', 2);
    // Less than the minimum goes back when the window has ended.
    await later(31 * 60_000);
    await go([back]);
    expect(Number((await counted('BTC')).sums)).toBeCloseTo(0.0001 * 64_120, -1);
  });

  it.each([
    ['payment.built'],
    ['payment.prepared'],
  ] as const)('count a payment once when the process dies at %s', async (crashPoint) => {
    const orders = await decided(toUsdt);
    dieAt = crashPoint;
    await go(orders, 8);
    const { sums } = await counted('USDT');
    expect(Number(sums) > 0).toBe(crashPoint === 'payment.prepared');
    dieAt = null;
    await later(10_000);
    expect(await states(orders)).toEqual(['begun']);
    const after = await counted('USDT');
    expect(after.sums).toBe(after.rows);
    expect(Number(after.sums)).toBeLessThan(700);
  });

  it('hold in a day as well, also without a price', async () => {
    const many = await decided(toDoge, toDoge, toDoge, toDoge);
    for (let hour = 0; hour < 3; hour++) {
      await go(many);
      clock.advance(2 * hourMs);
    }
    await later(60_000);
    expect(await states(many)).toEqual(['begun', 'begun', 'begun', 'payout_limit_asset']);
    // By then there is no price of this day: the price of the order's own exchange stands in.
    await gateway.query('delete from price_window');
    await later(24 * hourMs);
    expect((await states(many)).at(-1)).toBe('begun');
    const [last] = (await payments(many)).slice(-1);
    expect(Number(last?.value)).toBeCloseTo(637, -1);
  });
});
