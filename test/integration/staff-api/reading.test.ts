import { parse, validate } from 'graphql';
import { Big } from '../../../src/base/money.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { buildStaffSchema } from '../../../src/surfaces/graphql/schema.ts';
import { exampleQueries } from '../../../src/surfaces/internal/example-queries.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import {
  failedOrder,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

let gateway: SettledGateway;
let viewer: Awaited<ReturnType<typeof newMember>>;
let support: typeof viewer;
let completed: MadeOrder;
let waiting: MadeOrder;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
  completed = await gateway.order({ amount_from: 0.01, rate_type: 'fixed' });
  await gateway.deposit(completed, { amount: '0.015' });
  await gateway.settle(completed);
  waiting = await gateway.order();
});
afterAll(() => gateway?.stop());

const everything = `
  id shortId status createdAt expiresAt updatedAt nextActionAt coinFrom networkFrom coinTo networkTo rateType
  amountFromExpected amountToExpected amountFromActual amountToActual recipientAddress recipientAddressTag refundAddress
  refundAddressTag depositAddress depositAddressTag depositTxid depositConfirmations depositConfirmationsRequired payoutTxid
  partner { id name status pricing { float fixed } }
  terms { rate feeRate serviceFee networkFee minAmount maxAmount }
  hold { since reason }
  events { seq at fromStatus toStatus cause actor detail }
  externalId metadata { key value } policy { onLate onUnderpaid onOverpaid onPriceMoved } minAmountTo
  quote { nonce mid serviceFee markup networkFee adverseBps } markup { bps amount }
  questions { seq reason amount amountFrom askedAt deadline outcome endedAt actor amountTo }
  deposits { id txid address amount state height confirmationsRequired payments { id } }
  trade { venue state amountFrom amountTo serviceFee networkFee minBought bought tries }
  payments { id kind leg state amount address attempts { attempt txid fee reserves sentAt } }
  notes { text author { email } }`;

describe('an order', () => {
  it('is returned whole, with every digit', async () => {
    const { order } = await viewer.data(`query ($id: ID!) { order(id: $id) { ${everything} } }`, { id: completed.id });
    const rest = await gateway.show(completed);
    expect(order).toMatchObject({
      id: completed.id,
      shortId: rest.short_id,
      status: 'COMPLETED',
      rateType: 'FIXED',
      amountFromExpected: '0.01',
      amountToExpected: completed.amountTo,
      amountFromActual: '0.01',
      amountToActual: completed.amountTo,
      depositTxid: rest.deposit_txid,
      payoutTxid: rest.payout_txid,
      hold: null,
    });
    expect(order.events.map(({ cause }: { cause: string }) => cause)).toEqual([
      'CREATED',
      'DEPOSIT_SEEN',
      'DEPOSIT_CONFIRMED',
      'EXTRA_REFUND_DECIDED',
      'LIQUIDITY_BOUGHT',
      'EXTRA_REFUND_CONFIRMED',
      'PAYOUT_CONFIRMED',
    ]);
    expect(order.payments).toMatchObject([
      { kind: 'PAYOUT', leg: 'MAIN', state: 'CONFIRMED', amount: completed.amountTo, attempts: [{ attempt: 1 }] },
      { kind: 'REFUND', leg: 'EXCESS', state: 'CONFIRMED' },
    ]);
    expect(order.deposits).toMatchObject([{ amount: '0.015', state: 'CREDITED' }]);
    expect(order.deposits[0].payments).toHaveLength(2);
    const { rate, serviceFee, networkFee } = order.terms;
    expect(new Big(rate).gt('0') && new Big(serviceFee).gt('0') && new Big(networkFee).gte('0')).toBe(true);
  });

  it('has the URI of its payment while it waits, and no explorer in a sandbox', async () => {
    const query = `query ($id: ID!) { order(id: $id) {
      paymentUri deposits { explorerUrl } payments { explorerUrl }
    } }`;
    const { order } = await viewer.data(query, { id: waiting.id });
    expect(order.paymentUri).toBe(`bitcoin:${waiting.depositAddress}?amount=${waiting.amountFrom}`);
    const { order: done } = await viewer.data(query, { id: completed.id });
    expect(done.paymentUri).toBeNull();
    expect([...done.deposits, ...done.payments].map(({ explorerUrl }) => explorerUrl)).toEqual([null, null, null]);
  });

  it('is found by its short id in either case, and an unknown one is not', async () => {
    const { short_id: shortId } = await gateway.show(waiting);
    const query = 'query ($id: ID!) { order(id: $id) { id } }';
    expect((await viewer.data(query, { id: shortId.toLowerCase() })).order.id).toBe(waiting.id);
    for (const id of ['XP-AAAAAA', 'x', '00000000-0000-7000-8000-000000000000', "'; drop table partner; --"]) {
      const { data, errors } = await viewer.ask(query, { id });
      expect(data).toBeNull();
      expect(errors).toMatchObject([{ path: ['order'], extensions: { code: 'NOT_FOUND', kind: 'order_not_found' } }]);
    }
  });

  it('shows its ledger lines, which sum to zero', async () => {
    const { order } = await support.data(
      'query ($id: ID!) { order(id: $id) { ledgerLines { kind at account coin network amount } } }',
      { id: completed.id },
    );
    const sums = Map.groupBy(order.ledgerLines as { coin: string; amount: string }[], ({ coin }) => coin);
    expect(sums.size).toBeGreaterThanOrEqual(2);
    for (const lines of sums.values()) {
      expect(lines.reduce((sum, { amount }) => sum.plus(amount), new Big('0')).eq('0')).toBe(true);
    }
  });
});

describe('the list of orders', () => {
  const list = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: OrderFilter, $orderBy: OrderOrder) {
    orders(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
      edges { cursor node { id status } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      count { value isExact }
    }
  }`;

  it('is filtered, counted and paged both ways', async () => {
    const made = [];
    for (let i = 0; i < 5; i++)
      made.push((await gateway.order({ coin_from: 'ETH', network_from: 'ETH', amount_from: 1 })).id);
    made.reverse();
    const filter = { coinFrom: 'ETH' };
    const first = await viewer.data(list, { first: 2, filter });
    const ids = (data: typeof first) => data.orders.edges.map(({ node }: { node: { id: string } }) => node.id);
    expect(ids(first)).toEqual(made.slice(0, 2));
    expect(first.orders.count).toEqual({ value: 5, isExact: true });
    expect(first.orders.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = await viewer.data(list, { first: 10, after: first.orders.pageInfo.endCursor, filter });
    expect(ids(second)).toEqual(made.slice(2));
    expect(second.orders.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = await viewer.data(list, { last: 1, before: second.orders.pageInfo.startCursor, filter });
    expect(ids(back)).toEqual(made.slice(1, 2));
    const oldest = await viewer.data(list, { first: 1, filter, orderBy: { field: 'CREATED_AT', direction: 'ASC' } });
    expect(ids(oldest)).toEqual(made.slice(4));
  });

  it('is searched by short id, transaction and address', async () => {
    const { payout_txid: txid, short_id: shortId } = await gateway.show(completed);
    for (const search of [shortId, shortId.slice(3), txid, txid.slice(0, 12), completed.depositAddress, completed.id]) {
      const { orders } = await viewer.data(list, { filter: { search } });
      expect(orders.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual([completed.id]);
    }
  });

  it('says what is wrong with a page or a filter', async () => {
    const wrong = [
      { first: 0 },
      { first: 101 },
      { last: 101 },
      { first: 5, last: 5 },
      { first: 5, before: 'x' },
      { first: 5, after: 'x' },
      { filter: { search: 'abc' } },
      { filter: { minAmount: '1' } },
      { filter: { partnerId: 'x' } },
    ];
    for (const variables of wrong) {
      const { errors } = await viewer.ask(list, variables);
      expect({ variables, code: errors[0]?.extensions }).toMatchObject({
        code: { code: 'BAD_USER_INPUT', kind: 'invalid_value' },
      });
    }
  });

  it('say whether their page has a link', async () => {
    const { id } = await gateway.order();
    const operator = await newMember(gateway, 'operator');
    const query = `query ($id: ID!) { order(id: $id) { hasPageLink partner { id } } }`;
    const { order } = await viewer.data(query, { id });
    await gateway.partners.change(order.partner.id, { orderPage: true, displayName: 'Shop' });
    const found = [order.hasPageLink];
    for (const change of ['orderPageRenew', 'orderPageRevoke']) {
      await operator.data(`mutation { ${change}(orderId: "${id}", reason: "x") { id } }`);
      found.push((await viewer.data(query, { id })).order.hasPageLink);
    }
    expect(found).toEqual([false, true, false]);
  });

  it('costs the same number of statements for ten orders and for a hundred', async () => {
    for (let i = 0; i < 100; i++) await gateway.order();
    const query = `query ($first: Int) { orders(first: $first) { edges { node {
      id partner { name } events { seq author: actor } deposits { txid payments { id } } payments { id attempts { txid } }
      trade { state } notes { text author { email } } hasPageLink
    } } } }`;
    const count = (first: number) =>
      readingStatements(statements, async () => {
        const { orders } = await viewer.data(query, { first });
        expect(orders.edges).toHaveLength(first);
      });
    const ofTen = await count(10);
    expect(await count(100)).toBe(ofTen);
    expect(ofTen).toBeLessThanOrEqual(13);
  });
});

describe('other queries of staff', () => {
  it('quotes as a partner would get it', async () => {
    const { id, key } = await gateway.partner();
    await gateway.partners.change(id, { feeRateFloat: '0.1' });
    const query = `query ($input: QuoteInput!) { quote(input: $input) {
      coinFrom networkFrom coinTo networkTo rateType amountFrom amountTo rate feeRate serviceFee networkFee minAmount maxAmount expiresIn } }`;
    const input = { coinFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRC20', amount: '0.01' };
    const { quote } = await viewer.data(query, { input: { ...input, partnerId: id } });
    const rest = await gateway.call(
      'GET',
      '/partner/rates?coin_from=BTC&network_from=BTC&coin_to=USDT&network_to=TRC20&amount=0.01',
      { key },
    );
    expect(rest.text).toContain(`"rate":${quote.rate}`);
    expect(quote).toMatchObject({ feeRate: '0.1', amountFrom: '0.01', expiresIn: null });
    const { quote: fixed } = await viewer.data(query, { input: { ...input, amount: null, rateType: 'FIXED' } });
    expect(fixed.amountFrom).toBe(fixed.minAmount);
    expect(fixed.expiresIn).toBeGreaterThanOrEqual(0);
    const { errors } = await viewer.ask(query, { input: { ...input, amount: '0.00000001', partnerId: id } });
    expect(errors).toMatchObject([{ extensions: { kind: 'amount_below_min', min_amount: quote.minAmount } }]);
  });

  it('returns statistics, and usage of a partner', async () => {
    await feedCatchesUp(gateway.query);
    await new OrderStats(gateway.app.orm).rollUp();
    const now = gateway.clock.now().getTime();
    const variables = { from: new Date(now - 86_400_000), to: new Date(now + 3_600_000) };
    const { stats } = await viewer.data(
      `query ($from: DateTime!, $to: DateTime!) { stats(from: $from, to: $to, interval: DAY) {
         series { at key created completed conversion volumeUsd revenueUsd }
         timeInState { status count meanSeconds } failures { status cause count } } }`,
      variables,
    );
    const total = stats.series.reduce((sum: number, { created }: { created: number }) => sum + created, 0);
    const [{ count }] = (await gateway.query<{ count: number }>(
      'select count(*)::int as count from exchange_order',
    )) as [{ count: number }];
    expect(total).toBe(count);
    const day = stats.series.find((row: { completed: number }) => row.completed === 1);
    expect(new Big(day.volumeUsd).gt('100') && new Big(day.revenueUsd).gt('0')).toBe(true);
    expect(stats.timeInState.map(({ status }: { status: string }) => status)).toContain('CONFIRMING');
    const { partners } = await viewer.data('{ partners { name usage { created } } }');
    const used = partners.flatMap(({ usage }: { usage: { created: number }[] }) => usage.map(({ created }) => created));
    expect(used.reduce((sum: number, created: number) => sum + created, 0)).toBe(count);
  });

  it('lists what needs attention', async () => {
    const order = await failedOrder(gateway);
    const query = '{ attention { id kind subjectId since detail order { id status } } }';
    const { attention } = await viewer.data(query);
    expect(attention).toContainEqual(
      expect.objectContaining({ kind: 'FAILED_ORDER', order: { id: order.id, status: 'FAILED' } }),
    );
    const { orders } = await viewer.data('{ orders(filter: { needsAttention: true }) { edges { node { id } } } }');
    expect(orders.edges).toContainEqual({ node: { id: order.id } });
  });

  it('shows the state of workers, chains and jobs', async () => {
    const { system } = await viewer.data(
      `{ system { chains { chain head height lag problem leaseOwner scannedAt } workers { id seenAt }
         queues { name waiting oldestSec } overdueOrders statistics { eventsBehind rolledAt } prices { coin ageSec } } }`,
    );
    const bitcoin = system.chains.find(({ chain }: { chain: string }) => chain === 'bitcoin');
    expect(bitcoin).toMatchObject({ lag: 0, problem: null });
    expect(system.workers).toHaveLength(1);
    expect(system.prices.length).toBeGreaterThan(30);
  });

  it('shows balances of the ledger, now and as they were', async () => {
    const query = 'query ($at: DateTime) { ledgerBalances(at: $at) { account coin network balance partner { name } } }';
    const now = (await support.data(query)).ledgerBalances;
    expect(now).toContainEqual(expect.objectContaining({ account: 'DEPOSITS', coin: 'BTC', partner: null }));
    const sums = new Map<string, Big>();
    for (const { coin, network, balance } of now) {
      const asset = `${coin} ${network}`;
      sums.set(asset, (sums.get(asset) ?? new Big('0')).plus(balance));
    }
    expect([...sums].filter(([, sum]) => !sum.eq('0'))).toEqual([]);
    const { ledgerBalances } = await support.data(query, { at: '2020-01-01T00:00:00Z' });
    expect(ledgerBalances).toEqual([]);
  });

  it('shows keys to support, and never a secret', async () => {
    const scopes = ['orders:create', 'rates:read'] as const;
    const { id, key, keyId } = await gateway.partner({ label: 'shop', scopes });
    const { partner } = await support.data(
      'query ($id: ID!) { partner(id: $id) { keys { keyId last4 label scopes allowedCidrs createdAt expiresAt revokedAt lastUsedAt } } }',
      { id },
    );
    expect(partner.keys).toMatchObject([
      { keyId, label: 'shop', last4: key.slice(-4), scopes: ['ORDERS_CREATE', 'RATES_READ'] },
    ]);
    expect(JSON.stringify(partner)).not.toContain(key.split('.')[1]);
    const { errors } = await viewer.ask('query ($id: ID!) { partner(id: $id) { keys { keyId } } }', { id });
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', kind: 'insufficient_role' } }]);
  });

  it('returns the member who asks', async () => {
    const { me } = await viewer.data('{ me { id email role permissions } }');
    expect(me).toMatchObject({ id: viewer.id, email: viewer.email, role: 'VIEWER' });
    expect(me.permissions).toContain('orders:read');
    expect(me.permissions).not.toContain('staff:write');
  });
});

describe('the example queries of the playground', () => {
  const examples = exampleQueries(new Date());

  it.each(
    examples.map((example) => [/(?:query|subscription) (\w+)/.exec(example.query)?.[1] ?? '', example] as const),
  )('%s runs as it stands', async (name, { query, variables }) => {
    expect(name).not.toBe('');
    if (/^subscription/m.test(query)) {
      expect(validate(await buildStaffSchema(), parse(query))).toEqual([]);
      return;
    }
    const { errors, data } = await viewer.ask(query, JSON.parse(variables ?? '{}'));
    expect(errors).toEqual([]);
    expect(Object.values(data as object)).not.toContain(null);
  });
});
