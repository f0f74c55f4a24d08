import { OrderStats, type StatsRange } from '../../../src/operations/order-stats.ts';
import { OrderFeed } from '../../../src/orders/read/order-feed.ts';
import { PolicyGateway } from '../../support/gateway/asked-orders.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Facts in histories: questions to partners have events with the same status before and after.

let world: PolicyGateway;
let orders: Record<'paid' | 'late' | 'refunded' | 'open', MadeOrder>;
let feed: OrderFeed;
let start: string;

const day: StatsRange = {
  from: new Date('2026-01-01T00:00:00Z'),
  to: new Date('2026-01-04T00:00:00Z'),
  interval: 'day',
  by: null,
};

beforeAll(async () => {
  world = await PolicyGateway.start();
  const { gateway } = world;
  feed = new OrderFeed(gateway.app.orm);
  start = await feed.now();
  const ask = { policy: { on_underpaid: 'ask', on_late: 'ask' } } as const;
  const made = async (isLate: boolean): Promise<MadeOrder> => {
    const order = await world.order(ask);
    await world.pay(order, '0.006', { isLate });
    return order;
  };
  orders = { paid: await made(false), late: await made(true), refunded: await made(false), open: await made(true) };
  await world.advance(100);
  await world.shown(orders.paid);
  for (const [name, action] of [
    ['paid', 'exchange'],
    ['late', 'exchange'],
    ['refunded', 'refund'],
  ] as const) {
    const { status } = await world.answer(orders[name], action);
    if (status !== 200) throw new Error(`${name} was answered with ${status}`);
    await gateway.settle(orders[name]);
  }
  await feedCatchesUp(gateway.query);
});
afterAll(() => world?.gateway.stop());

it('the feed of the staff has all moves and no facts', async () => {
  const events = await feed.since(start, 1_000);
  const causes = events.filter(({ orderId }) => orderId === orders.paid.id).map(({ cause }) => cause);
  expect(causes).toEqual(['created', 'deposit_seen', 'deposit_confirmed', 'liquidity_bought', 'payout_confirmed']);
  expect(events.filter(({ fromStatus, toStatus }) => fromStatus === toStatus)).toEqual([]);
});

it('statistics count an order once, with the whole time of a status', async () => {
  const stats = new OrderStats(world.gateway.app.orm);
  await stats.rollUp();
  const rows = await stats.stats(day);
  const sum = (name: 'created' | 'completed' | 'expired' | 'refunded'): number =>
    rows.reduce((total, row) => total + row[name], 0);
  expect([sum('created'), sum('completed'), sum('expired'), sum('refunded')]).toEqual([4, 2, 1, 1]);
  const times = await stats.timeInState(day);
  const confirming = times.find(({ status }) => status === 'confirming');
  expect(confirming?.count).toBe(2);
  // The question was open for a hundred seconds.
  expect(Number(confirming?.meanSeconds)).toBeGreaterThanOrEqual(100);
  const [direct] = await world.gateway.query<{ mean: number }>(
    `select avg(extract(epoch from left_at.at - entered.at))::float8 as mean
       from order_event entered
       join order_event left_at on left_at.order_id = entered.order_id and left_at.from_status = 'confirming'
                               and left_at.to_status <> 'confirming'
      where entered.to_status = 'confirming' and entered.from_status <> 'confirming'`,
  );
  expect(Number(confirming?.meanSeconds)).toBeCloseTo(direct?.mean ?? 0, 2);
});

it('the public status of an order that is asked about needs information', async () => {
  const { gateway } = world;
  await gateway.query('update partner set public_status = true');
  const status = async ({ id }: MadeOrder) => (await gateway.call('GET', `/status/${id}`)).json;
  expect(await status(orders.open)).toMatchObject({ status: 'expired', edge_status: 'infoNeeded' });
  expect(await status(orders.paid)).toMatchObject({ status: 'completed', edge_status: 'completed' });
});
