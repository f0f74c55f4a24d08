import { addressExample } from '../../../src/chains/addresses/address.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { quietly, type RaceStep, raceSteps } from '../../support/gateway/races.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';
import { badHistories } from '../../support/gateway/settlement-model/invariants.ts';
import type { Reply } from '../../support/http/contract-client.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// Changes of partners at one process, concurrently with detection, expiry, staff and the settler at
// another. The first at the order's lock wins, and the other one sees it.

const clock = new TestClock();
const settings = { REDIS_URL: 'redis://127.0.0.1:1', LATE_REFUND_LIMIT_USD: '1000000' };
let gateway: SettledGateway;
let api: TestGateway;
let staff: string;
let second: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ clock, settings });
  api = await startGateway({
    databaseUrl: gateway.databaseUrl,
    settings: { ...settings, ROLE: 'api' },
    outside: { clock, background: false },
  });
  staff = (await gateway.staff.create('first@example.com', 'operator')).member.id;
  second = (await gateway.staff.create('second@example.com', 'operator')).member.id;
});
afterAll(async () => {
  await api?.stop();
  await gateway?.stop();
});

const btc = addressExample('BTC');

function cancel({ id }: MadeOrder): Promise<Reply> {
  return api.call('POST', `/partner/orders/${id}/cancel`, { key: gateway.key });
}

function putRefund({ id }: MadeOrder): Promise<Reply> {
  const body = { refund_address: btc };
  return api.call('PUT', `/partner/orders/${id}/refund-address`, { key: gateway.key, body });
}

function patch({ id }: MadeOrder): Promise<Reply> {
  return api.call('PATCH', `/partner/orders/${id}`, { key: gateway.key, body: { metadata: { a: 'b' } } });
}

/** Throws when a history is no path of the state table, or a leg of a deposit is paid twice. */
async function verify(): Promise<void> {
  expect(await badHistories(gateway.query)).toEqual([]);
  expect(
    await gateway.query(
      `select deposit_id, leg from payment where kind in ('payout', 'refund') and state <> 'dead'
        group by deposit_id, leg having count(*) > 1`,
    ),
  ).toEqual([]);
  expect(await gateway.differences()).toEqual([]);
}

async function settleAll(orders: readonly MadeOrder[]): Promise<void> {
  for (const _round of [1, 2]) {
    clock.advance(6_000);
    await gateway.mine('BTC', 3);
    for (const order of orders) await gateway.settle(order);
  }
}

it('a cancel and the detection of a deposit never both win', async () => {
  const orders: MadeOrder[] = [];
  for (let i = 0; i < 12; i++) orders.push(await gateway.order());
  for (const order of orders) await gateway.deposit(order);
  const [, ...replies] = await Promise.all([gateway.tick(), ...orders.map(cancel)]);
  const causes = await Promise.all(orders.map((order) => gateway.history(order)));
  for (const [i, reply] of replies.entries()) {
    const [, first] = causes[i] ?? [];
    if (reply.status === 200) expect(first).toBe('partner_cancelled');
    else expect([reply.status, reply.json.code, first]).toEqual([409, 'order_not_cancellable', 'deposit_seen']);
  }
  await settleAll(orders);
  for (const [i, reply] of replies.entries()) {
    const order = orders[i] as MadeOrder;
    const { status } = await gateway.show(order);
    expect(status).toBe(reply.status === 200 ? 'refunded' : 'completed');
  }
  await verify();
});

it('a cancel waits for a detection that has the lock, and then loses', async () => {
  const order = await gateway.order();
  const { Client } = await import('pg');
  const scanner = new Client({ connectionString: gateway.databaseUrl });
  await scanner.connect();
  try {
    await scanner.query('begin');
    await scanner.query('select 1 from exchange_order where id = $1 for update', [order.id]);
    const cancelling = cancel(order);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await gateway.query(waits)).length === 0);
    await scanner.query(
      `insert into deposit (id, chain, key, order_id, purpose, txid, address, coin, network, amount, state,
                            confirmations_required, seen_at, arrived_by, credits)
       values (gen_random_uuid(), 'bitcoin', 'k:0', $1, 'order', 'k', 'a', 'BTC', 'BTC', 0.01, 'orphaned', 2, now(), now(), 0)`,
      [order.id],
    );
    await scanner.query('commit');
    expect((await cancelling).json.code).toBe('order_not_cancellable');
  } finally {
    await scanner.end();
  }
  await gateway.query('delete from deposit where key = $1', ['k:0']);
});

it('an order that stays locked answers 503, and is unchanged', async () => {
  const order = await gateway.order();
  const { Client } = await import('pg');
  const holder = new Client({ connectionString: gateway.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from exchange_order where id = $1 for update', [order.id]);
    const reply = await cancel(order);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
    // Staff change it under the same lock.
    const support = await newMember(gateway, 'support');
    const mutation = `mutation { orderPageRevoke(orderId: "${order.id}", reason: "x") { id } }`;
    expect((await support.ask(mutation)).errors).toMatchObject([{ message: expect.stringContaining('being changed') }]);
  } finally {
    await holder.end();
  }
  expect(await gateway.history(order)).toEqual(['created']);
});

it('thirty refund addresses at the same time set one', async () => {
  const order = await gateway.order({ refund_address: undefined });
  const others = ['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', btc];
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, i) => {
      const body = { refund_address: others[i % 2] };
      const where = i % 3 === 0 ? api : gateway;
      return where.call('PUT', `/partner/orders/${order.id}/refund-address`, { key: gateway.key, body });
    }),
  );
  const set = replies.filter(({ status }) => status === 200);
  expect(set).toHaveLength(15);
  for (const { status } of replies) expect([200, 409]).toContain(status);
  expect(await gateway.history(order)).toEqual(['created', 'refund_address_set']);
});

it.each([1, 2, 3])('any interleaving is a legal history with one payment for each leg (seed %i)', async (seed) => {
  const dice = new Dice(seed);
  const { staffActions } = gateway.settlement;
  const orders: MadeOrder[] = [];
  for (let i = 0; i < 5; i++) {
    orders.push(await gateway.order(dice.pick([true, false]) ? { refund_address: undefined } : {}));
  }
  const steps: readonly RaceStep[] = [
    cancel,
    cancel,
    putRefund,
    putRefund,
    patch,
    (order) => gateway.deposit(order),
    (order) => gateway.deposit(order, { amount: '0.00001' }),
    () => gateway.tick(),
    () => gateway.mine('BTC'),
    (order) => endWindow(gateway, order),
    (order) => quietly(staffActions.propose({ action: 'hold', staffId: staff, orderId: order.id, reason: 'odd' })),
    async (order) => {
      const asked = { action: 'release', staffId: staff, orderId: order.id, reason: 'fine' } as const;
      await quietly(staffActions.propose(asked).then(({ id }) => staffActions.approve(id, second)));
    },
    async (order) => {
      const recipient = { address: btc, tag: null };
      const asked = { action: 'refund', staffId: staff, orderId: order.id, recipient, reason: 'asked' } as const;
      await quietly(staffActions.propose(asked).then(({ id }) => staffActions.approve(id, second)));
    },
  ];
  for (let round = 0; round < 10; round++) {
    await raceSteps(dice, { steps, orders, count: 5 });
    clock.advance(1_000);
  }
  await settleAll(orders);
  await verify();
}, 120_000);
