import { attention } from '../../../src/orders/read/attention.ts';
import { PolicyGateway, type PolicyOrder } from '../../support/gateway/asked-orders.ts';
import type { MadeOrder, SettledGateway } from '../../support/gateway/settled-gateway.ts';

// What an order does with an unusual deposit, by the policy that its partner chose at the create.

let world: PolicyGateway;
let gateway: SettledGateway;

beforeAll(async () => {
  world = await PolicyGateway.start();
  gateway = world.gateway;
});
afterAll(async () => {
  try {
    expect(await gateway.differences()).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});
afterEach(() => world.move('1'));

/** The history of an order between its creation and its end. */
async function story(order: MadeOrder): Promise<string> {
  await gateway.settle(order);
  return (await gateway.history(order)).slice(1).join(' ');
}

const paidOut = 'liquidity_bought payout_confirmed';
const inTime = 'deposit_seen';

describe('a deposit in time', () => {
  const cases: readonly (readonly [PolicyOrder['policy'], 'float' | 'fixed', string, string])[] = [
    [undefined, 'float', '0.006', `deposit_confirmed ${paidOut}`],
    [{ on_underpaid: 'exchange' }, 'float', '0.006', `deposit_confirmed ${paidOut}`],
    [{ on_underpaid: 'refund' }, 'float', '0.006', 'underpaid refund_confirmed'],
    [{ on_underpaid: 'refund' }, 'fixed', '0.006', 'underpaid refund_confirmed'],
    [{ on_underpaid: 'refund' }, 'fixed', '0.01', `deposit_confirmed ${paidOut}`],
    [{ on_underpaid: 'refund', on_overpaid: 'ask', on_late: 'ask' }, 'float', '0.01', `deposit_confirmed ${paidOut}`],
    [undefined, 'fixed', '0.013', `deposit_confirmed ${paidOut}`],
    [{ on_overpaid: 'refund_excess' }, 'fixed', '0.013', `deposit_confirmed ${paidOut}`],
    [{ on_overpaid: 'refund_all' }, 'fixed', '0.013', 'overpaid refund_confirmed'],
    [{ on_overpaid: 'refund_all' }, 'float', '0.013', `deposit_confirmed ${paidOut}`],
    [{ on_overpaid: 'refund_all' }, 'float', '5', 'overpaid refund_confirmed'],
    [{ on_overpaid: 'refund_all', on_underpaid: 'ask' }, 'fixed', '0.013', 'overpaid refund_confirmed'],
  ];
  it.each(cases)('with policy %j of a %s order of 0.01, of %s: %s', async (policy, rateType, amount, expected) => {
    const order = await world.order({ policy, rateType });
    await world.pay(order, amount);
    expect(await story(order)).toBe(`${inTime} ${expected}`);
  });

  it('below the minimum is refunded under every policy', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask', on_late: 'market', on_overpaid: 'ask' } });
    await world.pay(order, '0.0002');
    expect(await gateway.history(order)).toEqual(['created']);
    gateway.clock.advance(31 * 60_000);
    expect(await story(order)).toBe('below_minimum refund_confirmed');
  });
});

describe('a smallest payout', () => {
  it.each(['float', 'fixed'] as const)('is kept where the market is as it was: %s', async (rateType) => {
    const order = await world.order({ rateType, minAmountTo: 500 });
    await world.pay(order, '0.01');
    expect(await story(order)).toBe(`${inTime} deposit_confirmed ${paidOut}`);
  });

  it('refunds a float order whose market fell', async () => {
    const order = await world.order({ minAmountTo: 600 });
    await world.move('0.9');
    await world.pay(order, '0.01');
    expect(await story(order)).toBe(`${inTime} price_moved refund_confirmed`);
  });

  it('refunds a partial deposit that pays less, also of a fixed order', async () => {
    const order = await world.order({ rateType: 'fixed', minAmountTo: 600 });
    await world.pay(order, '0.006');
    expect(await story(order)).toBe(`${inTime} price_moved refund_confirmed`);
  });

  it('is kept when the price comes only while the exchange waits', async () => {
    const order = await world.order({ minAmountTo: 600, policy: { on_price_moved: 'refund' } });
    await world.move(null);
    await world.pay(order, '0.01');
    expect((await gateway.show(order)).status).toBe('confirming');
    gateway.clock.advance(16 * 60_000);
    await gateway.tick();
    expect((await gateway.show(order)).status).toBe('exchanging');
    await world.move('0.9');
    gateway.clock.advance(6_000);
    expect(await story(order)).toBe(`${inTime} deposit_confirmed exchange_below_min refund_confirmed`);
  });

  it('asks where the policy says so, and an answer may go below it', async () => {
    const order = await world.order({ minAmountTo: 600, policy: { on_price_moved: 'ask' } });
    await world.move('0.9');
    await world.pay(order, '0.01');
    await world.shown(order);
    const { action_required: asked } = await world.details(order);
    expect(asked).toMatchObject({ reason: 'price_moved', default: 'refund' });
    expect(asked.actions[0].amount_to).toBeLessThan(600);
    expect((await world.answer(order, 'exchange')).status).toBe(200);
    expect(await story(order)).toBe(`${inTime} action_required action_resolved deposit_confirmed ${paidOut}`);
    expect(await world.payments(order)).toEqual([`payout ${asked.actions[0].amount_to}`]);
  });

  it('removes the exchange from a question that another policy asks', async () => {
    const order = await world.order({ minAmountTo: 500, policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.009');
    expect((await world.details(order)).action_required.actions).toHaveLength(2);
    await world.move('0.7');
    expect((await world.details(order)).action_required.actions).toMatchObject([{ action: 'refund' }]);
    const { json, status } = await world.act(order, { action_id: 'act_3', action: 'exchange' });
    expect([status, json.code]).toEqual([409, 'action_not_available']);
  });
});

describe('a late deposit', () => {
  const cases: readonly (readonly [PolicyOrder['policy'], 'float' | 'fixed', string, string])[] = [
    [undefined, 'float', '0.01', 'late_deposit refund_confirmed'],
    [{ on_late: 'refund' }, 'fixed', '0.01', 'late_deposit refund_confirmed'],
    [{ on_underpaid: 'ask' }, 'float', '0.006', 'late_deposit refund_confirmed'],
    [{ on_late: 'market' }, 'float', '0.01', `late_accepted ${paidOut}`],
    [{ on_late: 'market' }, 'fixed', '0.01', `late_accepted ${paidOut}`],
    [{ on_late: 'market', on_underpaid: 'refund' }, 'float', '0.006', 'late_deposit refund_confirmed'],
    [{ on_late: 'market', on_overpaid: 'refund_all' }, 'fixed', '0.013', 'late_deposit refund_confirmed'],
    [{ on_late: 'market' }, 'fixed', '0.013', `late_accepted ${paidOut}`],
    [{ on_late: 'market' }, 'float', '0.0002', 'late_deposit refund_confirmed'],
    [{ on_late: 'ask' }, 'float', '0.0002', 'late_deposit refund_confirmed'],
  ];
  it.each(cases)('with policy %j of a %s order of 0.01, of %s: %s', async (policy, rateType, amount, expected) => {
    const order = await world.order({ policy, rateType });
    await world.pay(order, amount, { isLate: true });
    expect(await story(order)).toBe(`window_passed ${expected}`);
  });

  it.each(['0.8', '1.2'])('of a fixed order is exchanged at the market, not at the old rate: %s', async (level) => {
    const order = await world.order({ policy: { on_late: 'market' }, rateType: 'fixed' });
    const other = await world.order({ rateType: 'float' });
    await world.move(level);
    await world.pay(order, '0.01', { isLate: true });
    await world.pay(other, '0.01');
    await story(order);
    await gateway.settle(other);
    const paid = async (each: MadeOrder) => Number((await world.payments(each))[0]?.split(' ')[1]);
    const [late, float, quoted] = [await paid(order), await paid(other), Number(order.amountTo)];
    // The fee of a fixed order is half a percent higher than that of a float order.
    expect(late / float).toBeCloseTo(0.995, 3);
    if (level === '0.8') expect(late).toBeLessThan(quoted);
    else expect(late).toBeGreaterThan(quoted);
  });

  it('is refunded once 72 hours have passed since the window', async () => {
    const [taken, refunded] = [
      await world.order({ policy: { on_late: 'market' } }),
      await world.order({ policy: { on_late: 'ask' } }),
    ];
    gateway.clock.advance(30 * 60_000 + 72 * 3_600_000 - 60_000);
    await world.move('1');
    await gateway.tick();
    await gateway.deposit(taken);
    await world.confirm(taken);
    await gateway.deposit(refunded);
    gateway.clock.advance(61_000);
    await world.confirm(refunded);
    expect(await story(taken)).toBe(`window_passed late_accepted ${paidOut}`);
    expect(await story(refunded)).toBe('window_passed late_deposit refund_confirmed');
  });

  it('is refunded where the coin is no longer offered', async () => {
    const order = await world.order({ policy: { on_late: 'market' } });
    const rows = (enabled: boolean) =>
      gateway.query(`update currency set is_withdraw_enabled = $1 where coin = 'USDT' and network = 'TRC20'`, [
        enabled,
      ]);
    await rows(false);
    await gateway.app.catalogue.refresh();
    await world.pay(order, '0.01', { isLate: true });
    await rows(true);
    await gateway.app.catalogue.refresh();
    expect(await story(order)).toBe('window_passed late_deposit refund_confirmed');
  });

  it('waits for a price, and is refunded when none comes', async () => {
    const [taken, refunded] = [
      await world.order({ policy: { on_late: 'market' } }),
      await world.order({ policy: { on_late: 'market' } }),
    ];
    await world.move(null);
    await world.pay(taken, '0.01', { isLate: true });
    expect((await gateway.show(taken)).status).toBe('expired');
    await world.move('1');
    gateway.clock.advance(6_000);
    await gateway.tick();
    expect(await story(taken)).toBe(`window_passed late_accepted ${paidOut}`);
    await world.move(null);
    await world.pay(refunded, '0.01', { isLate: true });
    gateway.clock.advance(16 * 60_000);
    await gateway.tick();
    expect(await story(refunded)).toBe('window_passed late_deposit refund_confirmed');
  });

  it('of a cancelled order follows its policy too', async () => {
    const order = await world.order({ policy: { on_late: 'market' } });
    const { status } = await gateway.call('POST', `/partner/orders/${order.id}/cancel`, { key: gateway.key });
    expect(status).toBe(200);
    await gateway.deposit(order);
    await world.confirm(order);
    expect(await story(order)).toBe(`partner_cancelled late_accepted ${paidOut}`);
  });
});

describe('a question', () => {
  const asking: readonly (readonly [string, PolicyOrder, string, boolean])[] = [
    ['underpaid', { policy: { on_underpaid: 'ask' } }, '0.006', false],
    ['underpaid', { policy: { on_underpaid: 'ask' }, rateType: 'fixed' }, '0.006', false],
    ['overpaid', { policy: { on_overpaid: 'ask' }, rateType: 'fixed' }, '0.013', false],
    ['overpaid', { policy: { on_overpaid: 'ask' } }, '5', false],
    ['late', { policy: { on_late: 'ask' } }, '0.01', true],
    ['late', { policy: { on_late: 'ask', on_underpaid: 'ask' }, rateType: 'fixed' }, '0.006', true],
    ['underpaid', { policy: { on_late: 'market', on_underpaid: 'ask' } }, '0.006', true],
  ];

  it.each(asking)('about a deposit that is %s, %j of %s, is answered by an exchange', async (...each) => {
    const [reason, options, amount, isLate] = each;
    const order = await world.order(options);
    await world.pay(order, amount, { isLate });
    const { status } = await gateway.show(order);
    const details = await world.details(order);
    // The sighting of a late deposit is an event too.
    const seq = isLate ? 4 : 3;
    expect(details).toMatchObject({
      status_group: 'action_required',
      seq,
      action_required: { id: `act_${seq}`, reason },
    });
    const [exchange, refund] = details.action_required.actions;
    expect(refund).toEqual({ action: 'refund', amount: expect.any(Number) });
    expect(new Date(exchange.valid_until).getTime() - gateway.clock.now().getTime()).toBeGreaterThanOrEqual(60_000);
    const answered = await world.answer(order, 'exchange');
    expect(answered.status).toBe(200);
    expect(answered.json).toMatchObject({ seq: seq + 1, action_required: null });
    expect((await gateway.show(order)).status).toBe(status);
    const start = isLate ? 'window_passed' : inTime;
    const move = isLate ? 'late_accepted' : 'deposit_confirmed';
    expect(await story(order)).toBe(`${start} action_required action_resolved ${move} ${paidOut}`);
    expect((await world.payments(order))[0]).toBe(`payout ${exchange.amount_to}`);
  });

  it.each(asking)('about a deposit that is %s, %j of %s, is answered by a refund', async (...each) => {
    const [reason, options, amount, isLate] = each;
    const order = await world.order(options);
    await world.pay(order, amount, { isLate });
    const [, refund] = (await world.details(order)).action_required.actions;
    expect((await world.answer(order, 'refund')).status).toBe(200);
    const start = isLate ? 'window_passed' : inTime;
    const move = isLate ? 'late_deposit' : reason;
    expect(await story(order)).toBe(`${start} action_required action_resolved ${move} refund_confirmed`);
    expect(await world.payments(order)).toEqual([`refund ${refund.amount}`]);
  });

  it.each(asking)('about a deposit that is %s, %j of %s, ends with a refund after a day', async (...each) => {
    const [reason, options, amount, isLate] = each;
    const order = await world.order(options);
    await world.pay(order, amount, { isLate });
    await world.advance(86_399);
    await gateway.tick();
    expect((await world.details(order)).status_group).toBe('action_required');
    await world.advance(2);
    await gateway.tick();
    const start = isLate ? 'window_passed' : inTime;
    const move = isLate ? 'late_deposit' : reason;
    expect(await story(order)).toBe(`${start} action_required action_resolved ${move} refund_confirmed`);
  });

  it('of a late deposit never lasts longer than 72 hours after the window', async () => {
    const order = await world.order({ policy: { on_late: 'ask' } });
    await world.advance(30 * 60 + 71 * 3_600);
    await gateway.tick();
    await gateway.deposit(order);
    await world.confirm(order);
    const { action_required: asked } = await world.details(order);
    expect(Date.parse(asked.deadline) - gateway.clock.now().getTime()).toBeLessThanOrEqual(3_600_000);
    await world.advance(3_601);
    await gateway.tick();
    expect(await story(order)).toBe('window_passed action_required action_resolved late_deposit refund_confirmed');
  });

  it('without a refund address needs one before a refund, and fails without one at its deadline', async () => {
    const [set, unset] = [
      await world.order({ policy: { on_underpaid: 'ask' }, hasRefundAddress: false }),
      await world.order({ policy: { on_underpaid: 'ask' }, hasRefundAddress: false }),
    ];
    await world.pay(set, '0.006');
    await world.pay(unset, '0.006');
    const { action_required: asked } = await world.details(set);
    expect(asked.actions[1]).toMatchObject({ action: 'refund', needs: ['refund_address'] });
    const refused = await world.act(set, { action_id: asked.id, action: 'refund' });
    expect([refused.status, refused.json.code]).toEqual([409, 'action_not_available']);
    const body = { refund_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' };
    await gateway.call('PUT', `/partner/orders/${set.id}/refund-address`, { key: gateway.key, body });
    expect((await world.details(set)).action_required.actions[1].needs).toBeUndefined();
    expect((await world.answer(set, 'refund')).status).toBe(200);
    expect(await story(set)).toBe(
      `${inTime} action_required refund_address_set action_resolved underpaid refund_confirmed`,
    );
    await world.advance(86_401);
    await gateway.tick();
    expect(await story(unset)).toBe(`${inTime} action_required action_resolved underpaid no_refund_address`);
  });

  it('is kept while staff hold the order, and staff see one that is overdue', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.006');
    await gateway.query(`update exchange_order set held_at = $2, hold_reason = 'staff' where id = $1`, [
      order.id,
      gateway.clock.now(),
    ]);
    const details = await world.details(order);
    expect(details).toMatchObject({ status_group: 'on_hold', action_required: null });
    const refused = await world.act(order, { action_id: 'act_3', action: 'refund' });
    expect([refused.status, refused.json.code]).toEqual([409, 'action_not_available']);
    await world.advance(86_400 + 601);
    await gateway.tick();
    const items = await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now());
    const about = items.filter(({ orderId, kind }) => orderId === order.id && kind === 'action_overdue');
    expect(about).toMatchObject([{ detail: 'underpaid' }]);
    await gateway.query(
      'update exchange_order set held_at = null, hold_reason = null, next_action_at = $2 where id = $1',
      [order.id, gateway.clock.now()],
    );
    expect(await story(order)).toBe(`${inTime} action_required action_resolved underpaid refund_confirmed`);
  });

  it('ends when a reorg takes its deposit, and is asked again when the deposit returns', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.006');
    await gateway.reorg('BTC', 3, true);
    await gateway.tick();
    expect((await gateway.history(order)).slice(1, 4)).toEqual([inTime, 'action_required', 'action_resolved']);
    const [ended] = await gateway.query('select outcome, actor from order_action where order_id = $1', [order.id]);
    expect(ended).toEqual({ outcome: 'deposit_lost', actor: 'system' });
    await world.confirm(order);
    await world.confirm(order);
    const { action_required: asked } = await world.details(order);
    expect(asked.reason).toBe('underpaid');
    const stale = await world.act(order, { action_id: 'act_3', action: 'refund' });
    expect([stale.status, stale.json.code]).toEqual([409, 'action_stale']);
    expect((await world.answer(order, 'exchange')).status).toBe(200);
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('completed');
  });

  it('answered by an exchange does not hold for a deposit that a reorg makes late', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.006');
    expect((await world.answer(order, 'exchange')).status).toBe(200);
    await gateway.reorg('BTC', 3, true);
    await world.advance(86_400);
    await gateway.tick();
    expect((await gateway.show(order)).status).toBe('expired');
    await world.confirm(order);
    await world.confirm(order);
    expect((await story(order)).split(' ').slice(-2)).toEqual(['late_deposit', 'refund_confirmed']);
    expect((await gateway.show(order)).status).toBe('refunded');
  });

  it('ends for good when the reorg drops a late deposit', async () => {
    const order = await world.order({ policy: { on_late: 'ask' } });
    await world.pay(order, '0.01', { isLate: true });
    await gateway.reorg('BTC', 3, false);
    await gateway.tick();
    expect(await gateway.history(order)).toEqual(['created', 'window_passed', 'action_required', 'action_resolved']);
    expect((await world.details(order)).status_group).toBe('expired');
    const refused = await world.act(order, { action_id: 'act_3', action: 'exchange' });
    expect([refused.status, refused.json.code]).toEqual([409, 'action_not_available']);
  });

  it('leaves a second deposit an extra one', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.006');
    await world.pay(order, '0.01');
    expect((await world.details(order)).action_required.id).toBe('act_3');
    expect((await world.answer(order, 'exchange')).status).toBe(200);
    expect(await story(order)).toBe(`${inTime} action_required action_resolved deposit_confirmed ${paidOut}`);
    expect((await world.payments(order)).map((paid) => paid.split(' ')[0]).sort()).toEqual(['payout', 'refund']);
  });
});

describe('the database', () => {
  const refused = (sql: string, values: unknown[]): Promise<void> =>
    expect(gateway.query(sql, values)).rejects.toMatchObject({ code: '23001' });

  it('exchanges no late deposit of an order that did not ask for it', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.advance(1_801);
    await gateway.tick();
    expect((await gateway.show(order)).status).toBe('expired');
    await refused(`update exchange_order set status = 'exchanging' where id = $1`, [order.id]);
  });

  it('keeps a question and its end, and one open question for an order', async () => {
    const order = await world.order({ policy: { on_underpaid: 'ask' } });
    await world.pay(order, '0.006');
    await refused(`update order_action set deadline = deadline + interval '1 day' where order_id = $1`, [order.id]);
    await refused('delete from order_action where order_id = $1', [order.id]);
    await expect(
      gateway.query(
        `insert into order_action (order_id, seq, reason, deposit_id, amount, amount_from, asked_at, deadline)
         select order_id, 2, reason, deposit_id, amount, amount_from, asked_at, deadline
           from order_action where order_id = $1`,
        [order.id],
      ),
    ).rejects.toMatchObject({ constraint: 'order_action_open' });
    await expect(
      gateway.query(
        `with moved as (
           update exchange_order set status = 'exchanging', event_seq = event_seq + 1 where id = $1
           returning id, partner_id, event_seq
         )
         insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
         select id, partner_id, event_seq, now(), 'confirming', 'exchanging', 'deposit_confirmed', 'system' from moved`,
        [order.id],
      ),
    ).rejects.toThrow(/open action/);
    await world.answer(order, 'refund');
    await refused(`update order_action set outcome = 'exchange' where order_id = $1`, [order.id]);
  });
});
