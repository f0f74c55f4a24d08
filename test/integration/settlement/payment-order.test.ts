import { setTimeout as sleep } from 'node:timers/promises';
import { Faults } from '../../support/faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// In which order payments that are due get their turn.

const faults = new Faults();
let gateway: SettledGateway;
/** Payments in the order in which they are built. */
const built: string[] = [];
/** What happens when a transaction is built. */
let building: () => void = () => {};

beforeEach(async () => {
  built.length = 0;
  building = () => {};
  faults.preparing = ({ id }) => void built.push(id);
  gateway = await startSettledGateway({
    outside: {
      ...faults.outside(),
      onCrashPoint: (name) => {
        if (name === 'payment.built') building();
      },
    },
  });
});
afterEach(async () => {
  faults.preparing = null;
  faults.signerAway = false;
  await gateway?.stop();
});

async function paidOrders(count: number, key = gateway.key): Promise<MadeOrder[]> {
  const orders: MadeOrder[] = [];
  for (let made = 0; made < count; made += 1) {
    const order = await gateway.order({}, key);
    await gateway.deposit(order);
    orders.push(order);
  }
  return orders;
}

/** Positions of the orders' payments in the order of building, by when they were decided. */
async function positions(orders: readonly MadeOrder[]): Promise<number[]> {
  const rows = await gateway.query<{ id: string }>('select id from payment where order_id = any($1) order by number', [
    orders.map(({ id }) => id),
  ]);
  return rows.map(({ id }) => built.indexOf(id));
}

it('payments that a round had no time for keep their place', async () => {
  const orders = await paidOrders(55);
  await gateway.mine('BTC', 2);
  faults.signerAway = true;
  // The process is told to stop while it works on the first group, of 50 payments.
  building = () => void gateway.settlement.worker.stop();
  await gateway.tick();
  const due = 'select state, next_action_at <= $2 as "isDue" from payment where order_id = any($1) order by number';
  const rows = await gateway.query<{ state: string; isDue: boolean }>(due, [
    orders.map(({ id }) => id),
    gateway.clock.now(),
  ]);
  const untried = rows.filter(({ state }) => state === 'ready');
  expect(untried.length).toBeGreaterThan(0);
  expect(untried.every(({ isDue }) => isDue)).toBe(true);
});

it('partners take turns, also when one has more payments than a batch takes', async () => {
  const { key } = await gateway.partner();
  const many = await paidOrders(110);
  const few = await paidOrders(2, key);
  await gateway.mine('BTC', 2);
  // A turn for each batch.
  await gateway.tick();
  await gateway.tick();
  const [ofMany, ofFew] = [await positions(many), await positions(few)];
  expect(ofMany).not.toContain(-1);
  expect(ofFew).not.toContain(-1);
  expect(Math.max(...ofFew)).toBeLessThan(4);
  // The oldest first within a partner.
  expect(ofMany).toEqual(ofMany.toSorted((a, b) => a - b));
});

it('partners take turns when one payment takes the whole time of a round', async () => {
  const { key } = await gateway.partner();
  const many = await paidOrders(8);
  const few = await paidOrders(1, key);
  await gateway.mine('BTC', 2);
  const now = performance.now.bind(performance);
  let laterMs = 0;
  const time = jest.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
  faults.preparing = ({ id }) => {
    built.push(id);
    laterMs += 2_000;
  };
  try {
    await gateway.settlement.worker.start();
    for (let looks = 0; built.length < 9 && looks < 1_000; looks += 1) await sleep(20);
  } finally {
    time.mockRestore();
    await gateway.settlement.worker.stop();
  }
  expect(Math.max(...(await positions(few)))).toBeLessThan(2);
  expect(await positions(many)).not.toContain(-1);
});
