import type { AppError } from '../../src/base/errors.ts';
import { Big } from '../../src/base/money.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { OrderStats } from '../../src/operations/order-stats.ts';
import { FixedResults } from '../../src/orders/fixed-results.ts';
import { Dice } from '../support/gateway/dice.ts';
import { feedCatchesUp } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows: a partner that tries to earn
 * more by its markup than its users paid, or to pass the bound of its markup.
 */

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };

async function partnerWith(changes: object, key: object = {}): Promise<{ id: string; key: string; keyId: string }> {
  const { id } = await gateway.partners.create('A partner with a markup');
  if (Object.keys(changes).length > 0) await gateway.partners.change(id, changes);
  return { id, ...(await gateway.partners.issueKey(id, key)) };
}

const quote = (key: string, changes: object) =>
  gateway.call('POST', '/partner/quotes', { key, body: { ...pair, rate_type: 'fixed', ...changes } });

/** What an order brought us and its partner, and the fee of its trade, in units of coin_to. */
async function earned({ id }: Pick<MadeOrder, 'id'>): Promise<{ own: Big; partner: Big; fee: Big }> {
  const [row] = await gateway.query<{ own: string; partner: string; fee: string }>(
    `select coalesce(-sum(l.amount) filter (where l.account in ('service_fee', 'markup')), 0)::text as own,
            coalesce(sum(l.amount) filter (where l.account = 'markup'), 0)::text as partner,
            coalesce(max(t.service_fee), 0)::text as fee
       from ledger_transaction x join ledger_line l on l.transaction_id = x.id
       left join trade t on t.order_id = x.order_id and t.state = 'filled' where x.order_id = $1`,
    [id],
  );
  return { own: new Big(row?.own ?? '0'), partner: new Big(row?.partner ?? '0'), fee: new Big(row?.fee ?? '0') };
}

describe('a markup', () => {
  it('never earns a partner more than its part of the fee, by any payment and any terms', async () => {
    const dice = new Dice(17);
    const policies = [{}, { on_underpaid: 'refund' }, { on_overpaid: 'refund_all' }];
    const orders = [];
    for (let i = 0; i < 12; i++) {
      const changes = { feeRateFixed: dice.pick(['0', '0.000001', '0.02']), feeRateFloat: dice.pick(['0', '0.003']) };
      const { key } = await partnerWith(changes);
      const bps = dice.pick([1, 7, 333, 500]);
      const rateType = dice.pick(['fixed', 'float']);
      const order = { rate_type: rateType, markup_bps: bps, policy: dice.pick(policies), amount_from: 0.013 };
      const { json } = await gateway.call('POST', '/partner/orders', {
        key,
        body: {
          ...pair,
          ...order,
          recipient_address: addressExample('TRC20'),
          refund_address: addressExample('BTC'),
        },
      });
      if (json.id === undefined) throw new Error(JSON.stringify(json));
      const made: MadeOrder = {
        id: json.id,
        depositAddress: json.deposit_address,
        depositTag: null,
        amountFrom: '0.013',
        amountTo: '',
        coinFrom: 'BTC',
        networkFrom: 'BTC',
        networkTo: 'TRC20',
      };
      await gateway.deposit(made, { amount: dice.pick(['0.013', '0.0071', '0.0199']) });
      orders.push({ made, bps, fee: changes[rateType === 'fixed' ? 'feeRateFixed' : 'feeRateFloat'] });
    }
    let completed = 0;
    for (const { made, bps, fee: own } of orders) {
      await gateway.settle(made);
      const [row] = await gateway.query<{ status: string }>('select status from exchange_order where id = $1', [
        made.id,
      ]);
      const found = await earned(made);
      if (row?.status !== 'completed') {
        expect([row?.status, found.partner.toFixed()]).toEqual(['refunded', '0']);
        continue;
      }
      completed++;
      expect(found.own.plus(found.partner).toFixed()).toBe(found.fee.toFixed());
      expect(found.own.gte('0')).toBe(true);
      // own : partner = fee rate : markup, and what rounding takes stays with us.
      const share = found.fee.times(String(bps)).div(new Big(own).times('10000').plus(String(bps)));
      expect(found.partner.lte(share)).toBe(true);
      expect(share.minus(found.partner).lt('1e-18')).toBe(true);
    }
    expect(completed).toBeGreaterThan(3);
    // What counts as our income, for statistics and against adverse selection, is without markups.
    await new FixedResults(gateway.app.orm, gateway.clock).rollUp();
    await feedCatchesUp(gateway.query);
    await new OrderStats(gateway.app.orm).rollUp();
    const incomes = await gateway.query<{ own: number; shown: number }>(
      `select (sum(-l.amount) * max(t.price_to))::float8 as own,
              -- A partner may have rows of two hours.
              coalesce((select sum(f.fees_usd) from fixed_result f
                         where f.partner_id = o.partner_id and o.rate_type = 'fixed'),
                       (select sum(s.revenue_usd) from order_stat s
                         where s.grain = 'month' and s.dimension = 'partner' and s.key = o.partner_id::text
                           and s.to_status = 'completed'))::float8 as shown
         from exchange_order o
         join trade t on t.order_id = o.id and t.state = 'filled'
         join ledger_transaction x on x.order_id = o.id
         join ledger_line l on l.transaction_id = x.id and l.account in ('service_fee', 'markup')
        where o.status = 'completed' group by o.id`,
    );
    expect(incomes).toHaveLength(completed);
    for (const { own, shown } of incomes) expect(Math.abs(own - shown)).toBeLessThan(1e-6);
    expect(await gateway.differences()).toEqual([]);
  });

  it('of a reverse quote is paid by the user, who still gets what was asked', async () => {
    const { key } = await partnerWith({});
    const none = await quote(key, { amount_to: 250 });
    const most = await quote(key, { amount_to: 250, markup_bps: 500 });
    expect(most.json.amount_to).toBeGreaterThanOrEqual(250);
    expect(most.json.amount_from).toBeGreaterThan(none.json.amount_from);
    expect(most.json.parts.service_fee).toBeGreaterThanOrEqual(none.json.parts.service_fee);
  });

  it('passes its bound by no way: named, by default, by a quote of before, or by two changes at once', async () => {
    const { id, key, keyId } = await partnerWith({}, { defaultMarkupBps: 100 });
    const before = await quote(key, { amount_from: 0.01, markup_bps: 500 });
    expect(before.status).toBe(201);
    await gateway.partners.change(id, { maxMarkupBps: 100 });
    const { key: fresh } = await gateway.partners.issueKey(id);
    for (const markup of [101, 500, 501, 10_000]) {
      const { status, json } = await quote(fresh, { amount_from: 0.01, markup_bps: markup });
      // The largest one leaves nothing to exchange, which is a separate fault.
      expect([status, json.code === 'markup_too_high' || json.errors[0].code === 'markup_too_high']).toEqual([
        422,
        true,
      ]);
    }
    for (const wrong of [-1, 10_001, 1.5, '40', null]) {
      expect([400, 422]).toContain((await quote(fresh, { amount_from: 0.01, markup_bps: wrong })).status);
    }
    const kinds = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 === 0
          ? gateway.partners.changeKey(keyId, { defaultMarkupBps: 100 })
          : gateway.partners.change(id, { maxMarkupBps: 50 })
        ).then(
          () => 'done',
          (error: AppError) => error.kind,
        ),
      ),
    );
    const [row] = await gateway.query<{ fits: boolean }>(
      `select bool_and(k.default_markup_bps <= p.max_markup_bps) as fits
         from api_key k join partner p on p.id = k.partner_id where p.id = $1 and k.default_markup_bps is not null`,
      [id],
    );
    expect([row?.fits ?? true, kinds.includes('done')]).toEqual([true, true]);
    await gateway.partners.changeKey(keyId, { defaultMarkupBps: null });
    const race = await Promise.all([
      gateway.partners.changeKey(keyId, { defaultMarkupBps: 90 }).then(
        () => 'key',
        () => '',
      ),
      gateway.partners.change(id, { maxMarkupBps: 60 }).then(
        () => 'partner',
        () => '',
      ),
    ]);
    expect(race.filter((one) => one !== '')).toHaveLength(1);
  });
});
