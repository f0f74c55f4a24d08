import { attention } from '../../../src/orders/read/attention.ts';
import { SandboxPartner } from '../../support/gateway/sandbox-partner.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';

/** The API of the sandbox: what it answers, and what it leaves alone. */

let partner: SandboxPartner;
beforeAll(async () => {
  partner = await SandboxPartner.start();
});
afterAll(() => partner?.stop());

function call(path: string, body?: object, key = partner.gateway.key): Promise<Reply> {
  return partner.call('POST', `sandbox/${path}`, { key, ...(body ? { body } : {}) });
}

const done = (path: string, body?: object): Promise<Reply['json']> => partner.done(`sandbox/${path}`, body);

const completed = ['created', 'deposit_detected', 'confirmed', 'exchanged', 'completed'];

/** Lets the checks of payouts run until a debit would have lasted. */
const watched = async (): Promise<object[]> => {
  for (let look = 0; look < 3; look += 1) {
    partner.gateway.clock.advance(61_000);
    await partner.gateway.settlement.payoutWatch.runIfDue();
  }
  return partner.gateway.query('select cause, coin, network, detail from payout_hold where closed_at is null');
};
const debits = async (): Promise<string[]> =>
  (await partner.gateway.differences()).filter(({ check }) => check === 'debits').map(({ subject }) => subject);
const debitItems = async (): Promise<object[]> => {
  const { app, clock } = partner.gateway;
  const items = await attention(app.orm.em.fork(), 1_000, clock.now());
  return items.filter(({ kind }) => kind === 'client_debit');
};
const finished = async (): Promise<MadeOrder> => {
  const order = await partner.gateway.order();
  await done(`orders/${order.id}/deposits`, {});
  await partner.seconds(12);
  expect((await partner.gateway.show(order)).status).toBe('completed');
  return order;
};

describe('among the orders of others', () => {
  it('a reorganisation drops no transaction of another order', async () => {
    const [mine, other] = [await partner.gateway.order(), await partner.gateway.order()] as const;
    await done(`orders/${mine.id}/deposits`, {});
    await done(`orders/${other.id}/deposits`, {});
    await partner.seconds(1);
    const { dropped } = await done(`orders/${mine.id}/reorg`);
    expect(dropped).toHaveLength(1);
    await partner.seconds(12);
    expect(await partner.webhooksOf(other)).toEqual(completed);
    expect(await partner.webhooksOf(mine)).toEqual(['created', 'deposit_detected', 'deposit_lost']);
  });

  it('a reorganisation after the completion holds no coin of others, and is no difference', async () => {
    const mine = await partner.gateway.order();
    const other = await partner.gateway.order();
    for (const { id } of [mine, other]) await done(`orders/${id}/deposits`, {});
    await partner.seconds(12);
    const before = await partner.gateway.history(other);
    expect((await done(`orders/${mine.id}/reorg`)).dropped).toHaveLength(1);
    await partner.seconds(5);
    expect(await watched()).toEqual([]);
    expect(await debits()).toEqual([]);
    expect(await debitItems()).toEqual([]);
    // Nothing happens to an order whose deposit was in the same block.
    expect(await partner.gateway.history(other)).toEqual(before);
    // The order itself is in debit still, and gets nothing more.
    const [debit] = await partner.gateway.query<{ owed: string }>(
      `select trim_scale(sum(l.amount))::text as owed from ledger_line l
         join ledger_transaction t on t.id = l.transaction_id where t.order_id = $1 and l.account = 'client'
        and l.coin = 'BTC'`,
      [mine.id],
    );
    expect(debit).toEqual({ owed: mine.amountFrom });
    await finished();
  });

  it('a payout that no node finds lets the payouts of others go', async () => {
    const mine = await partner.gateway.order();
    const others = [await partner.gateway.order(), await partner.gateway.order()];
    await done(`orders/${mine.id}/force`, { outcome: 'payout_unknown' });
    // Its transaction is the first one of the account, or between two others.
    for (const { id } of [mine, ...others]) await done(`orders/${id}/deposits`, {});
    await partner.seconds(12);
    const statuses = async (): Promise<string[]> => {
      const shown = await Promise.all([mine, ...others].map((order) => partner.gateway.show(order)));
      return shown.map(({ status }) => status);
    };
    expect(await statuses()).toEqual(['sending', 'completed', 'completed']);
    await finished();
    // Once it has failed, a node has its bytes, and they are no payment of another order.
    await done(`orders/${mine.id}/force`, { outcome: 'payout_unknown' });
    await partner.seconds(15);
    expect(await statuses()).toEqual(['failed', 'completed', 'completed']);
    const payments = await partner.gateway.query<{ state: string; attempt: number }>(
      'select state, attempt from payment where order_id = any ($1)',
      [[mine, ...others].map(({ id }) => id)],
    );
    expect(payments).toEqual(payments.map(() => ({ state: 'confirmed', attempt: 1 })));
    await finished();
  });

  it('a payment that waits for its signer is tried after those of others', async () => {
    const order = await partner.gateway.order();
    await done(`orders/${order.id}/force`, { outcome: 'signer_unavailable' });
    await done(`orders/${order.id}/deposits`, {});
    await partner.seconds(12);
    const tries = await partner.gateway.query<{ problem: string; tries: number }>(
      'select problem, tries from payment where order_id = $1',
      [order.id],
    );
    expect(tries).toMatchObject([{ problem: 'signer_unavailable', tries: expect.any(Number) }]);
    expect(tries[0]?.tries).toBeGreaterThan(1);
    await done(`orders/${order.id}/force`, { outcome: 'none' });
    await partner.seconds(12);
    expect((await partner.gateway.show(order)).status).toBe('completed');
  });

  it('a sample of an event reaches the endpoint, signed, and is no event of an order', async () => {
    const { data } = await done('webhooks/emit', { type: 'order.refunded' });
    expect(data).toHaveLength(1);
    await partner.send();
    const sample = partner.receivers.of('partner').find(({ id }) => id === data[0].event_id);
    if (!sample) throw new Error('the sample did not come');
    expect(partner.isSigned(sample)).toBe(true);
    expect(sample.event).toMatchObject({
      type: 'order.refunded',
      data: { event_id: data[0].event_id, status: 'refunded', refund_amount: '0.0999' },
    });
    expect((await partner.call('GET', `orders/${sample.event.data.order_id}`)).status).toBe(404);
  });
});

describe('the API of the sandbox', () => {
  it('answers alike for an unknown order and for one of another partner', async () => {
    const { id } = await partner.gateway.order();
    const { key } = await partner.gateway.partner();
    for (const [path, body] of [
      ['deposits', {}],
      ['expire', undefined],
      ['reorg', undefined],
      ['force', { outcome: 'hold' }],
    ] as const) {
      const foreign = await call(`orders/${id}/${path}`, body, key);
      const unknown = await call(`orders/0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90/${path}`, body, key);
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect(foreign.json).toEqual({ ...unknown.json, request_id: foreign.json.request_id });
    }
  });

  it.each([
    ['deposits', { amount: 0.000000001 }, 422, 'invalid_amount'],
    ['deposits', { coin: 'NOPE' }, 422, 'unknown_coin'],
    ['deposits', { tag: 'omit' }, 422, 'invalid_value'],
    ['deposits', { count: 11 }, 422, 'invalid_value'],
    ['force', { outcome: 'riches' }, 400, 'unknown_value'],
    ['reorg', undefined, 409, 'action_not_available'],
  ] as const)('refuses %s with %j', async (path, body, status, code) => {
    const { id } = await partner.gateway.order();
    const refused = await call(`orders/${id}/${path}`, body);
    expect(refused).toMatchObject({ status, json: { code } });
  });

  it('refuses to end a window that no order waits in', async () => {
    const { id } = await partner.gateway.order();
    await done(`orders/${id}/expire`);
    await partner.seconds(2);
    expect(await call(`orders/${id}/expire`)).toMatchObject({ status: 409 });
    expect(await call(`orders/${id}/force`, { outcome: 'hold' })).toMatchObject({ status: 409 });
  });

  it('does not end the time of a question while the order is held', async () => {
    const { id } = await partner.gateway.order({ policy: { on_underpaid: 'ask' } });
    await done(`orders/${id}/deposits`, { amount: 0.006 });
    await partner.seconds(4);
    await done(`orders/${id}/force`, { outcome: 'hold' });
    expect(await call(`orders/${id}/expire`)).toMatchObject({ status: 409, json: { code: 'action_not_available' } });
    await done(`orders/${id}/force`, { outcome: 'none' });
    await done(`orders/${id}/expire`);
  });

  it('sends at most 100 deposits to an order, also of several requests at once', async () => {
    const { id } = await partner.gateway.order({ coin_from: 'XRP', network_from: 'XRP', amount_from: 100 });
    const statuses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const asked = Array.from({ length: 4 }, () => call(`orders/${id}/deposits`, { amount: 0.001, count: 10 }));
      statuses.push(...(await Promise.all(asked)).map(({ status }) => status));
    }
    expect(statuses.sort()).toEqual([...Array(10).fill(200), 409, 409]);
    const refused = await call(`orders/${id}/deposits`, { amount: 0.001 });
    expect(refused).toMatchObject({ status: 409, json: { code: 'action_not_available' } });
    const other = await partner.gateway.order();
    await done(`orders/${other.id}/deposits`, {});
  });
});

describe('at last, as its hold stays', () => {
  it('a debit that no partner forced holds its coin', async () => {
    const order = await finished();
    const { sandbox } = partner.gateway.settlement;
    const [deposit] = await partner.gateway.query<{ txid: string }>('select txid from deposit where order_id = $1', [
      order.id,
    ]);
    // As on a real chain: it takes the deposit back by itself.
    expect(await sandbox.dropMined('bitcoin', deposit?.txid ?? '', 50)).toBe(true);
    await partner.seconds(5);
    expect(await watched()).toMatchObject([{ cause: 'client_debit', coin: 'BTC', network: 'BTC' }]);
    expect(await debits()).toHaveLength(1);
    expect(await debitItems()).toMatchObject([{ orderId: order.id }]);
  });
});
