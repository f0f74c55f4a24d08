import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { query } from '../support/database/database.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import type { Reply } from '../support/http/contract-client.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows: unpaid orders that take
 * deposit addresses, and fixed orders used as free options on our prices.
 */

const windowMs = 1_800_000;
/** After this a reading is made again, however far from its caps a partner is. */
const staleMs = 10_001;
/** After this no create goes on with the last reading while a new one is made. */
const goneMs = 60_001;

let clock: TestClock;
let gateway: SettledGateway;

beforeAll(async () => {
  clock = new TestClock(new Date());
  gateway = await startSettledGateway({
    clock,
    settings: { MAX_OPEN_ORDERS: '5', MAX_FIXED_EXPOSURE_USD: '2000' },
  });
});
afterAll(() => gateway?.stop());

interface Refusal {
  readonly status: number;
  readonly code?: string;
}

/** A partner that creates orders. */
async function newPartner() {
  const { id, key } = await gateway.partner();
  const create = async (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    gateway.call('POST', '/partner/orders', { key, body: orderBody(changes), headers });
  const outcome = async (...given: Parameters<typeof create>): Promise<Refusal> => {
    const { status, json } = await create(...given);
    return { status, ...(status === 201 ? {} : { code: json.code }) };
  };
  const waiting = async (): Promise<number> => {
    const [row] = await query<{ count: number }>(
      gateway.databaseUrl,
      'select count(*)::int as count from exchange_order where partner_id = $1',
      [id],
    );
    return row?.count ?? 0;
  };
  return { id, key, create, outcome, waiting };
}

const madeOrder = (json: Reply['json']): MadeOrder => ({
  id: json.id,
  depositAddress: json.deposit_address,
  depositTag: json.deposit_address_tag,
  amountFrom: String(json.amount_from_expected),
  amountTo: String(json.amount_to_expected),
  coinFrom: json.coin_from,
  networkFrom: json.network_from,
  networkTo: json.network_to,
});

const statuses = async (orders: readonly MadeOrder[]): Promise<unknown[]> => {
  const rows = await gateway.query<{ status: string }>('select status from exchange_order where id = any($1)', [
    orders.map(({ id }) => id),
  ]);
  return rows.map(({ status }) => status);
};

const tooMany = { status: 422, code: 'open_orders_limit' };
const tooMuch = { status: 422, code: 'fixed_exposure_limit' };
const made = { status: 201 };

describe('orders that wait for their deposit', () => {
  it('are capped for each partner, and a refused create stores no order', async () => {
    const flooder = await newPartner();
    for (let i = 0; i < 5; i++) expect(await flooder.outcome()).toEqual(made);
    const { status, json } = await flooder.create();
    expect([status, json.code]).toEqual([422, 'open_orders_limit']);
    expect(json.detail).toMatch(/^5 orders of this partner account wait for their deposit/);
    expect(await flooder.waiting()).toBe(5);
    const other = await newPartner();
    expect(await other.outcome()).toEqual(made);
  });

  it('are counted while a read of them takes long, and above half of the cap creates wait for it', async () => {
    const partner = await newPartner();
    await gateway.partners.change(partner.id, { maxOpenOrders: 10 });
    expect(await partner.outcome()).toEqual(made);
    clock.advance(staleMs);
    // Of all that a create reads, only the read of its partner's orders needs this table.
    const reader = new pg.Client({ connectionString: gateway.databaseUrl });
    await reader.connect();
    try {
      await reader.query('begin; lock table fixed_result in access exclusive mode');
      for (let n = 2; n <= 5; n++) expect(await partner.outcome()).toEqual(made);
      let isWaiting = true;
      const sixth = partner.outcome().finally(() => {
        isWaiting = false;
      });
      await sleep(300);
      expect(isWaiting).toBe(true);
      await reader.query('commit');
      expect(await sixth).toEqual(made);
    } finally {
      await reader.end();
    }
    // Until the next read, orders that were admitted during the last one may count twice.
    clock.advance(staleMs);
    for (let n = 7; n <= 10; n++) expect(await partner.outcome()).toEqual(made);
    attempt('one order too many', await partner.outcome(), tooMany);
    expect(await partner.waiting()).toBe(10);
  });

  it('are capped exactly when all creates arrive at once', async () => {
    const flooder = await newPartner();
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => flooder.outcome()));
    const refused = outcomes.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(35);
    for (const outcome of refused) attempt('a flood of orders at once', outcome, tooMany);
    expect(await flooder.waiting()).toBe(5);
  });

  it('leave the cap when they are paid or their window passes, and not when dust arrives', async () => {
    const partner = await newPartner();
    const orders = await Promise.all(Array.from({ length: 5 }, async () => madeOrder((await partner.create()).json)));
    attempt('one order too many', await partner.outcome(), tooMany);
    for (const order of orders) await gateway.deposit(order, { amount: '0.00001' });
    await gateway.tick();
    expect(await statuses(orders)).toEqual(Array(5).fill('waiting_deposit'));
    clock.advance(1_001);
    attempt('orders that wait for a block with dust', await partner.outcome(), tooMany);
    await gateway.mine('BTC');
    await gateway.tick();
    clock.advance(1_001);
    attempt('orders with dust in a block', await partner.outcome(), tooMany);
    await gateway.deposit(orders[0] as MadeOrder);
    await gateway.tick();
    clock.advance(1_001);
    attempt('an order whose payment is in no block', await partner.outcome(), tooMany);
    await gateway.mine('BTC');
    await gateway.tick();
    clock.advance(1_001);
    expect(await partner.outcome()).toEqual(made);
    clock.advance(2 * windowMs);
    for (let i = 0; i < 5; i++) expect(await partner.outcome()).toEqual(made);
    attempt('one order too many', await partner.outcome(), tooMany);
  });

  it('are counted again after the clock was set back', async () => {
    const partner = await newPartner();
    for (let i = 0; i < 5; i++) await partner.outcome();
    attempt('one order too many', await partner.outcome(), tooMany);
    const other = await newPartner();
    await gateway.query('update exchange_order set partner_id = $2 where partner_id = $1', [partner.id, other.id]);
    clock.advance(-2_000);
    expect(await partner.outcome()).toEqual(made);
    clock.advance(2_000);
  });

  it('do not count when the create fails or repeats an earlier one', async () => {
    const partner = await newPartner();
    const [first] = await Promise.all([partner.create({}, { 'Idempotency-Key': 'one' }), partner.create()]);
    const ownAddress = first.json.deposit_address;
    for (let i = 0; i < 10; i++) {
      const again = await partner.create({}, { 'Idempotency-Key': 'one' });
      expect([again.status, again.json.id]).toEqual([201, first.json.id]);
      const own = await partner.outcome({
        coin_from: 'USDT',
        network_from: 'TRC20',
        coin_to: 'BTC',
        network_to: 'BTC',
        amount_from: 500,
        recipient_address: ownAddress,
      });
      expect(own).toEqual({ status: 422, code: 'own_address' });
    }
    for (let i = 0; i < 3; i++) expect(await partner.outcome()).toEqual(made);
    attempt('one order too many', await partner.outcome(), tooMany);
    const replay = await partner.create({}, { 'Idempotency-Key': 'one' });
    expect([replay.status, replay.json.id]).toEqual([201, first.json.id]);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
  });

  it('are counted over all processes', async () => {
    const partner = await newPartner();
    expect(await partner.outcome()).toEqual(made);
    await query(
      gateway.databaseUrl,
      `update exchange_order set partner_id = $1
        where id in (select id from exchange_order where created_at > $2 and partner_id <> $1 limit 4)`,
      [partner.id, new Date(clock.now().getTime() - windowMs)],
    );
    clock.advance(goneMs);
    attempt('one order too many', await partner.outcome(), tooMany);
  });

  it('have the cap that staff set for the partner', async () => {
    const partner = await newPartner();
    await gateway.partners.change(partner.id, { maxOpenOrders: 2 });
    expect(await partner.outcome()).toEqual(made);
    expect(await partner.outcome()).toEqual(made);
    attempt('one order too many', await partner.outcome(), tooMany);
    await expect(gateway.partners.change(partner.id, { maxOpenOrders: 0 })).rejects.toMatchObject({
      kind: 'invalid_value',
    });
  });
});

describe('orders that are cancelled', () => {
  const cancel = async (partner: { key: string }, id: string): Promise<number> =>
    (await gateway.call('POST', `/partner/orders/${id}/cancel`, { key: partner.key })).status;

  it('free their places at once, and at most as many in a window as orders may wait', async () => {
    const partner = await newPartner();
    const orders: string[] = [];
    for (let i = 0; i < 5; i++) orders.push((await partner.create()).json.id);
    attempt('one order too many', await partner.outcome(), tooMany);
    for (let i = 0; i < 5; i++) {
      expect(await cancel(partner, orders[i] ?? '')).toBe(200);
      const next = await partner.create();
      expect(next.status).toBe(201);
      orders.push(next.json.id);
    }
    // From here on a cancel frees no place.
    expect(await cancel(partner, orders[5] ?? '')).toBe(200);
    attempt('a place beyond the bound', await partner.outcome(), tooMany);
  });

  it('take at most twice the addresses of a partner that only creates', async () => {
    const partner = await newPartner();
    let refused = 0;
    for (let i = 0; i < 30; i++) {
      const { status, json } = await partner.create();
      if (status === 201) expect(await cancel(partner, json.id)).toBe(200);
      else refused++;
    }
    attempt('addresses of one window', await partner.waiting(), 10);
    expect(refused).toBe(20);
    clock.advance(windowMs + staleMs);
    expect(await partner.outcome()).toEqual(made);
  });

  it('still count against the caps of fixed orders, so that a cancel is no free look', async () => {
    const sniper = await newPartner();
    for (let i = 0; i < 3; i++) {
      const { json } = await sniper.create({ rate_type: 'fixed' });
      expect(await cancel(sniper, json.id)).toBe(200);
    }
    attempt('a fixed order too much', await sniper.outcome({ rate_type: 'fixed' }), tooMuch);
    expect(await sniper.outcome()).toEqual(made);
  });
});

describe('fixed orders that wait for their deposit', () => {
  /** 0.01 BTC are about 641 US dollars in the sandbox. */
  const fixed = { rate_type: 'fixed' };

  it('are capped by their total value, and float orders are not', async () => {
    const sniper = await newPartner();
    for (let i = 0; i < 3; i++) expect(await sniper.outcome(fixed)).toEqual(made);
    attempt('a fixed order too much', await sniper.outcome(fixed), tooMuch);
    expect(await sniper.outcome({ ...fixed, amount_from: 0.001 })).toEqual(made);
    expect(await sniper.outcome()).toEqual(made);
  });

  it('are capped when all creates arrive at once, and after the counts are read again', async () => {
    const sniper = await newPartner();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => sniper.outcome(fixed)));
    const refused = outcomes.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(17);
    for (const outcome of refused) {
      // Creates that are still to be refused count as open meanwhile.
      const allowed = outcome.code === tooMany.code ? tooMany : tooMuch;
      attempt('a flood of fixed orders at once', outcome, allowed);
    }
    clock.advance(staleMs);
    attempt('a fixed order too much', await sniper.outcome(fixed), tooMuch);
    await gateway.partners.change(sniper.id, { maxFixedExposureUsd: 2_600 });
    const { key } = await gateway.partners.issueKey(sniper.id);
    const reply = await gateway.call('POST', '/partner/orders', { key, body: orderBody(fixed) });
    expect(reply.status).toBe(201);
    attempt('a fixed order too much', await sniper.outcome(fixed), tooMuch);
  });
});
