import { Big, floorTo } from '../../../src/base/money.ts';
import { checkCommission } from '../../../src/ledger/reconcile/commission.ts';
import { Tally } from '../../../src/ledger/reconcile/report.ts';
import { reconcile } from '../../../src/ledger/reconcile.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// What a partner earns by the markup of its orders: booked once, at the completion.

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };

/** The lines of an order's accruals, as 'account coin amount'. */
async function accrued({ id }: MadeOrder): Promise<string[]> {
  const lines = await gateway.query<{ text: string }>(
    `select l.account || ' ' || l.coin || ' ' || l.network || ' ' || trim_scale(l.amount)::text as text
       from ledger_transaction x join ledger_line l on l.transaction_id = x.id
      where x.order_id = $1 and x.kind = 'markup' order by x.id, l.line`,
    [id],
  );
  return lines.map(({ text }) => text);
}

/**
 * The lines that an order must have, computed from its trade without the product's code. Partners
 * without an address are counted in USDC, at the price of the trade and that of USDC.
 */
async function expected({ id }: MadeOrder, markupBps: number): Promise<string[]> {
  const [row] = await gateway.query<{ partner: string; fees: string; fee_rate: string; price: string; into: string }>(
    `select o.partner_id as partner, t.service_fee::text as fees, o.fee_rate::text as fee_rate,
            t.price_to::text as price, e.price::text as into
       from exchange_order o join trade t on t.order_id = o.id join commission_entry e on e.order_id = o.id
      where o.id = $1`,
    [id],
  );
  if (!row) throw new Error('the order has no trade');
  const markup = floorTo(new Big(row.fees).times(String(markupBps)).div('10000').div(row.fee_rate), 18);
  const earned = floorTo(markup.times(row.price).div(row.into), 18).toFixed();
  return [
    `markup USDT TRC20 ${markup.toFixed()}`,
    `trading USDT TRC20 -${markup.toFixed()}`,
    `trading USDC ERC20 ${earned}`,
    `partner:${row.partner} USDC ERC20 -${earned}`,
  ];
}

async function completed(changes: Record<string, unknown>, deposit?: string): Promise<MadeOrder> {
  const order = await gateway.order({ amount_from: 0.1, ...changes });
  await gateway.deposit(order, deposit === undefined ? {} : { amount: deposit });
  await gateway.settle(order);
  expect((await gateway.show(order)).status).toBe('completed');
  return order;
}

describe('the markup of a completed order', () => {
  it.each([
    ['fixed', 'amount_from', 0.1],
    ['fixed', 'amount_to', 250],
    ['float', 'amount_from', 0.1],
    ['float', 'amount_to', 250],
  ])('is booked to its partner, of a %s quote by %s', async (rateType, side, amount) => {
    const body = { ...pair, rate_type: rateType, [side]: amount, markup_bps: 40 };
    const { json: quote } = await gateway.call('POST', '/partner/quotes', { key: gateway.key, body });
    const order = await completed({
      rate_type: rateType,
      amount_from: quote.amount_from,
      quote_id: quote.quote_id,
      external_id: `${rateType}-${side}`,
    });
    expect(await accrued(order)).toEqual(await expected(order, 40));
    const details = await gateway.call('GET', `/partner/orders/${order.id}/details`, { key: gateway.key });
    const { partner_markup: markup } = details.json.terms;
    expect(Number((await accrued(order))[0]?.split(' ')[3])).toBe(markup);
    expect(await gateway.differences()).toEqual([]);
  });

  it('is that of what was exchanged, not of what was expected', async () => {
    const whole = await completed({ rate_type: 'fixed', markup_bps: 100 });
    const part = await completed({ rate_type: 'fixed', markup_bps: 100 }, '0.05');
    expect(await accrued(part)).toEqual(await expected(part, 100));
    expect(await accrued(part)).not.toEqual(await accrued(whole));
    expect(await gateway.differences()).toEqual([]);
  });

  it('is booked once, however often the order is settled', async () => {
    const order = await completed({ rate_type: 'float', markup_bps: 25 });
    for (let time = 0; time < 3; time++) await gateway.settlement.settler.settle([order.id]);
    expect(await accrued(order)).toHaveLength(4);
  });

  it('is nothing for an order without a markup, and for one of zero', async () => {
    expect(await accrued(await completed({ rate_type: 'float' }))).toEqual([]);
    expect(await accrued(await completed({ rate_type: 'float', markup_bps: 0 }))).toEqual([]);
  });

  it('is nothing for an order that is refunded', async () => {
    const order = await gateway.order({
      amount_from: 0.1,
      rate_type: 'fixed',
      markup_bps: 500,
      policy: { on_underpaid: 'refund' },
    });
    await gateway.deposit(order, { amount: '0.05' });
    await gateway.settle(order);
    expect((await gateway.show(order)).status).toBe('refunded');
    expect(await accrued(order)).toEqual([]);
    expect(await gateway.differences()).toEqual([]);
  });

  it('is booked for every order of a group that is settled together', async () => {
    const orders = [];
    for (const markup of [10, 20, undefined, 30]) {
      orders.push(await gateway.order({ amount_from: 0.1, rate_type: 'float', markup_bps: markup }));
    }
    for (const order of orders) await gateway.deposit(order);
    for (const order of orders) await gateway.settle(order);
    const lines = await Promise.all(orders.map(accrued));
    expect(lines.map(({ length }) => length)).toEqual([4, 4, 0, 4]);
    expect(await gateway.differences()).toEqual([]);
  });
});

describe('the reconciler', () => {
  /** Changes what the database keeps, finds the differences, and changes it back. */
  async function found(change: string, back: string, { id }: MadeOrder): Promise<string[]> {
    const corrupt = (sql: string) =>
      gateway.query(`set session_replication_role = replica; ${sql.replaceAll('$id', `'${id}'`)}`);
    await corrupt(change);
    try {
      const { rows } = await reconcile({ orm: gateway.app.orm, adapters: gateway.settlement.adapters });
      return rows.filter(({ difference }) => difference !== '0').map(({ check }) => check);
    } finally {
      await corrupt(back);
    }
  }

  it('finds an accrual that is missing, doubled, wrong, or for nothing', async () => {
    const order = await completed({ rate_type: 'float', markup_bps: 25 });
    const ofOrder = `transaction_id in (select id from ledger_transaction where order_id = $id and kind = 'markup')`;
    const times = (factor: string) => `update ledger_line set amount = amount * ${factor} where ${ofOrder}`;
    const both = ['accounts', 'accounts', 'accounts', 'accounts', 'markups'];
    expect(await found(times('2'), times('0.5'), order)).toEqual(both);
    expect(
      await found(
        `update ledger_line set amount = amount + sign(amount) * 1e-18 where ${ofOrder}`,
        `update ledger_line set amount = amount - sign(amount) * 1e-18 where ${ofOrder}`,
        order,
      ),
    ).toEqual(both);
    const hide = `update ledger_line set account = 'unclaimed' where ${ofOrder} and account like 'partner:%'`;
    const show = `update ledger_line set account = 'partner:' || (select partner_id from exchange_order where id = $id)
                   where ${ofOrder} and account = 'unclaimed'`;
    expect(await found(hide, show, order)).toEqual(['accounts', 'accounts', 'markups']);
    const refunded = `update exchange_order set status = 'refunded' where id = $id`;
    const again = `update exchange_order set status = 'completed' where id = $id`;
    expect(await found(refunded, again, order)).toEqual(expect.arrayContaining(both));
    expect(await gateway.differences()).toEqual([]);
  });

  describe('of commission', () => {
    const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
    /** What a healthy partner has: a due month, its payment, a conversion and a correction. */
    const healthy = (partner: string): string => `
      insert into staff_action (id, action, partner_id, coin, network, amount, reason, state, proposed_by, proposed_at,
                                decided_by, decided_at)
        values ('${id(1)}', 'commission_correct', '${partner}', 'BTC', 'BTC', '0.5', 'x', 'done', '${id(2)}', now(),
                '${id(3)}', now());
      insert into commission_address (id, partner_id, coin, network, address, requested_at, action_id, effective_at,
                                      took_effect_at)
        values ('${id(4)}', '${partner}', 'BTC', 'BTC', 'ours', now(), '${id(1)}', now(), now());
      insert into payment (id, kind, leg, chain, coin, network, address, amount, fee_charged, state, next_action_at,
                           created_at)
        values ('${id(5)}', 'commission', 'main', 'bitcoin', 'BTC', 'BTC', 'ours', '0.4', '0.1', 'ready', now(),
                now() + interval '1 hour');
      insert into commission_statement (partner_id, month, coin, network, state, closed_at, figures, orders, sha256,
                                        due, payment_id)
        values ('${partner}', '2020-01-01', 'BTC', 'BTC', 'payable', now(), '[]', 0, repeat('a', 64), '0.5',
                '${id(5)}');
      insert into commission_statement (partner_id, month, coin, network)
        values ('${partner}', '2020-02-01', 'BTC', 'BTC');
      insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount, action_id, from_coin,
                                    from_network, from_amount, from_price, price)
        values ('${id(6)}', '${partner}', '2020-02-01', now(), 'correction', 'BTC', 'BTC', '0.5', '${id(1)}', null, null,
                null, null, null),
               ('${id(7)}', '${partner}', '2020-02-01', now(), 'conversion', 'ETH', 'ETH', '-2', null, null, null, null,
                null, null),
               ('${id(8)}', '${partner}', '2020-02-01', now(), 'conversion', 'BTC', 'BTC', '0.2', null, 'ETH', 'ETH',
                '2', '1', '10');`;

    it.each([
      ['nothing in sound rows', '', []],
      ['a payment to an address of another', `update payment set address = 'theirs'`, ['payment']],
      [
        'an address of another coin',
        `update commission_address set coin = 'ETH', network = 'ETH' where id = '${id(4)}'`,
        ['payment'],
      ],
      [
        'an address that took no effect',
        `update commission_address set took_effect_at = null where id = '${id(4)}'`,
        ['payment'],
      ],
      ['more due than is owed', `update commission_statement set due = '0.70000001' where due = '0.5'`, ['due']],
      [
        'a correction of another amount',
        `update commission_entry set amount = '0.6' where id = '${id(6)}'`,
        ['correction'],
      ],
      [
        'a correction that was only proposed',
        `update staff_action set state = 'proposed', decided_at = null`,
        ['correction'],
      ],
      ['a correction of another partner', `update staff_action set partner_id = '${id(9)}'`, ['correction']],
      ['a correction by no decision', 'delete from staff_action', ['correction']],
      [
        'a conversion of more than was taken',
        `update commission_entry set amount = '-1.9' where id = '${id(7)}'`,
        ['conversion'],
      ],
      [
        'a conversion that gives twice',
        `update commission_entry set amount = '2' where id = '${id(7)}'`,
        ['conversion'],
      ],
      ['a conversion out of nothing', `delete from commission_entry where id = '${id(7)}'`, ['conversion']],
    ])('finds %s', async (_, fault, subjects) => {
      const { id: partner } = await gateway.partner();
      const em = gateway.app.orm.em.fork();
      await em.begin();
      try {
        await em.execute(`set local session_replication_role = replica; ${healthy(partner)} ${fault}`);
        const tally = new Tally();
        await checkCommission(em, tally);
        expect(tally.report().rows.map(({ subject }) => subject.split(' ')[0])).toEqual(subjects);
      } finally {
        await em.rollback();
      }
    });
  });

  it('finds two wrong accruals of one partner whose errors cancel each other', async () => {
    const [one, other] = [
      await completed({ rate_type: 'float', markup_bps: 25 }),
      await completed({ rate_type: 'float', markup_bps: 25 }),
    ];
    const swap = (first: string, second: string) =>
      `update ledger_transaction set order_id = case order_id when '${first}' then '${second}'::uuid else order_id end
        where kind = 'markup' and order_id = '${first}'`;
    const name = `(select id from ledger_transaction where kind = 'markup' and reference = '${one.id}')`;
    expect(
      await found(
        swap(one.id, other.id),
        `update ledger_transaction set order_id = '${one.id}' where id = ${name}`,
        one,
      ),
    ).toEqual(['markups', 'markups']);
    expect(await gateway.differences()).toEqual([]);
  });
});
