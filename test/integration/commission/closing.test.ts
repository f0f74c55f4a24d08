import { systemClock } from '../../../src/base/clock.ts';
import { Big } from '../../../src/base/money.ts';
import { attention } from '../../../src/orders/read/attention.ts';
import { CommissionClosing } from '../../../src/settlement/commission/commission-closing.ts';
import { CommissionEntries } from '../../../src/settlement/commission/commission-entries.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { closedMonth, earn } from '../../support/gateway/commission-payments.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// What a month of a partner waits for before it is closed.

let gateway: SettledGateway;
let partnerId: string;
beforeEach(async () => {
  gateway = await startSettledGateway({
    clock: new TestClock(new Date('2026-11-20T10:00:00.000Z')),
    settings: { PRICE_MAX_AGE_SEC: '31536000', COMMISSION_MIN_USD: '500' },
  });
  partnerId = (await gateway.partner()).id;
  await earn(gateway, { partnerId, month: '2026-11-01', amount: '0.02' });
});
afterEach(() => gateway?.stop());

const to = (at: string): void => gateway.clock.advance(new Date(at).getTime() - gateway.clock.now().getTime());
const states = async (): Promise<string[]> =>
  (
    await gateway.query<{ state: string }>(
      'select state from commission_statement where partner_id = $1 order by month',
      [partnerId],
    )
  ).map(({ state }) => state);
const compared = (at: string, differences = '{}'): Promise<unknown> =>
  gateway.query(
    `insert into reconciliation (due_at, started_at, ended_at, checks, differences) values ($1, $1, $1, 1, $2)`,
    [at, differences],
  );

it('is closed once the books were compared after its end, and staff are told when they were not', async () => {
  const items = async () =>
    (await attention(gateway.app.orm.em.fork(), 100, gateway.clock.now())).filter(
      ({ kind }) => kind === 'commission_not_closed',
    );
  to('2026-12-01T00:06:00.000Z');
  await gateway.settlement.commission.run();
  expect(await states()).toEqual(['open']);
  await compared('2026-11-30T23:59:59.000Z');
  await gateway.settlement.commission.run();
  expect([await states(), await items()]).toEqual([['open'], []]);
  to('2026-12-01T01:06:00.000Z');
  expect(await items()).toMatchObject([{ subjectId: '2026-11', detail: expect.stringContaining('1 partners') }]);
  await compared('2026-12-01T00:00:01.000Z', '{"commission": 1}');
  await gateway.settlement.commission.run();
  expect(await states()).toEqual(['open']);
  await compared('2026-12-01T01:00:01.000Z');
  await gateway.settlement.commission.run();
  expect([await states(), await items()]).toEqual([['payable', 'open'], []]);
});

it('of the present is not closed by a worker whose clock is fast', async () => {
  const [now] = await gateway.query<{ month: string }>(
    `insert into commission_statement (partner_id, month, coin, network)
     values ($1, date_trunc('month', now() at time zone 'UTC'), 'BTC', 'BTC')
     on conflict (partner_id, month) do update set coin = 'BTC' returning month::text as month`,
    [partnerId],
  );
  const closing = new CommissionClosing({
    ...{ orm: gateway.app.orm, clock: systemClock, log: gateway.app.log, catalogue: gateway.app.catalogue },
    ...{ prices: gateway.app.prices, minimumUsd: 50, isReconciled: false, onClosed: async () => {} },
    entries: new CommissionEntries({ coin: 'USDC', network: 'ERC20' }),
  });
  const fast = jest.spyOn(systemClock, 'now').mockReturnValue(new Date(Date.now() + 40 * 86_400_000));
  await closing.close();
  fast.mockRestore();
  const [row] = await gateway.query<{ state: string }>(
    'select state from commission_statement where partner_id = $1 and month = $2',
    [partnerId, now?.month],
  );
  expect(row?.state).toBe('open');
});

/** Closes the present month of a partner, in BTC, and returns its state. */
async function closed(of: string): Promise<string | undefined> {
  await gateway.query(
    `insert into commission_statement (partner_id, month, coin, network) values ($1, '2026-11-01', 'BTC', 'BTC')
     on conflict do nothing`,
    [of],
  );
  to('2026-12-01T00:06:00.000Z');
  await compared('2026-12-01T00:00:01.000Z');
  await gateway.settlement.commission.run();
  const [row] = await gateway.query<{ state: string }>(
    `select state from commission_statement where partner_id = $1 and month = '2026-11-01'`,
    [of],
  );
  return row?.state;
}

it.each([
  ['rolls, when less than the least amount of its coin is left above the fee', '-0.00000001', 'rolled'],
  ['is due, when the least amount of its coin is left above the fee', '0', 'payable'],
])('of an inactive partner %s', async (_, more, state) => {
  const { id } = await gateway.partner();
  const { networkFee = '', minAmount = '' } = gateway.app.catalogue.find('BTC', 'BTC') ?? {};
  const amount = new Big(networkFee).plus(minAmount).plus(more).toFixed();
  await earn(gateway, { partnerId: id, month: '2026-11-01', amount });
  await gateway.partners.change(id, { status: 'inactive' });
  expect(await closed(id)).toBe(state);
});

it.each([
  [12, 'payable'],
  [11, 'rolled'],
])('whose balance has rolled since %i months is %s, in spite of a month without a balance', async (since, state) => {
  const { id } = await gateway.partner();
  for (let monthsAgo = since; monthsAgo > 0; monthsAgo--) {
    const of = monthsAgo === since ? { balance: '0.0005' } : { opening: '0.0005', balance: '0' };
    await closedMonth(gateway, { partnerId: id, state: monthsAgo === 5 ? 'closed' : 'rolled', monthsAgo, ...of });
  }
  expect(await closed(id)).toBe(state);
});
