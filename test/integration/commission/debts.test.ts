import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { book, line, minus } from '../../../src/ledger/ledger.ts';
import { CommissionConversions } from '../../../src/settlement/commission/commission-conversions.ts';
import { CommissionEntries } from '../../../src/settlement/commission/commission-entries.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { commissionPayment, commissionState } from '../../support/gateway/commission-payments.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Corrections that take back what was earned: nothing that other rules do may undo them.

let gateway: SettledGateway;
let partnerId: string;

beforeEach(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-11-20T10:00:00.000Z')),
    settings: { COMMISSION_MIN_USD: '50', RECONCILE_EVERY_SEC: '0', PRICE_MAX_AGE_SEC: '31536000' },
  });
  partnerId = (await gateway.partner()).id;
});
afterEach(() => gateway?.stop());

const to = (at: string): void => gateway.clock.advance(new Date(at).getTime() - gateway.clock.now().getTime());

/** Adds to the balance of a partner in the open month, or takes from it. */
async function add(coin: string, network: string, amount: string): Promise<void> {
  const at = gateway.clock.now();
  await gateway.query(
    `insert into commission_statement (partner_id, month, coin, network)
     values ($1, date_trunc('month', $2::timestamptz, 'UTC'), 'USDC', 'ERC20') on conflict do nothing`,
    [partnerId, at],
  );
  const [entry] = await gateway.query<{ id: string }>(
    `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount)
     values (gen_random_uuid(), $1, date_trunc('month', $2::timestamptz, 'UTC'), $2, 'conversion', $3, $4, $5)
     returning id`,
    [partnerId, at, coin, network, amount],
  );
  const asset = { coin, network };
  const lines = [line('trading', asset, amount), line(`partner:${partnerId}`, asset, minus(amount))];
  await book(gateway.app.orm.em.fork(), { kind: 'markup', reference: entry?.id ?? '', orderId: null, at, lines });
}

const balances = (): Promise<{ coin: string; amount: string }[]> =>
  gateway.query(
    `select coin, trim_scale(sum(amount))::text as amount from commission_entry
      where partner_id = $1 group by coin having sum(amount) <> 0 order by coin`,
    [partnerId],
  );

async function rounds(): Promise<void> {
  for (let round = 0; round < 6; round++) {
    await gateway.mine('BTC', 2);
    await gateway.tick();
    gateway.clock.advance(3_000);
  }
}

it('a conversion gives no payment back what a correction took from it', async () => {
  // The month before is due in BTC, and this one is in USDC.
  const due = await commissionPayment(gateway, { partnerId, amount: '0.01' });
  await add('BTC', 'BTC', '-0.0101');
  await gateway.settlement.commission.run();
  await rounds();
  expect(await balances()).toEqual([]);
  expect(await commissionState(gateway, due)).toBe('ready');
  const [month] = await gateway.query('select problem from commission_statement where payment_id = $1', [due.id]);
  expect(month).toEqual({ problem: 'not_covered' });
  // A part of it back covers nothing and is not converted either. All of it is.
  await add('BTC', 'BTC', '0.004');
  gateway.clock.advance(3_600_000);
  await gateway.settlement.commission.run();
  await rounds();
  expect(await balances()).toEqual([{ coin: 'BTC', amount: '0.004' }]);
  await add('BTC', 'BTC', '0.0061');
  await gateway.settlement.commission.run();
  await rounds();
  expect(await commissionState(gateway, due)).toBe('confirmed');
});

it('a balance beyond what is due, and a debt, are converted to the asset of the month', async () => {
  await commissionPayment(gateway, { partnerId, amount: '0.01' });
  await add('BTC', 'BTC', '0.002');
  await add('ETH', 'ETH', '-0.1');
  await gateway.settlement.commission.run();
  const [btc, usdc, ...others] = await balances();
  expect([btc, others]).toEqual([{ coin: 'BTC', amount: '0.0101' }, []]);
  expect(usdc?.coin).toBe('USDC');
  expect(Number(usdc?.amount)).toBeLessThan(0.002 * 200_000);
});

it('a debt in another asset is subtracted when a month closes', async () => {
  await add('USDC', 'ERC20', '1000');
  gateway.clock.advance(3_600_000);
  await gateway.settlement.commission.run();
  // Taken back in the coin of the accrual, after the last conversion of the month.
  to('2026-11-30T23:59:00.000Z');
  await gateway.settlement.commission.run();
  await add('USDT', 'TRC20', '-1000');
  to('2026-12-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  const [month] = await gateway.query<{ state: string; due: string | null }>(
    `select state, due::text as due from commission_statement where partner_id = $1 and month = '2026-11-01'`,
    [partnerId],
  );
  const owed = new Big(month?.due ?? '0');
  expect(owed.lt('50')).toBe(true);
  expect(await gateway.query('select 1 from payment where kind = $1', ['commission'])).toEqual([]);
});

it('an address of commission never changes, and waits its time', async () => {
  const at = gateway.clock.now();
  await gateway.query(
    `with owner as (insert into partner_member (id, partner_id, name, role, created_at)
                    values (gen_random_uuid(), $1, 'An owner', 'owner', $3) returning id)
     insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at)
     select gen_random_uuid(), $1, 'BTC', 'BTC', $2, $3, id, $3::timestamptz + interval '72 hours' from owner`,
    [partnerId, addressExample('BTC'), at],
  );
  for (const change of [
    `address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'`,
    `effective_at = effective_at - interval '1 hour'`,
    `took_effect_at = requested_at`,
    `partner_id = gen_random_uuid()`,
  ]) {
    await expect(gateway.query(`update commission_address set ${change}`)).rejects.toThrow(
      'an address of commission does not change',
    );
  }
  await expect(gateway.query('delete from commission_address')).rejects.toThrow('does not change');
});

it.each([
  ['what is owed', '0.01', '600'],
  ['a debt', '-0.01', '-1600'],
])('a price that was pushed gives no partner more: %s', async (_, amount, into) => {
  await add('BTC', 'BTC', amount);
  const [live, reference]: Record<string, string>[] = [
    { BTC: '80000', USDC: '0.5' },
    { BTC: '60000', USDC: '1' },
  ];
  const priceIn = (of: Record<string, string> | undefined) => (coin: string) => new Big(of?.[coin] ?? '0');
  await new CommissionConversions({
    ...{ orm: gateway.app.orm, clock: gateway.clock, log: gateway.app.log },
    entries: new CommissionEntries({ coin: 'USDC', network: 'ERC20' }),
    prices: { live: priceIn(live), reference: priceIn(reference) },
  }).convert();
  expect(await balances()).toEqual([{ coin: 'USDC', amount: into }]);
});
