import type { OrderPolicy } from '../../../src/orders/order-terms.ts';
import { PolicyGateway } from '../../support/gateway/asked-orders.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { quietly, type RaceStep, raceSteps } from '../../support/gateway/races.ts';
import { endWindow, type MadeOrder } from '../../support/gateway/settled-gateway.ts';
import { badHistories } from '../../support/gateway/settlement-model/invariants.ts';
import type { Reply } from '../../support/http/contract-client.ts';

// Answers of partners near their deadline, detection, staff, reorgs and settlement, at two
// processes. Each history is a path of the state table, and each leg of a deposit is paid once.

const clock = new TestClock();
const settings = { REDIS_URL: 'redis://127.0.0.1:1', LATE_REFUND_LIMIT_USD: '1000000000' };
let one: PolicyGateway;
let two: PolicyGateway;
let staff: string;
let second: string;

beforeAll(async () => {
  one = await PolicyGateway.start({ clock, settings });
  const { databaseUrl, key } = one.gateway;
  two = await PolicyGateway.start({ clock, settings, databaseUrl, key });
  staff = (await one.gateway.staff.create('first@example.com', 'operator')).member.id;
  second = (await one.gateway.staff.create('second@example.com', 'operator')).member.id;
});
afterAll(async () => {
  await two?.gateway.stop();
  await one?.gateway.stop();
});

async function verify(): Promise<void> {
  const { gateway } = one;
  expect(await badHistories(gateway.query)).toEqual([]);
  expect(
    await gateway.query(
      `select deposit_id, leg from payment where kind in ('payout', 'refund') and state <> 'dead'
        group by deposit_id, leg having count(*) > 1`,
    ),
  ).toEqual([]);
  // An answer is followed: an exchange pays exactly what was chosen, or the deposit goes back.
  expect(
    await gateway.query(
      `select a.order_id, a.amount_to, p.amount from order_action a
         join payment p on p.order_id = a.order_id and p.kind = 'payout'
        where a.outcome <> 'deposit_lost' and a.amount_to is distinct from p.amount
          and a.seq = (select max(seq) from order_action b where b.order_id = a.order_id)`,
    ),
  ).toEqual([]);
  // A deposit that a reorg took after its trade leaves a debit. Nothing may be paid for it.
  const unpaid = await gateway.query<{ short_id: string }>(
    `select short_id from exchange_order o where not exists (select from payment p where p.order_id = o.id)
        and exists (select from deposit d where d.order_id = o.id and d.state = 'orphaned')`,
  );
  const isTradedOnly = ({ check, subject }: { check: string; subject: string }): boolean =>
    check === 'debits' && unpaid.some(({ short_id: id }) => subject.startsWith(`${id},`));
  expect((await gateway.differences()).filter((row) => !isTradedOnly(row))).toEqual([]);
}

/** Lets everything happen that is still to come. */
async function rest(orders: readonly MadeOrder[]): Promise<void> {
  const { gateway } = one;
  for (let round = 0; round < 3; round++) {
    await one.advance(86_401);
    await two.refresh();
    await gateway.tick();
    await gateway.mine('BTC', 3);
    for (const order of orders) await gateway.settle(order);
  }
}

async function asked(policy: OrderPolicy = { on_underpaid: 'ask' }): Promise<MadeOrder> {
  const order = await one.order({ policy });
  await one.pay(order, '0.006');
  return order;
}

const answer = (where: PolicyGateway, order: MadeOrder, action: string): Promise<Reply> =>
  where.act(order, { action_id: 'act_3', action });

it('an answer and the deadline never both win', async () => {
  const orders: MadeOrder[] = [];
  for (let i = 0; i < 8; i++) orders.push(await asked());
  await one.advance(86_399);
  await two.refresh();
  const [, , ...replies] = await Promise.all([
    one.gateway.tick(),
    (async () => clock.advance(1_001))(),
    ...orders.map((order, i) => answer(i % 2 === 0 ? one : two, order, 'exchange')),
    two.gateway.tick(),
  ]);
  await one.gateway.tick();
  for (const [i, order] of orders.entries()) {
    const reply = replies[i] as Reply;
    const [row] = await one.gateway.query<{ outcome: string }>('select outcome from order_action where order_id = $1', [
      order.id,
    ]);
    expect(row?.outcome).toBe(reply.status === 200 ? 'exchange' : 'deadline');
  }
  await rest(orders);
  await verify();
});

it('an answer and a reorg of the deposit: the lost deposit is never paid out', async () => {
  const orders: MadeOrder[] = [];
  for (let i = 0; i < 4; i++) orders.push(await asked());
  await one.gateway.reorg('BTC', 14, false);
  const [, , ...replies] = await Promise.all([
    one.gateway.tick(),
    two.gateway.tick(),
    ...orders.map((order) => answer(two, order, 'exchange')),
  ]);
  for (const { status } of replies as Reply[]) expect([200, 409]).toContain(status);
  await rest(orders);
  for (const order of orders) expect(await one.payments(order)).toEqual([]);
  await verify();
});

it('a hold keeps the answer that came before it, and refuses those after', async () => {
  const { staffActions } = one.gateway.settlement;
  const [before, after] = [await asked(), await asked()];
  const hold = (order: MadeOrder) =>
    staffActions.propose({ action: 'hold', staffId: staff, orderId: order.id, reason: 'odd' });
  expect((await answer(two, before, 'refund')).status).toBe(200);
  await hold(before);
  await hold(after);
  expect((await answer(two, after, 'exchange')).json.code).toBe('action_not_available');
  for (const order of [before, after]) {
    await one.gateway.tick();
    expect((await one.gateway.show(order)).status).toBe('confirming');
    const { id } = await staffActions.propose({ action: 'release', staffId: staff, orderId: order.id, reason: 'fine' });
    await staffActions.approve(id, second);
  }
  await rest([before, after]);
  for (const order of [before, after]) expect((await one.gateway.show(order)).status).toBe('refunded');
  await verify();
});

it('terms that the partner chose do not outlast the search for liquidity on a held order', async () => {
  const { staffActions } = one.gateway.settlement;
  const order = await asked();
  expect((await answer(one, order, 'exchange')).status).toBe(200);
  await staffActions.propose({ action: 'hold', staffId: staff, orderId: order.id, reason: 'odd' });
  await one.advance(16 * 60);
  const { id } = await staffActions.propose({ action: 'release', staffId: staff, orderId: order.id, reason: 'fine' });
  await staffActions.approve(id, second);
  await rest([order]);
  expect((await one.gateway.history(order)).slice(3)).toEqual([
    'action_resolved',
    'deposit_confirmed',
    'exchange_deadline',
    'refund_confirmed',
  ]);
  await verify();
});

it.each([1, 2, 3, 4])('any interleaving is a legal history with one payment for each leg (seed %i)', async (seed) => {
  const dice = new Dice(seed);
  const { staffActions } = one.gateway.settlement;
  const policies: readonly OrderPolicy[] = [
    { on_underpaid: 'ask', on_late: 'ask' },
    { on_overpaid: 'ask', on_late: 'market' },
    { on_late: 'ask', on_underpaid: 'refund' },
    { on_price_moved: 'ask', on_underpaid: 'ask', on_late: 'market' },
  ];
  const orders: MadeOrder[] = [];
  for (let i = 0; i < 6; i++) {
    const policy = dice.pick(policies);
    orders.push(
      await one.order({
        policy,
        rateType: dice.pick(['float', 'fixed'] as const),
        minAmountTo: policy.on_price_moved ? 350 : undefined,
        hasRefundAddress: dice.chance(0.7),
      }),
    );
  }
  const act = async (where: PolicyGateway, order: MadeOrder): Promise<Reply> => {
    const { action_required: open } = await where.details(order);
    const id = open?.id ?? 'act_3';
    const action = dice.pick(['exchange', 'refund'] as const);
    const amount = open?.actions[0]?.amount_to;
    return where.act(order, {
      action_id: id,
      action,
      ...(action === 'exchange' && amount && dice.chance(0.7) ? { amount_to: amount } : {}),
    });
  };
  const steps: readonly RaceStep[] = [
    (order) => act(one, order),
    (order) => act(two, order),
    (order) => act(two, order),
    (order) => one.gateway.deposit(order, { amount: dice.pick(['0.006', '0.01', '0.013']) }),
    (order) => one.gateway.deposit(order, { amount: dice.pick(['0.006', '0.01', '0.013']) }),
    () => one.gateway.tick(),
    () => two.gateway.tick(),
    () => one.gateway.tick(),
    () => one.gateway.mine('BTC'),
    () => one.gateway.mine('BTC', 2),
    (order) => endWindow(one.gateway, order),
    ({ id }) => two.gateway.call('POST', `/partner/orders/${id}/cancel`, { key: one.gateway.key }),
    ({ id }) =>
      two.gateway.call('PUT', `/partner/orders/${id}/refund-address`, {
        key: one.gateway.key,
        body: { refund_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      }),
    (order) => quietly(staffActions.propose({ action: 'hold', staffId: staff, orderId: order.id, reason: 'odd' })),
    async (order) => {
      const wanted = { action: 'release', staffId: staff, orderId: order.id, reason: 'fine' } as const;
      await quietly(staffActions.propose(wanted).then(({ id }) => staffActions.approve(id, second)));
    },
  ];
  for (let round = 0; round < 14; round++) {
    await raceSteps(dice, { steps, orders, count: 6 });
    // A reorg of a few blocks now and then, which keeps its transactions or drops them.
    if (dice.chance(0.3)) await one.gateway.reorg('BTC', 1, dice.chance(0.7));
    await one.advance(dice.pick([1, 6, 20]));
    await two.refresh();
  }
  const held = await one.gateway.query<{ id: string }>('select id from exchange_order where held_at is not null');
  for (const { id: orderId } of held) {
    const wanted = { action: 'release', staffId: staff, orderId, reason: 'fine' } as const;
    await quietly(staffActions.propose(wanted).then(({ id }) => staffActions.approve(id, second)));
  }
  await rest(orders);
  const open = await one.gateway.query('select order_id from order_action where outcome is null');
  expect(open).toEqual([]);
  await verify();
}, 240_000);
