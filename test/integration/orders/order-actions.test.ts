import { randomUUID } from 'node:crypto';
import { PolicyGateway } from '../../support/gateway/asked-orders.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Answers of partners to questions about deposits: POST /partner/orders/{order_id}/actions.

let world: PolicyGateway;
let other: PolicyGateway;

beforeAll(async () => {
  const settings = { REDIS_URL: 'redis://127.0.0.1:1' };
  world = await PolicyGateway.start({ settings });
  const { clock, databaseUrl, key } = world.gateway;
  other = await PolicyGateway.start({ clock, databaseUrl, key, settings });
});
afterAll(async () => {
  await other?.gateway.stop();
  await world?.gateway.stop();
});
beforeEach(() => world.move('1'));

async function asked(): Promise<MadeOrder> {
  const order = await world.order({ policy: { on_underpaid: 'ask' } });
  await world.pay(order, '0.006');
  return order;
}

const exchange = { action_id: 'act_3', action: 'exchange' };
const refund = { action_id: 'act_3', action: 'refund' };

const shown = (order: MadeOrder): Promise<number> => world.shown(order);

describe('an answer', () => {
  it('is given with the details after it, and its event has the next number', async () => {
    const order = await asked();
    const { status, json } = await world.act(order, { ...exchange, amount_to: await shown(order) });
    expect([status, json.seq, json.status_group, json.action_required]).toEqual([200, 4, 'processing', null]);
    expect(json).toEqual(await world.details(order));
    const { json: history } = await world.gateway.call('GET', `/partner/orders/${order.id}/events`, {
      key: world.gateway.key,
    });
    expect(history.data.slice(2)).toMatchObject([
      { seq: 3, status: 'confirming', previous_status: 'confirming', cause: 'action_required' },
      { seq: 4, status: 'confirming', previous_status: 'confirming', cause: 'action_resolved' },
    ]);
  });

  it('at the shown amount is honoured for a minute at any process, also when the market moved a little', async () => {
    const order = await asked();
    const amount = await shown(order);
    await world.move('0.998');
    await other.move('0.998');
    await world.advance(59);
    expect(await shown(order)).toBeLessThanOrEqual(amount);
    await other.refresh();
    expect((await other.act(order, { ...exchange, amount_to: amount })).status).toBe(200);
    await world.gateway.settle(order);
    expect(await world.payments(order)).toEqual([`payout ${amount}`]);
  });

  it('is stale after its minute, and tells the new amount', async () => {
    const order = await asked();
    const amount = await shown(order);
    await world.move('0.997');
    for (let passed = 0; passed < 100; passed += 5) await world.advance(5);
    const { status, json } = await world.act(order, { ...exchange, amount_to: amount });
    expect([status, json.code]).toEqual([409, 'action_stale']);
    expect(json.detail).toContain(`but for ${await shown(order)} USDT`);
    expect((await world.details(order)).action_required.id).toBe('act_3');
  });

  it('is stale within its minute when the market has moved by more than the fee', async () => {
    const order = await asked();
    const amount = await shown(order);
    await world.advance(5);
    await world.move('0.99');
    const { status, json } = await world.act(order, { ...exchange, amount_to: amount });
    expect([status, json.code]).toEqual([409, 'action_stale']);
  });

  it('that is made up is stale, also a smaller one', async () => {
    const order = await asked();
    const amount = await shown(order);
    for (const amountTo of [amount + 1, amount - 1, 0.000001, 1e9]) {
      const { status, json } = await world.act(order, { ...exchange, amount_to: amountTo });
      expect([status, json.code]).toEqual([409, 'action_stale']);
    }
  });

  it('without an amount takes the present offer', async () => {
    const order = await asked();
    await world.move('0.9');
    const amount = await shown(order);
    expect((await world.act(order, exchange)).status).toBe(200);
    await world.gateway.settle(order);
    expect(await world.payments(order)).toEqual([`payout ${amount}`]);
  });

  it('is not possible while there is no price, and the refund is', async () => {
    const order = await asked();
    await world.move(null);
    const { status, json } = await world.act(order, exchange);
    expect([status, json.code]).toEqual([409, 'action_not_available']);
    expect((await world.details(order)).action_required.actions).toMatchObject([{ action: 'refund' }]);
    expect((await world.act(order, refund)).status).toBe(200);
  });

  it('names the present question, of an order that is asked', async () => {
    const order = await asked();
    for (const actionId of ['act_2', 'act_4', 'act_03', 'ACT_3', '3', 'act_3 ']) {
      const { status, json } = await world.act(order, { ...refund, action_id: actionId });
      expect([status, json.code]).toEqual([409, 'action_stale']);
    }
    expect((await world.act(order, refund)).status).toBe(200);
    for (const body of [refund, exchange]) {
      const { status, json } = await world.act(order, body);
      expect([status, json.code]).toEqual([409, 'action_not_available']);
    }
    const plain = await world.order({});
    expect((await world.act(plain, refund)).json.code).toBe('action_not_available');
  });

  it('is refused after the deadline, before a worker noticed it', async () => {
    const order = await asked();
    await world.advance(86_400);
    const { status, json } = await world.act(order, refund);
    expect([status, json.code]).toEqual([409, 'action_not_available']);
  });

  it('with an idempotency key is given once, and repeated', async () => {
    const order = await asked();
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { ...exchange, amount_to: await shown(order) };
    const first = await world.act(order, body, headers);
    const again = await world.act(order, body, headers);
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await world.act(order, refund, headers)).json.code).toBe('idempotency_key_reused');
  });

  it('of a refund has no amount', async () => {
    const order = await asked();
    const { status, json } = await world.act(order, { ...refund, amount_to: 5 });
    expect([status, json.code]).toEqual([422, 'invalid_value']);
  });

  it('is shown and taken as text with Amounts: string', async () => {
    const order = await asked();
    const headers = { Amounts: 'string' };
    const { gateway } = world;
    const { json } = await gateway.call('GET', `/partner/orders/${order.id}/details`, { key: gateway.key, headers });
    const [offered, refunded] = json.action_required.actions;
    expect([typeof offered.amount_to, typeof refunded.amount]).toEqual(['string', 'string']);
    expect((await world.act(order, { ...exchange, amount_to: offered.amount_to }, headers)).status).toBe(200);
  });

  it('is one of fifty at two processes at the same time', async () => {
    const order = await asked();
    const amount = await shown(order);
    await other.refresh();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => {
        const body = i % 3 === 0 ? refund : { ...exchange, amount_to: amount };
        return (i % 2 === 0 ? world : other).act(order, body);
      }),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 49 }, () => 409)]);
    expect(await world.gateway.history(order)).toEqual([
      'created',
      'deposit_seen',
      'action_required',
      'action_resolved',
    ]);
    await world.gateway.settle(order);
    expect(await world.payments(order)).toHaveLength(1);
  });

  it("of a partner is not given about another one's order", async () => {
    const order = await asked();
    const { key } = await world.gateway.partner();
    const path = (id: string) => `/partner/orders/${id}/actions`;
    const own = await world.gateway.call('POST', path(order.id), { key, body: refund });
    const unknown = await world.gateway.call('POST', path(randomUUID()), { key, body: refund });
    expect([own.status, own.json.code, own.json.detail]).toEqual([404, 'order_not_found', unknown.json.detail]);
  });
});

it('a list with details shows the question too', async () => {
  const order = await asked();
  const { gateway } = world;
  const path = `/partner/orders?ids=${order.id}&include=details`;
  const { json } = await gateway.call('GET', path, { key: gateway.key });
  expect(json.data[0].details.action_required).toMatchObject({ id: 'act_3', reason: 'underpaid' });
});
