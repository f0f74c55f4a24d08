import { addressExample } from '../../../src/chains/addresses/address.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import {
  confirm,
  faults,
  first,
  gateway,
  payments,
  second,
  staffRefund,
  status,
  withFaultyGateway,
} from '../../support/gateway/faulty-gateway.ts';
import { failedOrder, type MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';

// A refund address that the partner sets after the create: what it ends, and its limit.
// 0.01 BTC are about 641 US dollars in the sandbox, and the limit of 24 hours is 1,000.

withFaultyGateway();

const bare = { refund_address: undefined };
const btc = addressExample('BTC');
const dayMs = 86_400_000;

function put({ id }: MadeOrder, address = btc): Promise<Reply> {
  const body = { refund_address: address };
  return gateway.call('PUT', `/partner/orders/${id}/refund-address`, { key: gateway.key, body });
}

async function details({ id }: MadeOrder): Promise<Reply['json']> {
  return (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key })).json;
}

/** Lets the sweep of due orders see what became due now. */
async function settle(order: MadeOrder): Promise<void> {
  gateway.clock.advance(6_000);
  await gateway.settle(order);
  gateway.clock.advance(6_000);
  await gateway.settle(order);
}

beforeEach(async () => {
  gateway.clock.advance(dayMs + 1_000);
  await gateway.app.prices.refresh(gateway.app.catalogue.coins());
});

describe('an order that failed because it had no refund address', () => {
  it('is refunded to the address that its partner sets', async () => {
    const order = await failedOrder(gateway);
    const set = await put(order);
    expect([set.status, set.json.failure.cause, set.json.refund_address]).toEqual([
      200,
      'no_refund_address',
      'set_later',
    ]);
    await settle(order);
    expect(await gateway.history(order)).toEqual([
      'created',
      'window_passed',
      'late_deposit',
      'no_refund_address',
      'refund_address_set',
      'refund_resumed',
      'refund_confirmed',
    ]);
    expect(await payments(order)).toMatchObject([{ kind: 'refund', leg: 'main', state: 'confirmed', address: btc }]);
    expect(await gateway.query('select usd::int as usd from late_refund')).toEqual([{ usd: 641 }]);
  });

  it('stays on hold when staff hold it, and is refunded after the release', async () => {
    const order = await failedOrder(gateway);
    const { staffActions } = gateway.settlement;
    await staffActions.propose({ action: 'hold', staffId: first, orderId: order.id, reason: 'odd' });
    await put(order);
    await settle(order);
    expect(await status(order)).toBe('failed');
    const asked = { action: 'release', staffId: first, orderId: order.id, reason: 'fine' } as const;
    await staffActions.approve((await staffActions.propose(asked)).id, second);
    await settle(order);
    expect(await status(order)).toBe('refunded');
  });

  it('stays with staff above the limit, and two members pay it', async () => {
    const small = await failedOrder(gateway);
    await put(small);
    await settle(small);
    expect(await status(small)).toBe('refunded');
    const order = await failedOrder(gateway);
    await put(order);
    await settle(order);
    expect(await status(order)).toBe('failed');
    expect((await details(order)).refund_address).toBe('awaits_approval');
    const about = (await attention(gateway.app.orm.em.fork(), 1_000)).filter(({ orderId }) => orderId === order.id);
    expect(about.map(({ kind, detail }) => [kind, detail]).sort()).toEqual([
      ['deposit_problem', 'late_refund_limit'],
      ['failed_order', 'no_refund_address'],
    ]);
    await staffRefund(order, btc);
    await settle(order);
    expect(await status(order)).toBe('refunded');
    expect((await details(order)).refund_address).toBe('set_later');
    expect(await payments(order)).toMatchObject([{ kind: 'refund', state: 'confirmed' }]);
    expect(
      await gateway.query('select 1 from late_refund where at > $1', [new Date(gateway.clock.now().getTime() - dayMs)]),
    ).toHaveLength(1);
  });

  it('is refunded once when staff refund it before the worker looks', async () => {
    const order = await failedOrder(gateway);
    await put(order);
    await staffRefund(order, btc);
    await settle(order);
    expect(await status(order)).toBe('refunded');
    expect(await payments(order)).toHaveLength(1);
  });
});

it('an order that failed for another cause stays with staff, also with an address', async () => {
  const refusing = addressExample('TRC20');
  await gateway.settlement.sandbox.refuse('tron', refusing);
  const order = await gateway.order(bare);
  await confirm(order);
  await gateway.settle(order);
  expect(await status(order)).toBe('failed');
  await gateway.settlement.sandbox.accept('tron', refusing);
  expect((await put(order)).status).toBe(200);
  await settle(order);
  expect(await gateway.history(order)).toEqual([
    'created',
    'deposit_seen',
    'deposit_confirmed',
    'liquidity_bought',
    'payout_failed',
    'refund_address_set',
  ]);
  expect((await details(order)).failure.cause).toBe('payout_failed');
  expect(await payments(order)).toHaveLength(1);
});

it('an order whose refund comes later uses the address, and fails above the limit', async () => {
  faults.venue = async () => ({ outcome: 'rejected', code: 'slippage' });
  const orders = [await gateway.order(bare), await gateway.order(bare)];
  for (const order of orders) {
    await put(order);
    await confirm(order);
  }
  gateway.clock.advance(16 * 60_000);
  for (const order of orders) await gateway.settle(order);
  faults.venue = null;
  const ends = await Promise.all(orders.map(status));
  expect(ends.sort()).toEqual(['failed', 'refunded']);
  for (const order of orders) {
    const shown = await details(order);
    if ((await status(order)) === 'failed') {
      expect(shown.failure.cause).toBe('refund_needs_approval');
      expect(shown.refund_address).toBe('awaits_approval');
      await staffRefund(order, btc);
      await settle(order);
      expect(await status(order)).toBe('refunded');
    } else {
      expect(shown.refund_address).toBe('set_later');
    }
  }
});

it('a refund to the address of the create has no such limit', async () => {
  for (let i = 0; i < 3; i++) {
    const order = await gateway.order();
    await gateway.call('POST', `/partner/orders/${order.id}/cancel`, { key: gateway.key });
    await gateway.deposit(order);
    await gateway.mine(order.networkFrom, 3);
    await settle(order);
    expect(await status(order)).toBe('refunded');
  }
});

it('a second deposit of an order with such an address counts in the limit too', async () => {
  const order = await gateway.order(bare);
  await put(order);
  await confirm(order);
  await confirm(order, { amount: '0.1' });
  await settle(order);
  const [extra] = await gateway.query('select problem from deposit where order_id = $1 and amount = 0.1', [order.id]);
  expect(extra).toEqual({ problem: 'late_refund_limit' });
  expect(await status(order)).toBe('completed');
  expect((await payments(order)).map(({ kind }) => kind)).toEqual(['payout']);
});

it('the sums of late refunds are never changed', async () => {
  await expect(gateway.query('update late_refund set usd = 0')).rejects.toThrow('append-only');
  await expect(gateway.query('delete from late_refund')).rejects.toThrow('append-only');
});
