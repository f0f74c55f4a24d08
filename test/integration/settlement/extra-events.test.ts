import { addressExample } from '../../../src/chains/addresses/address.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';

// Facts without a move are in the history of an order too, and so in the feed.

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const get = async (path: string) => (await gateway.call('GET', path, { key: gateway.key })).json;
const details = ({ id }: MadeOrder) => get(`/partner/orders/${id}/details`);
const history = async ({ id }: MadeOrder): Promise<string[]> => {
  const { data } = await get(`/partner/orders/${id}/events`);
  return data.map(({ cause }: { cause: string }) => cause);
};
const extras = async (order: MadeOrder): Promise<string[]> =>
  (await history(order)).filter((cause) => /^extra_|^(deposit_added|small_deposit|held|released)$/.test(cause));

describe('a further deposit and its refund', () => {
  it('are events: seq, updated_at, the feed and the list by updates tell of them', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.settle(order);
    const before = await details(order);
    await feedCatchesUp(gateway.query);
    const { next_cursor: cursor } = await get('/partner/orders?sort=updated&limit=100');
    const feed = await get('/partner/events?limit=100');
    gateway.clock.advance(1_000);
    await gateway.deposit(order, { amount: '0.05' });
    await gateway.tick();
    const seen = await details(order);
    expect([seen.seq, seen.updated_at > before.updated_at]).toEqual([before.seq + 1, true]);
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    await gateway.tick();
    expect(await extras(order)).toEqual(['deposit_added', 'extra_refund_decided', 'extra_refund_confirmed']);
    const after = await details(order);
    expect([after.seq, after.status_group]).toEqual([before.seq + 3, 'completed']);
    await feedCatchesUp(gateway.query);
    const { data: moved } = await get(`/partner/orders?sort=updated&limit=100&cursor=${cursor}`);
    expect(moved.map(({ id }: { id: string }) => id)).toEqual([order.id]);
    const { data: reported } = await get(`/partner/events?limit=100&cursor=${feed.next_cursor}`);
    expect(reported.map(({ type }: { type: string }) => type)).toEqual([
      'order.deposit_added',
      'order.extra_refunding',
      'order.extra_refunded',
    ]);
    const { data: history, has_more: hasMore } = await get(`/partner/orders/${order.id}/events`);
    expect(hasMore).toBe(false);
    expect(history.slice(-3).map(({ event_id, type }: Record<string, string>) => ({ event_id, type }))).toEqual(
      reported.map(({ type, data }: { type: string; data: { event_id: string } }) => ({
        event_id: data.event_id,
        type,
      })),
    );
  });

  it('before the order expired, and while its own deposit confirms, are reported once', async () => {
    const order = await gateway.order();
    await gateway.deposit(order, { amount: '0.0001' });
    await gateway.tick();
    await gateway.tick();
    expect(await history(order)).toEqual(['created', 'small_deposit']);
    await gateway.deposit(order);
    await gateway.tick();
    await gateway.settle(order);
    await gateway.settle(order);
    expect((await history(order)).slice(0, 3)).toEqual(['created', 'small_deposit', 'deposit_seen']);
    expect((await extras(order)).filter((cause) => cause.endsWith('_deposit'))).toEqual(['small_deposit']);
  });

  it('are reported a bounded number of times, however many deposits a stranger sends', async () => {
    const order = await gateway.order();
    for (let block = 0; block < 4; block++) {
      for (let i = 0; i < 150; i++) await gateway.deposit(order, { amount: '0.00002' });
      await gateway.mine('BTC');
      await gateway.tick();
    }
    await gateway.deposit(order);
    await gateway.settle(order);
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    await gateway.tick();
    const reported = await extras(order);
    expect(reported.filter((cause) => cause === 'small_deposit')).toHaveLength(3);
    // The dust does not use up the reports of real deposits.
    expect(reported.filter((cause) => cause === 'deposit_added')).toHaveLength(1);
    expect(await history(order)).toHaveLength(5 + 3 + 3);
  });
});

describe('an order that expired with a small deposit', () => {
  it('is refunded once its refund address is set', async () => {
    const order = await gateway.order({ refund_address: undefined });
    await gateway.deposit(order, { amount: '0.0001' });
    await gateway.mine('BTC', 3);
    await gateway.tick();
    await endWindow(gateway, order);
    gateway.clock.advance(1);
    await gateway.tick();
    await gateway.settle(order);
    gateway.clock.advance(3 * 3_600_000);
    await gateway.tick();
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('expired');
    expect((await details(order)).deposits).toMatchObject([{ role: 'small', refund_obstacle: 'no_refund_address' }]);
    const set = await gateway.call('PUT', `/partner/orders/${order.id}/refund-address`, {
      key: gateway.key,
      body: { refund_address: addressExample('BTC') },
    });
    expect(set.status).toBe(200);
    await gateway.tick();
    await gateway.settle(order);
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    expect((await details(order)).refunds).toMatchObject([{ state: 'confirmed' }]);
  });

  it('says that its deposit does not cover the fee of a refund', async () => {
    const order = await gateway.order({ refund_address: undefined });
    await gateway.deposit(order, { amount: '0.00002' });
    await gateway.mine('BTC', 3);
    await gateway.tick();
    await endWindow(gateway, order);
    gateway.clock.advance(3 * 3_600_000);
    await gateway.tick();
    await gateway.settle(order);
    expect((await details(order)).deposits).toMatchObject([{ role: 'small', refund_obstacle: 'below_fee' }]);
  });
});

describe('a further deposit of an order without a refund address', () => {
  it('is refunded once that is set', async () => {
    const order = await gateway.order({ refund_address: undefined });
    await gateway.deposit(order);
    await gateway.deposit(order, { amount: '0.002' });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
    await gateway.call('PUT', `/partner/orders/${order.id}/refund-address`, {
      key: gateway.key,
      body: { refund_address: addressExample('BTC') },
    });
    await gateway.tick();
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    expect((await details(order)).refunds).toMatchObject([{ state: 'confirmed' }]);
    expect((await gateway.differences()).length).toBe(0);
  });
});

describe('a hold', () => {
  it('of a lost deposit and its release are events', async () => {
    const order = await gateway.order();
    await gateway.deposit(order);
    await gateway.tick();
    await gateway.mine('BTC', 2);
    await gateway.tick();
    const { seq } = await details(order);
    await gateway.reorg('BTC', 2, false);
    await gateway.tick();
    expect(await details(order)).toMatchObject({ seq: seq + 1, status_group: 'on_hold' });
    expect(await extras(order)).toEqual(['held']);
    const { data } = await get(`/partner/orders/${order.id}/events`);
    expect(data.at(-1)).toMatchObject({ type: 'order.held', cause: 'held' });
  });
});
