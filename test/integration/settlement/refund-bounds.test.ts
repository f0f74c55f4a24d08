import { attention } from '../../../src/orders/read/attention.ts';
import { faults, gateway, withFaultyGateway } from '../../support/gateway/faulty-gateway.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// Users choose when, how often and how much they pay in excess; refunds of that have bounds.

withFaultyGateway();

const refunds = ({ id }: MadeOrder): Promise<{ state: string; problem: string | null }[]> =>
  gateway.query(`select state, problem from payment where order_id = $1 and kind = 'refund' order by number`, [id]);

/** An order that was paid out, and deposits of it besides. */
async function withExtras(count: number): Promise<MadeOrder> {
  const order = await gateway.order();
  await gateway.deposit(order);
  await gateway.mine('BTC', 2);
  await gateway.settle(order);
  for (let made = 0; made < count; made += 1) await gateway.deposit(order, { amount: '0.001' });
  await gateway.mine('BTC', 2);
  return order;
}

it('ten extra deposits of one block make three refunds, and staff decide about the others', async () => {
  const order = await withExtras(10);
  await gateway.tick();
  await gateway.settle(order);
  expect(await refunds(order)).toEqual(Array.from({ length: 3 }, () => ({ state: 'confirmed', problem: null })));
  const waiting = await gateway.query('select problem from deposit where order_id = $1 and problem is not null', [
    order.id,
  ]);
  expect(waiting).toEqual(Array.from({ length: 7 }, () => ({ problem: 'too_many_refunds' })));
  const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
  expect(items.filter(({ detail }) => detail === 'too_many_refunds')).toHaveLength(7);
});

it("a stranger's dust does not use up the refunds that the user's own late deposit needs", async () => {
  const order = await gateway.order();
  gateway.clock.advance(31 * 60_000);
  await gateway.tick();
  for (let made = 0; made < 6; made += 1) await gateway.deposit(order, { amount: '0.0001' });
  await gateway.mine('BTC', 2);
  await gateway.tick();
  await gateway.settle(order);
  await gateway.deposit(order);
  await gateway.mine('BTC', 2);
  await gateway.tick();
  await gateway.settle(order);
  const amounts = await gateway.query<{ large: boolean }>(
    `select amount > 0.005 as large from payment where order_id = $1 and kind = 'refund' and state = 'confirmed'`,
    [order.id],
  );
  expect(amounts.filter(({ large }) => large)).toHaveLength(1);
});

it('a refund waits while its transaction could cost more than twice what its user is charged', async () => {
  // The fee of the network is 5,000 of the smallest unit, and a transaction costs 1,000.
  faults.feeFactor = 11n;
  const order = await withExtras(1);
  await gateway.tick();
  expect(await refunds(order)).toEqual([{ state: 'ready', problem: 'fee_above_charged' }]);
  faults.feeFactor = 1n;
  gateway.clock.advance(60_000);
  await gateway.tick();
  expect(await refunds(order)).toEqual([{ state: 'sent', problem: null }]);
  await gateway.settle(order);
});
