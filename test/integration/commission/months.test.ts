import { createHash } from 'node:crypto';
import { createLog } from '../../../src/base/log.ts';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { book, line, minus } from '../../../src/ledger/ledger.ts';
import { CommissionConversions } from '../../../src/settlement/commission/commission-conversions.ts';
import { CommissionEntries } from '../../../src/settlement/commission/commission-entries.ts';
import { CommissionPayments } from '../../../src/settlement/commission/commission-payments.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// The months of partners: what is added to them, when they close, and that they never change.

/** An address that differs from the example of its network. */
const other = '0x52908400098527886E0F7030069857D2E4169EE7';

let gateway: SettledGateway;
let partner: { id: string; key: string };

beforeEach(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-10-20T10:00:00.000Z')),
    settings: { COMMISSION_MIN_USD: '50', RECONCILE_EVERY_SEC: '0', PRICE_MAX_AGE_SEC: '31536000' },
  });
  partner = await gateway.partner();
});
afterEach(() => gateway?.stop());

/** An order of the partner that completes, with a markup. */
async function completed(changes: Record<string, unknown> = {}): Promise<string> {
  const recipient_address = addressExample(String(changes.network_to ?? 'TRC20'));
  const body = { amount_from: 0.1, rate_type: 'float', markup_bps: 100, recipient_address, ...changes };
  const order = await gateway.order(body, partner.key);
  await gateway.deposit(order);
  await gateway.settle(order);
  expect((await gateway.query('select status from exchange_order where id = $1', [order.id]))[0]).toEqual({
    status: 'completed',
  });
  return order.id;
}

interface Month {
  month: string;
  state: string;
  coin: string;
  network: string;
  due: string | null;
  orders: number | null;
  sha256: string | null;
  figures: { coin: string; network: string; closing: string; opening: string; accrued: string; converted: string }[];
}

const months = (): Promise<Month[]> =>
  gateway.query<Month>(
    `select to_char(month, 'YYYY-MM') as month, state, coin, network, trim_scale(due)::text as due, orders, sha256, figures
       from commission_statement where partner_id = $1 order by commission_statement.month`,
    [partner.id],
  );

async function sumOfEntries(): Promise<string> {
  const [row] = await gateway.query<{ sum: string }>(
    'select trim_scale(coalesce(sum(amount), 0))::text as sum from commission_entry where partner_id = $1',
    [partner.id],
  );
  return row?.sum ?? '';
}

/** Lets an address of the partner be in effect, without its three days. */
const address = (): Promise<unknown> =>
  gateway.query(
    `with member as (
       insert into partner_member (id, partner_id, name, role, created_at)
       values (gen_random_uuid(), $1, 'Owner', 'owner', $2) returning id)
     insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at, took_effect_at)
     select gen_random_uuid(), $1, 'USDC', 'ERC20', $3, $2, id, $2, $2 from member`,
    [partner.id, gateway.clock.now(), addressExample('ERC20')],
  );

/** Lets what is due be decided, sent and confirmed. */
async function paid(): Promise<void> {
  await gateway.settlement.commission.run();
  for (let block = 0; block < 40; block++) {
    await gateway.tick();
    await gateway.mine('ERC20');
    gateway.clock.advance(2_000);
  }
  await gateway.tick();
}

const to = (at: string): void => gateway.clock.advance(new Date(at).getTime() - gateway.clock.now().getTime());

it('an order in each of three coins is one balance in one asset, which is the sum of its entries', async () => {
  for (const changes of [
    {},
    { coin_to: 'ETH', network_to: 'ETH' },
    { coin_from: 'LTC', network_from: 'LTC', amount_from: 10, coin_to: 'BTC', network_to: 'BTC' },
  ]) {
    await completed(changes);
  }
  const entries = await gateway.query<{ coin: string; network: string; from_coin: string; amount: string }>(
    'select coin, network, from_coin, amount::text as amount from commission_entry where partner_id = $1 order by number',
    [partner.id],
  );
  expect(entries.map(({ coin, network, from_coin: from }) => `${from} to ${coin} ${network}`)).toEqual([
    'USDT to USDC ERC20',
    'ETH to USDC ERC20',
    'BTC to USDC ERC20',
  ]);
  const [ledger] = await gateway.query<{ sum: string }>(
    'select trim_scale(-sum(amount))::text as sum from ledger_line where account = $1',
    [`partner:${partner.id}`],
  );
  expect(await sumOfEntries()).toBe(ledger?.sum);
  expect(await gateway.differences()).toEqual([]);
});

it('a month closes once, five minutes after its end, and its figures never change', async () => {
  await completed();
  await completed();
  to('2026-11-01T00:04:00.000Z');
  await gateway.settlement.commission.run();
  expect((await months()).map(({ month, state }) => [month, state])).toEqual([['2026-10', 'open']]);
  to('2026-11-01T00:05:01.000Z');
  const closings = await Promise.all([1, 2, 3].map(() => gateway.settlement.commission.run()));
  expect(closings).toHaveLength(3);
  const [october, november] = await months();
  expect(october).toMatchObject({ month: '2026-10', coin: 'USDC', network: 'ERC20', orders: 2 });
  expect(november).toMatchObject({ month: '2026-11', state: 'open', figures: null });
  const [figures] = october?.figures ?? [];
  expect(figures).toMatchObject({ opening: '0', converted: '0', closing: await sumOfEntries() });
  expect(figures?.accrued).toBe(figures?.closing);
  const csv = await gateway.call('GET', '/partner/statements/2026-10?format=csv', { key: partner.key });
  if (csv.status === 200) expect(createHash('sha256').update(csv.text).digest('hex')).toBe(october?.sha256);
  await expect(
    gateway.query('update commission_statement set orders = 3 where partner_id = $1', [partner.id]),
  ).rejects.toThrow('a closed month does not change');
  await expect(
    gateway.query(
      `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount, order_id)
       select gen_random_uuid(), partner_id, month, at, kind, coin, network, amount, null
         from commission_entry where partner_id = $1 limit 1`,
      [partner.id],
    ),
  ).rejects.toThrow('the month of this entry is closed');
  expect(await gateway.differences()).toEqual([]);
});

it('below the minimum a month rolls, and the next one is due with both', async () => {
  await completed({ markup_bps: 60 });
  const first = await sumOfEntries();
  // More than the least amount and the network fee of the asset, so that only the minimum counts.
  expect(Number(first)).toBeGreaterThan(30);
  expect(Number(first)).toBeLessThan(50);
  to('2026-11-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  expect((await months())[0]).toMatchObject({ state: 'rolled', due: null });
  while (Number(await sumOfEntries()) < 52) await completed({ markup_bps: 300 });
  to('2026-12-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  const [, november] = await months();
  const sum = await sumOfEntries();
  expect(november).toMatchObject({
    state: 'payable',
    figures: [expect.objectContaining({ opening: first, closing: sum })],
  });
  expect(november?.due).toBe(new Big(sum).round(6, 0).toFixed());
  expect(await gateway.differences()).toEqual([]);
});

it('a month that is paid after the end of the next one is not paid again with that one', async () => {
  await completed({ markup_bps: 300 });
  to('2026-11-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  const [october] = await months();
  expect(october?.state).toBe('payable');
  await completed({ markup_bps: 300 });
  // The address takes effect and October is paid before November is closed.
  to('2026-12-01T00:01:00.000Z');
  await address();
  await paid();
  expect((await months())[0]?.state).toBe('paid');
  to('2026-12-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  const [, november] = await months();
  const earned = new Big(november?.figures[0]?.closing ?? '0').minus(october?.due ?? '0');
  expect(november).toMatchObject({ state: 'payable', due: earned.round(6, 0).toFixed() });
  await paid();
  expect((await months()).map(({ state }) => state)).toEqual(['paid', 'paid', 'open']);
  expect(await gateway.differences()).toEqual([]);
});

it('two workers that decide at once decide one payment of a month', async () => {
  await completed({ markup_bps: 300 });
  to('2026-11-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  await address();
  const { orm, catalogue } = gateway.app;
  const faults = new LogSink();
  const log = createLog('error', faults);
  const decide = () => new CommissionPayments({ log, orm, clock: gateway.clock, catalogue }).decide();
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  let deciding: Promise<number[]> | undefined;
  await orm.em.fork().transactional(async (em) => {
    await em.execute('select from commission_statement for update');
    deciding = Promise.all([decide(), decide()]);
    while ((await gateway.query(waiting)).length < 2);
  });
  expect((await deciding)?.toSorted()).toEqual([0, 1]);
  // The second one sees the payment, and the database need not refuse another one.
  expect(faults.lines()).toEqual([]);
  expect(await gateway.query(`select state from payment where kind = 'commission'`)).toEqual([{ state: 'ready' }]);
});

it('a payment that waits while another address takes effect goes to that one', async () => {
  await completed({ markup_bps: 300 });
  await address();
  to('2026-11-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  const payments = () =>
    gateway.query<{ state: string; problem: string | null; is_new: boolean }>(
      `select state, problem, address = $1 as is_new from payment where kind = 'commission' order by number`,
      [other],
    );
  expect(await payments()).toEqual([{ state: 'ready', problem: null, is_new: false }]);
  await gateway.query(
    `insert into commission_address (id, partner_id, coin, network, address, requested_at, member_id, effective_at, old_is_lost)
     select gen_random_uuid(), partner_id, coin, network, $2, $3, member_id, $3, true
       from commission_address where partner_id = $1`,
    [partner.id, other, gateway.clock.now()],
  );
  await paid();
  gateway.clock.advance(3_600_000);
  await paid();
  expect(await payments()).toEqual([
    { state: 'dead', problem: 'address_changed', is_new: false },
    { state: 'confirmed', problem: null, is_new: true },
  ]);
  expect(await gateway.differences()).toEqual([]);
});

/** Lets the accrual of an order be as older versions booked it: in its coin, without an entry. */
async function asBefore(orderId: string): Promise<void> {
  const [entry] = await gateway.query<{ coin: string; network: string; amount: string }>(
    `select from_coin as coin, from_network as network, from_amount::text as amount from commission_entry where order_id = $1`,
    [orderId],
  );
  if (!entry) throw new Error('the order has no entry');
  await gateway.query(
    `begin; set local session_replication_role = replica;
     delete from commission_entry where order_id = '${orderId}';
     delete from ledger_line where transaction_id in
       (select id from ledger_transaction where kind = 'markup' and order_id = '${orderId}');
     delete from ledger_transaction where kind = 'markup' and order_id = '${orderId}';
     commit`,
  );
  const { amount, ...asset } = entry;
  const lines = [line('markup', asset, amount), line(`partner:${partner.id}`, asset, minus(amount))];
  const at = gateway.clock.now();
  await book(gateway.app.orm.em.fork(), { kind: 'markup', reference: orderId, orderId, at, lines });
}

it('accruals of older versions get their entries, and are converted', async () => {
  const orders = [await completed(), await completed()];
  for (const id of orders) await asBefore(id);
  const entries = () =>
    gateway.query('select kind from commission_entry where partner_id = $1 order by number', [partner.id]);
  expect(await entries()).toEqual([]);
  await gateway.settlement.commission.run();
  const adopted = [{ kind: 'accrual' }, { kind: 'accrual' }, { kind: 'conversion' }, { kind: 'conversion' }];
  expect(await entries()).toEqual(adopted);
  expect(await gateway.differences()).toEqual([]);
  // One more comes from a process that is not replaced yet.
  const late = await completed();
  await asBefore(late);
  gateway.clock.advance(3_600_000);
  await gateway.settlement.commission.run();
  expect((await entries()).slice(4)).toEqual([{ kind: 'accrual' }, { kind: 'conversion' }, { kind: 'conversion' }]);
  expect(await gateway.differences()).toEqual([]);
});

it('a worker reads all markups once, and then those since the last time, an hour of them again', async () => {
  const worker = () =>
    new CommissionConversions({
      orm: gateway.app.orm,
      clock: gateway.clock,
      log: gateway.app.log,
      entries: new CommissionEntries({ coin: 'USDC', network: 'ERC20' }),
      prices: { live: () => null, reference: () => null },
    });
  const first = worker();
  await first.convert();
  const [early, late] = [await completed(), await completed()];
  for (const [id, agoMs] of [
    [early, 4_000_000],
    [late, 3_000_000],
  ] as const) {
    gateway.clock.advance(-agoMs);
    await asBefore(id);
    gateway.clock.advance(agoMs);
  }
  const adopted = () => gateway.query('select order_id as id from commission_entry order by number');
  await first.convert();
  expect(await adopted()).toEqual([{ id: late }]);
  await worker().convert();
  expect(await adopted()).toEqual([{ id: late }, { id: early }]);
});

it('refunded, expired and failed orders add nothing', async () => {
  const refunded = await gateway.order(
    { amount_from: 0.1, rate_type: 'fixed', markup_bps: 500, policy: { on_underpaid: 'refund' } },
    partner.key,
  );
  await gateway.deposit(refunded, { amount: '0.05' });
  await gateway.settle(refunded);
  await gateway.order({ amount_from: 0.1, rate_type: 'float', markup_bps: 100 }, partner.key);
  to('2026-11-01T00:06:00.000Z');
  await gateway.tick();
  await gateway.settlement.commission.run();
  expect(await months()).toEqual([]);
});
