import { Big, floorTo } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { book, line, minus } from '../../../src/ledger/ledger.ts';
import { PayoutHolds } from '../../../src/settlement/pay/payout-holds.ts';
import { Faults } from '../../support/faults/faults.ts';
import { commandLine } from '../../support/gateway/built-process.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

const hourMs = 3_600_000;
const faults = new Faults();
let gateway: SettledGateway;
let viewer: Member;
let operator: Member;
let second: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: faults.outside(),
    settings: { VENUE_LOSS_LIMIT_USD: '100' },
  });
  viewer = await newMember(gateway, 'viewer');
  operator = await newMember(gateway, 'operator');
  second = await newMember(gateway, 'operator');
});
afterAll(() => gateway?.stop());
afterEach(async () => {
  faults.signerAway = false;
  // No test inherits a hold.
  for (const { id, isStanding } of await holds()) await resume(id, isStanding);
});

interface Hold {
  readonly id: string;
  readonly cause: string;
  readonly coin: string | null;
  readonly network: string | null;
  readonly detail: string;
  readonly isStanding: boolean;
  readonly waiting: number;
}

async function holds(): Promise<Hold[]> {
  const { payoutBrakes } = await viewer.data(
    '{ payoutBrakes { holds { id cause coin network detail isStanding waiting openedBy { email } } } }',
  );
  return payoutBrakes.holds;
}

const resumption = `mutation ($id: ID!, $acknowledge: Boolean!) {
  payoutResume(holdId: $id, acknowledge: $acknowledge, reason: "checked at") { id state action hold { id } } }`;
const approval =
  'mutation ($id: ID!) { actionApprove(id: $id, reason: "checked") { state hold { closedAt isAcknowledged } } }';
const stopping = `mutation ($coin: String, $network: String) {
  payoutStop(coin: $coin, network: $network, reason: "odd payouts") { id cause coin openedBy { email } } }`;

async function resume(id: string, acknowledge: boolean): Promise<void> {
  const { payoutResume } = await operator.data(resumption, { id, acknowledge });
  await second.data(approval, { id: payoutResume.id });
}

const toLtc = { coin_to: 'LTC', network_to: 'LTC', recipient_address: addressExample('LTC') };

/** Orders whose deposits are credited, and everything that is due done. */
async function paidIn(...changes: Record<string, unknown>[]): Promise<MadeOrder[]> {
  const orders: MadeOrder[] = [];
  for (const change of changes) {
    const order = await gateway.order(change);
    await gateway.deposit(order);
    orders.push(order);
  }
  for (let block = 0; block < 3; block++) {
    await gateway.mine('BTC');
    await gateway.tick();
  }
  return orders;
}

async function states(orders: readonly MadeOrder[]): Promise<string[]> {
  const rows = await gateway.query<{ state: string }>(
    'select state from payment where order_id = any($1) order by array_position($1::uuid[], order_id)',
    [orders.map(({ id }) => id)],
  );
  return rows.map(({ state }) => state);
}

async function finish(orders: readonly MadeOrder[]): Promise<void> {
  for (const order of orders) await gateway.settle(order);
  for (const order of orders) expect((await gateway.show(order)).status).toBe('completed');
}

/** Reconciles by the clock, as a worker does. */
async function reconciled(): Promise<void> {
  gateway.clock.advance(hourMs);
  expect(await gateway.settlement.reconciliations?.runIfDue()).toBe(true);
}

/** As a mistake of ours would: the ledger believes in coins that the hot wallet does not hold. */
async function misbook(reference: string, amount: string): Promise<void> {
  const asset = { coin: 'USDT', network: 'TRC20' };
  await gateway.app.orm.em.fork().transactional(async (em) => {
    const lines = [line('hot', asset, amount), line('opening', asset, minus(amount))];
    await book(em, { kind: 'opening', reference, orderId: null, at: gateway.clock.now(), lines });
  });
}

const checked = async (): Promise<void> => {
  gateway.clock.advance(61_000);
  expect(await gateway.settlement.payoutWatch.runIfDue()).toBe(true);
};

describe('a member of staff', () => {
  it('stops all payouts at once; what is signed goes on, and what is not is revoked', async () => {
    const [signed] = await paidIn({});
    expect(await states([signed as MadeOrder])).toEqual(['sent']);
    faults.signerAway = true;
    const [prepared] = await paidIn(toLtc);
    expect(await states([prepared as MadeOrder])).toEqual(['prepared']);
    expect(kinds(await viewer.ask(stopping, {}))).toEqual(['insufficient_role']);
    expect(kinds(await operator.ask(stopping, { coin: 'BTC' }))).toEqual(['missing_field']);
    expect(kinds(await operator.ask(stopping, { coin: 'BTC', network: 'TRC20' }))).toEqual(['currency_not_found']);
    const { payoutStop } = await operator.data(stopping);
    expect(payoutStop).toMatchObject({ cause: 'STAFF', coin: null, openedBy: { email: operator.email } });
    expect(kinds(await second.ask(stopping))).toEqual(['already_exists']);

    faults.signerAway = false;
    gateway.clock.advance(5_000);
    const [begun] = await paidIn({});
    expect(await states([prepared as MadeOrder, begun as MadeOrder])).toEqual(['ready', 'ready']);
    const [row] = await gateway.query('select begun_at from payment where order_id = $1', [prepared?.id]);
    expect(row).toEqual({ begun_at: null });
    await finish([signed as MadeOrder]);
    expect(await states([begun as MadeOrder])).toEqual(['ready']);

    await resume(payoutStop.id, false);
    await finish([prepared as MadeOrder, begun as MadeOrder]);
    const { auditLog } = await operator.data(
      `query ($target: String) { auditLog(target: $target) { edges { node { operation actor { email } } } } }`,
      { target: `hold:${payoutStop.id}` },
    );
    expect(auditLog.edges.map(({ node }: { node: unknown }) => node)).toEqual([
      { operation: 'actionApprove', actor: { email: second.email } },
      { operation: 'payoutResume', actor: { email: operator.email } },
      { operation: 'payoutStop', actor: { email: operator.email } },
    ]);
  });

  it('cannot end a hold alone in the database either', async () => {
    const { payoutStop } = await operator.data(stopping, { coin: 'BTC', network: 'BTC' });
    const alone = gateway.query(
      'update payout_hold set closed_at = now(), proposed_by = $2, closed_by = $2 where id = $1',
      [payoutStop.id, operator.id],
    );
    await expect(alone).rejects.toThrow('payout_hold_check');
    await expect(gateway.query('delete from payout_hold where id = $1', [payoutStop.id])).rejects.toThrow();
  });

  it('keeps the name of a finding with commas, quotes and control characters, and the text NULL', async () => {
    const clock = { now: () => new Date(0) };
    const { orm, log } = gateway.app;
    const checks = new PayoutHolds(orm, clock, log);
    const names = ['a,\nb', '"\t"', '\\{}\u0001', 'NULL', 'null', ' ', ''];
    const found = names.map((name) => ({ asset: null, name, detail: 'odd' }));
    const stored = () =>
      gateway.query<{ findings: string[]; changed_at: Date }>(
        'select to_jsonb(findings) as findings, changed_at from payout_hold where closed_at is null',
      );
    await checks.checked('reconciliation', found);
    const opened = await stored();
    expect(opened).toMatchObject([{ findings: names }]);
    await checks.checked('reconciliation', found.toReversed());
    expect(await stored()).toEqual([{ ...opened[0], findings: names.toReversed() }]);
  });
});

/** The command line, on the gateway's database. */
const cli = (...args: string[]) => commandLine(gateway.databaseUrl, ['payouts', ...args]);

describe('the command line', () => {
  it('stops payouts and shows what keeps them back', async () => {
    const stopped = await cli('stop', '--coin', 'USDT', '--network', 'TRC20', '--reason', 'no staff at hand', '--json');
    expect(JSON.parse(stopped.output)).toMatchObject({ asset: 'USDT on TRC20' });
    const [order] = await paidIn({});
    const status = JSON.parse((await cli('status', '--json')).output);
    expect(status.holds).toMatchObject([
      { asset: 'USDT on TRC20', cause: 'staff', waiting: 1, detail: 'no staff at hand' },
    ]);
    expect(status.limits).toContainEqual(expect.objectContaining({ asset: 'all assets', of_hour: 3_000_000 }));
    expect((await cli('stop', '--coin', 'USDT', '--reason', 'x')).errors).toContain('--network');
    const [hold] = await holds();
    await resume(hold?.id ?? '', false);
    await finish([order as MadeOrder]);
  });
});

describe('payouts of an asset are held', () => {
  it('when the ledger differs there, until two members let them go on', async () => {
    await reconciled();
    expect(await holds()).toEqual([]);
    await misbook('mistake', '5');
    await reconciled();
    const [hold] = await holds();
    expect(await holds()).toMatchObject([
      { cause: 'RECONCILIATION', coin: 'USDT', network: 'TRC20', isStanding: true },
    ]);
    expect(hold?.detail).toContain('hot: USDT on TRC20');
    const orders = await paidIn({}, toLtc);
    expect(await states(orders)).toEqual(['ready', 'sent']);
    expect(await holds()).toMatchObject([{ waiting: 1 }]);
    const { attention } = await viewer.data('{ attention { kind subjectId detail } }');
    expect(attention).toContainEqual(expect.objectContaining({ kind: 'PAYOUT_HOLD', subjectId: hold?.id }));
    const metrics = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    expect(metrics).toContain('gateway_payout_holds{cause="reconciliation"} 1');
    expect(metrics).toContain('gateway_payouts_held 1');

    // The cause stands, so it takes an acknowledgement and another member.
    const id = hold?.id ?? '';
    const blind = await operator.ask(resumption, { id, acknowledge: false });
    expect(kinds(blind)).toEqual(['action_not_possible']);
    expect(blind.errors[0]?.message).toContain('the cause still stands: hot: USDT on TRC20');
    const { payoutResume } = await operator.data(resumption, { id, acknowledge: true });
    expect(kinds(await operator.ask(approval, { id: payoutResume.id }))).toEqual(['second_member_needed']);
    // More is found meanwhile than was proposed to be acknowledged.
    await misbook('another', '1');
    await reconciled();
    expect(kinds(await second.ask(approval, { id: payoutResume.id }))).toEqual(['action_not_possible']);
    await operator.data('mutation ($id: ID!) { actionReject(id: $id, reason: "more") { state } }', {
      id: payoutResume.id,
    });
    await gateway.tick();
    expect(await states(orders)).toEqual(['ready', 'sent']);
    const again = await operator.data(resumption, { id, acknowledge: true });
    const { actionApprove } = await second.data(approval, { id: again.payoutResume.id });
    expect(actionApprove).toMatchObject({ state: 'DONE', hold: { isAcknowledged: true } });
    await finish(orders);

    // What was acknowledged opens nothing, and what is new does.
    await reconciled();
    expect(await holds()).toEqual([]);
    await misbook('third', '-2');
    await reconciled();
    expect(await holds()).toMatchObject([{ detail: expect.stringContaining('hot: USDT on TRC20') }]);
    await misbook('mended', '-4');
    await reconciled();
    const [mended] = await holds();
    expect(mended).toMatchObject({ isStanding: false });
    await resume(mended?.id ?? '', false);
    expect(await holds()).toEqual([]);
  });

  it('not by dust that a stranger sends to the hot wallet past the scanner', async () => {
    await misbook('as if a contract had sent dust', '-0.000001');
    await reconciled();
    gateway.clock.advance(60_000);
    const metrics = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    expect(metrics).toContain('gateway_ledger_differences{check="hot"} 1');
    expect(await holds()).toEqual([]);
    await finish(await paidIn({}));
    await misbook('as if it had sent none', '0.000001');
    await reconciled();
  });

  it('all of them, when a difference names no asset', async () => {
    const [order] = await paidIn({});
    await finish([order as MadeOrder]);
    await gateway.query('alter table exchange_order disable trigger user');
    await gateway.query(`update exchange_order set status = 'failed' where id = $1`, [order?.id]);
    await reconciled();
    expect(await holds()).toMatchObject([{ cause: 'RECONCILIATION', coin: null, isStanding: true }]);
    const others = await paidIn({}, toLtc);
    expect(await states(others)).toEqual(['ready', 'ready']);
    await gateway.query(`update exchange_order set status = 'completed' where id = $1`, [order?.id]);
    await gateway.query('alter table exchange_order enable trigger user');
    await reconciled();
    const [hold] = await holds();
    await resume(hold?.id ?? '', false);
    await finish(others);
  });

  it('when a client account is in debit for a minute', async () => {
    const [order] = await paidIn({});
    await finish([order as MadeOrder]);
    await checked();
    expect(await holds()).toEqual([]);
    const asset = { coin: 'BTC', network: 'BTC' };
    await gateway.app.orm.em.fork().transactional(async (em) => {
      const lines = [line('client', asset, '0.01'), line('deposits', asset, '-0.01')];
      const at = gateway.clock.now();
      await book(em, { kind: 'deposit_reversal', reference: 'double-spend', orderId: order?.id ?? '', at, lines });
    });
    gateway.clock.advance(31_000);
    expect(await gateway.settlement.payoutWatch.runIfDue()).toBe(true);
    expect(await holds()).toEqual([]);
    await checked();
    const [hold] = await holds();
    expect(hold).toMatchObject({ cause: 'CLIENT_DEBIT', coin: 'BTC', network: 'BTC', isStanding: true });
    expect(hold?.detail).toMatch(/^order XP-\S+ was paid 0\.01 BTC more than it brought$/);
    // Long after the booking, the debit is still known.
    gateway.clock.advance(hourMs);
    await checked();
    expect(await holds()).toMatchObject([{ id: hold?.id, isStanding: true }]);
    await gateway.app.orm.em.fork().transactional(async (em) => {
      const lines = [line('client', asset, '-0.01'), line('deposits', asset, '0.01')];
      const at = gateway.clock.now();
      await book(em, { kind: 'deposit', reference: 'returned', orderId: order?.id ?? '', at, lines });
    });
    await checked();
    expect(await holds()).toMatchObject([{ id: hold?.id, isStanding: false }]);
  });

  it('when exchanges for it lost more than the set amount within a day', async () => {
    const orders = await paidIn({}, {}, {}, toLtc);
    await finish(orders);
    /** Stores a trade at an exchange that is over, and lost this many dollars when it sold. */
    const lose = async (order: MadeOrder | undefined, usd: number): Promise<void> => {
      await gateway.query(
        `insert into venue_trade (client_id, venue, sell_coin, sell_amount, buy_coin, buy_amount, min_buy_amount, cash,
           price_sell, price_buy, price_cash, max_loss, valid_until, outcome, bought, created_at, decided_at, squared_at)
         values ($1, 'kraken', 'BTC', 0.01, 'USDT', 640, 640, 'USD', 64000, 1, 1, 640, $2, 'filled', 640, $2, $2, $2)`,
        [order?.id, gateway.clock.now()],
      );
      await gateway.query(
        `insert into venue_order (id, client_id, leg, number, base, quote, side, amount, limit_price, not_after, sent_at,
           state, filled, cost, fees)
         select gen_random_uuid(), $1, leg, 1, base, 'USD', side, filled, 1, $2, $2, 'closed', filled, cost, '[]'
           from (values ('main', 'USDT', 'buy', 640, 640), ('sale', 'BTC', 'sell', 0.01, 640 - $3::numeric))
             as o (leg, base, side, filled, cost)`,
        [order?.id, gateway.clock.now(), usd],
      );
    };
    await lose(orders[0], 60);
    await lose(orders[3], -5);
    await checked();
    expect(await holds()).toEqual([]);
    await lose(orders[1], 80);
    await checked();
    expect(await holds()).toMatchObject([
      {
        ...{ cause: 'VENUE_LOSS', coin: 'USDT', network: 'TRC20' },
        detail: 'exchanges lost 135.00 US dollars in 24 hours, 140.00 of them here',
      },
    ]);
    const [hold] = await holds();
    await resume(hold?.id ?? '', true);
    await checked();
    expect(await holds()).toEqual([]);
    await lose(orders[2], 90);
    await checked();
    expect(await holds()).toMatchObject([{ cause: 'VENUE_LOSS', coin: 'USDT' }]);
    gateway.clock.advance(25 * hourMs);
    await checked();
    expect(await holds()).toMatchObject([{ isStanding: false }]);
  });

  it('when a price that one admin set by hand lets our own inventory lose more than that', async () => {
    gateway.clock.advance(25 * hourMs);
    await checked();
    for (const { id, isStanding } of await holds()) await resume(id, isStanding);
    await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    const admin = await newMember(gateway, 'admin');
    const quote =
      '{ quote(input: { coinFrom: "BTC", networkFrom: "BTC", coinTo: "USDT", networkTo: "TRC20", amount: "1" }) { rate } }';
    const market = new Big((await viewer.data(quote)).quote.rate);
    await admin.data(
      'mutation ($input: PriceOverrideInput!) { priceOverride(input: $input, reason: "for a friend") { price } }',
      {
        input: {
          coinFrom: 'BTC',
          coinTo: 'USDT',
          price: floorTo(market.times('1.02'), 6).toFixed(),
          endsAt: new Date(gateway.clock.now().getTime() + hourMs),
        },
      },
    );
    await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    await finish(await paidIn({ amount_from: 0.2 }));
    await checked();
    expect(await holds()).toMatchObject([{ cause: 'VENUE_LOSS', coin: 'USDT', network: 'TRC20' }]);
    // An exchange counts from when it filled, however long before that it was decided.
    await gateway.query("update trade set created_at = created_at - interval '25 hours'");
    await checked();
    expect(await holds()).toMatchObject([{ cause: 'VENUE_LOSS', coin: 'USDT', isStanding: true }]);
  });
});
