import { Faults } from '../../support/faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// In which order payments that are due get their turn.

const faults = new Faults();
let gateway: SettledGateway;
/** What happens when a transaction is built. */
let building: () => void = () => {};

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: {
      ...faults.outside(),
      onCrashPoint: (name) => {
        if (name === 'payment.built') building();
      },
    },
  });
});
afterAll(() => gateway?.stop());

it('payments that a round had no time for keep their place', async () => {
  const orders: MadeOrder[] = [];
  for (let made = 0; made < 55; made += 1) {
    const order = await gateway.order();
    await gateway.deposit(order);
    orders.push(order);
  }
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
