import { SandboxPartner } from '../../support/gateway/sandbox-partner.ts';
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

describe('beside the orders of others', () => {
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
