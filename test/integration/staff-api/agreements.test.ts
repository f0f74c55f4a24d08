import { readingStatements } from '../../support/database/statement-count.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { kinds, type Member, newMember } from '../../support/staff/staff-client.ts';

// What staff see of an order's agreement with its partner, and what they set of a partner's terms.

let gateway: SettledGateway;
let partnerId: string;
let viewer: Member;
let support: Member;
let operator: Member;
let admin: Member;
let asked: MadeOrder;
let quoteNonce: string | undefined;
let plain: MadeOrder;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
  operator = await newMember(gateway, 'operator');
  admin = await newMember(gateway, 'admin');
  const pair = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20' };
  const body = { ...pair, rate_type: 'fixed', amount_from: 0.1, markup_bps: 40 };
  const { json: quote } = await gateway.call('POST', '/partner/quotes', { key: gateway.key, body });
  asked = await gateway.order({
    amount_from: 0.1,
    rate_type: 'fixed',
    quote_id: quote.quote_id,
    external_id: 'Invoice/881-A',
    metadata: { user: 'u_17', note: 'ü {}' },
    policy: { on_underpaid: 'ask' },
    min_amount_to: 1,
  });
  [{ nonce: quoteNonce } = { nonce: '' }] = await gateway.query<{ nonce: string }>(
    `select encode(quote_nonce, 'hex') as nonce from order_terms where order_id = $1`,
    [asked.id],
  );
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from exchange_order');
  partnerId = row?.partner_id ?? '';
  await gateway.deposit(asked, { amount: '0.06' });
  for (let round = 0; round < 4; round++) {
    await gateway.tick();
    await gateway.mine('BTC');
  }
  plain = await gateway.order();
});
afterAll(() => gateway?.stop());

const agreement = `externalId metadata { key value } policy { onLate onUnderpaid onOverpaid onPriceMoved } minAmountTo
  quote { nonce mid serviceFee markup networkFee adverseBps } markup { bps amount } questions { reason outcome }`;
const orderQuery = `query ($id: ID!) { order(id: $id) { status ${agreement} } }`;
const booked = `query ($id: ID!) { order(id: $id) {
  markupAccrual { at amount coin network } ledgerLines { kind account amount coin partner { id } } } }`;

async function detailsOf({ id }: MadeOrder) {
  const headers = { Amounts: 'string' };
  return (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key, headers })).json;
}

describe('an order with an agreement', () => {
  it('shows quote, reference, policy, questions and markup while it waits for an answer', async () => {
    const { order } = await viewer.data(orderQuery, { id: asked.id });
    const { terms } = await detailsOf(asked);
    expect(order).toEqual({
      status: 'CONFIRMING',
      externalId: 'Invoice/881-A',
      metadata: expect.arrayContaining([
        { key: 'user', value: 'u_17' },
        { key: 'note', value: 'ü {}' },
      ]),
      policy: { onLate: null, onUnderpaid: 'ask', onOverpaid: null, onPriceMoved: null },
      minAmountTo: '1',
      quote: {
        nonce: quoteNonce,
        mid: expect.any(String),
        serviceFee: terms.service_fee,
        markup: terms.partner_markup,
        networkFee: terms.network_fee,
        adverseBps: expect.any(String),
      },
      markup: { bps: 40, amount: terms.partner_markup },
      questions: [{ reason: 'underpaid', outcome: null }],
    });
    expect(order.quote.mid).toBe(terms.mid);
    expect((await support.data(booked, { id: asked.id })).order.markupAccrual).toBeNull();
  });

  it('shows its answer, what was earned and booked, once it is completed', async () => {
    const { action_required: question } = await detailsOf(asked);
    const offer = question.actions.find(({ action }: { action: string }) => action === 'exchange');
    const answer = await gateway.call('POST', `/partner/orders/${asked.id}/actions`, {
      key: gateway.key,
      headers: { Amounts: 'string' },
      body: { action_id: question.id, action: 'exchange', amount_to: offer.amount_to },
    });
    expect(answer.status).toBe(200);
    await gateway.settle(asked);
    const { order } = await viewer.data(orderQuery, { id: asked.id });
    expect(order).toMatchObject({ status: 'COMPLETED', questions: [{ reason: 'underpaid', outcome: 'exchange' }] });
    const { order: seen } = await support.data(booked, { id: asked.id });
    expect(seen.markupAccrual).toMatchObject({ amount: order.markup.amount, coin: 'USDT', network: 'TRC20' });
    const lines = seen.ledgerLines.filter(({ kind }: { kind: string }) => kind === 'markup');
    const [entry] = await gateway.query<{ amount: string }>(
      'select trim_scale(amount)::text as amount from commission_entry where order_id = $1',
      [asked.id],
    );
    const line = { kind: 'markup', partner: null };
    expect(lines).toEqual([
      { ...line, account: 'MARKUP', amount: order.markup.amount, coin: 'USDT' },
      { ...line, account: 'TRADING', amount: `-${order.markup.amount}`, coin: 'USDT' },
      { ...line, account: 'TRADING', amount: entry?.amount, coin: 'USDC' },
      { ...line, account: 'PARTNER', amount: `-${entry?.amount}`, coin: 'USDC', partner: { id: partnerId } },
    ]);
    expect(
      kinds(await viewer.ask('query ($id: ID!) { order(id: $id) { markupAccrual { amount } } }', { id: asked.id })),
    ).toEqual(['insufficient_role']);
  });

  it('is found by the beginning of its external id, in either case', async () => {
    for (const search of ['Invoice/881-A', 'invoice/8', 'INVO']) {
      const { orders } = await viewer.data(
        'query ($search: String) { orders(filter: { search: $search }) { edges { node { id } } } }',
        { search },
      );
      expect([search, orders.edges]).toEqual([search, [{ node: { id: asked.id } }]]);
    }
  });

  it('is loaded for a page at once', async () => {
    const query = `query ($first: Int) { orders(first: $first) { edges { node { ${agreement} markupAccrual { amount } } } } }`;
    const count = (first: number) =>
      readingStatements(statements, async () => {
        await support.data(query, { first });
      });
    const of = await count(1);
    for (let i = 0; i < 4; i++) await gateway.order({ markup_bps: 10, external_id: `page-${i}` });
    expect(await count(6)).toBeLessThanOrEqual(of + 1);
  });
});

describe('an order without one', () => {
  it('shows that', async () => {
    const { order } = await viewer.data(orderQuery, { id: plain.id });
    const none = { externalId: null, metadata: [], policy: null, minAmountTo: null, quote: null, markup: null };
    expect(order).toEqual({ status: 'WAITING_DEPOSIT', ...none, questions: [] });
    expect((await support.data(booked, { id: plain.id })).order.markupAccrual).toBeNull();
  });
});

describe('terms of a partner', () => {
  const limits = `mutation ($id: ID!, $limits: LimitsInput!) {
    partnerChange(id: $id, changes: { limits: $limits }, reason: "contract 8") { maxMarkupBps quoteHoldSec quoteAdverseBps quoteCutSince }
  }`;
  const setLimits = (member: Member, changes: object) => member.ask(limits, { id: partnerId, limits: changes });

  it('are set by an admin, and audited', async () => {
    expect(kinds(await setLimits(operator, { markupBps: 100 }))).toEqual(['insufficient_role']);
    expect((await setLimits(admin, { markupBps: 100 })).data.partnerChange).toEqual({
      maxMarkupBps: 100,
      quoteHoldSec: null,
      quoteAdverseBps: null,
      quoteCutSince: null,
    });
    expect(kinds(await setLimits(admin, { quoteHoldSec: 120 }))).toEqual(['invalid_value']);
    await admin.data(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { pricing: { fixed: "0.03" } }, reason: "a longer hold") { id } }',
      { id: partnerId },
    );
    expect((await setLimits(admin, { quoteHoldSec: 120 })).data.partnerChange.quoteHoldSec).toBe(120);
    const entries = await gateway.query<{ change: { before: object; after: object } }>(
      `select jsonb_build_object('before', before, 'after', after) as change from audit_log
        where operation = 'partnerChange' and reason = 'contract 8' and after is not null order by id`,
    );
    expect(entries.map(({ change }) => change)).toMatchObject([
      { before: { maxMarkupBps: null }, after: { maxMarkupBps: 100, quoteHoldSec: null } },
      { before: { quoteHoldSec: null }, after: { maxMarkupBps: 100, quoteHoldSec: 120 } },
    ]);
  });

  it('hold for the default markup of its keys', async () => {
    const issue = `mutation ($id: ID!, $bps: Int) {
      keyIssue(partnerId: $id, key: { label: "m", defaultMarkupBps: $bps }, reason: "x") { keyId key } }`;
    expect(kinds(await operator.ask(issue, { id: partnerId, bps: 101 }))).toEqual(['markup_too_high']);
    const { keyIssue } = await operator.data(issue, { id: partnerId, bps: 100 });
    const body = { coin_from: 'BTC', coin_to: 'XRP', rate_type: 'float', amount_from: 0.01 };
    const { json } = await gateway.call('POST', '/partner/quotes', { key: keyIssue.key, body });
    expect(json.parts.partner_markup).toBeGreaterThan(0);
    const change = `mutation ($key: ID!, $bps: Int) {
      keyChange(keyId: $key, key: { defaultMarkupBps: $bps }, reason: "x") { defaultMarkupBps } }`;
    expect((await operator.data(change, { key: keyIssue.keyId, bps: null })).keyChange.defaultMarkupBps).toBeNull();
    expect(kinds(await operator.ask(change, { key: keyIssue.keyId, bps: 500 }))).toEqual(['markup_too_high']);
    expect(kinds(await setLimits(admin, { markupBps: 501 }))).toEqual(['invalid_value']);
  });
});
