import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { RepeatableRequests } from '../../../src/orders/repeatable-requests.ts';
import { SandboxPartner } from '../../support/gateway/sandbox-partner.ts';
import type { Reply } from '../../support/http/contract-client.ts';

/** Idempotency-Key on each POST of the sandbox and of webhooks. */

let partner: SandboxPartner;
let endpoint: string;
beforeAll(async () => {
  partner = await SandboxPartner.start();
  endpoint = (await create()).json.endpoint.id;
});
afterAll(() => partner?.stop());

function post(path: string, body: object | undefined, key: string): Promise<Reply> {
  return partner.call('POST', path, { ...(body ? { body } : {}), headers: { 'Idempotency-Key': key } });
}

function create(key: string = randomUUID()): Promise<Reply> {
  return post('webhook-endpoints', { url: partner.receivers.url('repeats') }, key);
}

async function rows(sql: string, ...values: unknown[]): Promise<number> {
  const [row] = await partner.gateway.query<{ count: number }>(`select count(*)::int as count from ${sql}`, values);
  return row?.count ?? 0;
}

const isReplayed = ({ headers }: Reply): boolean => headers.get('idempotent-replayed') === 'true';

interface Repeated {
  readonly path: string;
  readonly body?: object;
  /** The same operation with another body, or about something else where it takes none. */
  readonly other: { readonly path: string; readonly body?: object };
  readonly status?: number;
  /** Counts effects. */
  readonly count: () => Promise<number>;
  /** How much one request adds. */
  readonly adds: number;
}

async function order(...steps: ((id: string) => Promise<unknown>)[]): Promise<string> {
  const { id } = await partner.gateway.order();
  for (const step of steps) await step(id);
  return id;
}

const deposit = async (id: string): Promise<void> => {
  await partner.done(`sandbox/orders/${id}/deposits`, {});
  await partner.seconds(1);
};

const samples = "webhook_delivery where order_id is null and type <> 'endpoint.test'";

const operations: Readonly<Record<string, () => Promise<Repeated>>> = {
  'sandbox deposits': async () => {
    const path = `sandbox/orders/${await order()}/deposits`;
    const count = () => rows('sandbox_tx where sender is null and not minted');
    return { path, body: { count: 2 }, other: { path, body: { count: 3 } }, count, adds: 2 };
  },
  'sandbox expire': async () => {
    const [id, another] = [await order(), await order()];
    const count = () => rows('exchange_order where id = $1 and next_action_at = expires_at', id);
    return { path: `sandbox/orders/${id}/expire`, other: { path: `sandbox/orders/${another}/expire` }, count, adds: 0 };
  },
  'sandbox reorg': async () => {
    const [id, another] = [await order(deposit), await order(deposit)];
    const count = () => rows("sandbox_tx where state = 'dropped'");
    return { path: `sandbox/orders/${id}/reorg`, other: { path: `sandbox/orders/${another}/reorg` }, count, adds: 1 };
  },
  'sandbox force': async () => {
    const path = `sandbox/orders/${await order()}/force`;
    const count = () => rows('exchange_order where held_at is not null');
    return { path, body: { outcome: 'hold' }, other: { path, body: { outcome: 'none' } }, count, adds: 1 };
  },
  'sandbox emit': async () => {
    const path = 'sandbox/webhooks/emit';
    const other = { path, body: { type: 'order.failed' } };
    return { path, body: { type: 'order.completed' }, other, count: () => rows(samples), adds: 2 };
  },
  'endpoints create': async () => {
    const path = 'webhook-endpoints';
    const body = { url: partner.receivers.url('repeats') };
    const other = { path, body: { ...body, types: ['order.completed'] } };
    const count = () => rows("webhook_endpoint where status <> 'deleted'");
    return { path, body, other, status: 201, count, adds: 1 };
  },
  'endpoints rotate': async () => {
    const path = `webhook-endpoints/${endpoint}/rotate-secret`;
    const body = { old_secret_hours: 1 };
    const count = async () => 0;
    return { path, body, other: { path, body: { old_secret_hours: 2 } }, count, adds: 0 };
  },
  'endpoints test': async () => {
    const count = () => rows("webhook_delivery where type = 'endpoint.test'");
    const another = (await create()).json.endpoint.id;
    const other = { path: `webhook-endpoints/${another}/test` };
    return { path: `webhook-endpoints/${endpoint}/test`, other, count, adds: 1 };
  },
  'endpoints replay': async () => {
    const id = await order();
    const eventId = `evt_${id.replaceAll('-', '')}_1`;
    const path = `webhook-endpoints/${endpoint}/replay`;
    await partner.webhooksOf(await partner.gateway.order());
    const count = () => rows('webhook_delivery where order_id = $1 and generation > 0', id);
    const body = { event_ids: [eventId] };
    return { path, body, other: { path, body: { event_ids: [eventId, 'evt_x'] } }, count, adds: 1 };
  },
};

/** Waits for answers, while deliveries are sent: a test of an endpoint waits for its own. */
async function answered(asked: Promise<Reply>[]): Promise<Reply[]> {
  let isOver = false;
  const all = Promise.all(asked).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await partner.send();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return all;
}

describe.each(Object.entries(operations))('%s', (_, prepare) => {
  it('has its effect once, also for requests at once, and repeats its answer', async () => {
    const { path, body, other, status = 200, count, adds } = await prepare();
    const [key, before] = [randomUUID(), await count()];
    const both = await answered([post(path, body, key), post(path, body, key), post(path, body, key)]);
    const again = (await answered([post(path, body, key)]))[0] as Reply;
    expect([...both, again].map((reply) => [reply.status, reply.text])).toEqual(Array(4).fill([status, again.text]));
    expect(both.filter(isReplayed)).toHaveLength(2);
    expect(isReplayed(again)).toBe(true);
    expect((await count()) - before).toBe(adds);
    const reused = await post(other.path, other.body, key);
    expect(reused).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } });
    expect((await count()) - before).toBe(adds);
  });

  it('has an effect for each request without a key or with another one', async () => {
    const { path, body, other, status = 200 } = await prepare();
    const [first, second] = await answered([
      post(path, body, randomUUID()),
      post(other.path, other.body, randomUUID()),
    ]);
    expect([first?.status, second?.status]).toEqual([status, status]);
    expect([first, second].map((reply) => reply && isReplayed(reply))).toEqual([false, false]);
  });
});

describe('a key', () => {
  it('is free again after a refusal', async () => {
    const { id } = await partner.gateway.order();
    const key = randomUUID();
    expect((await post(`sandbox/orders/${id}/reorg`, undefined, key)).status).toBe(409);
    await deposit(id);
    expect((await post(`sandbox/orders/${id}/reorg`, undefined, key)).status).toBe(200);
  });

  it('is the same for all names of an order', async () => {
    const { id } = await partner.gateway.order();
    const { json } = await partner.call('GET', `orders/${id}`);
    const key = randomUUID();
    const first = await post(`sandbox/orders/${id}/force`, { outcome: 'hold' }, key);
    const second = await post(`sandbox/orders/${json.short_id}/force`, { outcome: 'hold' }, key);
    expect([second.status, second.text, isReplayed(second)]).toEqual([200, first.text, true]);
  });

  it('of an endpoint is refused for an order, and that of an order for an endpoint', async () => {
    const [ofEndpoint, ofOrder] = [randomUUID(), randomUUID()];
    await partner.call('POST', 'sandbox/webhooks/emit', {
      body: { type: 'order.created' },
      headers: { 'Idempotency-Key': ofEndpoint },
    });
    const body = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', amount_from: 0.01 };
    const whole = { ...body, rate_type: 'float', recipient_address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' };
    const orders = await rows('exchange_order');
    const refused = await post('orders', whole, ofEndpoint);
    expect(refused).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } });
    expect(await rows('exchange_order')).toBe(orders);
    expect((await post('orders', whole, ofOrder)).status).toBe(201);
    const emitted = await post('sandbox/webhooks/emit', { type: 'order.created' }, ofOrder);
    expect(emitted).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } });
  });

  it.each(['', 'a b', 'x'.repeat(256)])('that is malformed is refused: %j', async (key) => {
    const { id } = await partner.gateway.order();
    const refused = await post(`sandbox/orders/${id}/force`, { outcome: 'hold' }, key);
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_idempotency_key' } });
  });
});

describe('the transaction of an effect', () => {
  it('takes the effect back with the key', async () => {
    const { app, clock } = partner.gateway;
    const { id: partnerId } = await partner.gateway.partner();
    const requests = new RepeatableRequests(app.orm, clock);
    const request = { key: randomUUID(), fingerprint: Buffer.alloc(32, 1) };
    const effect = async (em: EntityManager, failure: Error | null) => {
      await em.execute("insert into sandbox_refusing (chain, address) values ('bitcoin', ?)", [request.key]);
      if (failure) throw failure;
      return { stored: 'done', status: 200 as const, orderId: null };
    };
    const refused = requests.run(partnerId, request, (em) => effect(em, new Error('cut')));
    await expect(refused).rejects.toThrow('cut');
    expect(await rows('sandbox_refusing where address = $1', request.key)).toBe(0);
    expect(await rows('idempotency_key where key = $1', request.key)).toBe(0);
    const run = () => requests.run(partnerId, request, (em) => effect(em, null));
    expect(await run()).toEqual({ stored: 'done', isReplayed: false });
    expect(await run()).toEqual({ stored: 'done', isReplayed: true });
    expect(await rows('sandbox_refusing where address = $1', request.key)).toBe(1);
  });
});

describe('a secret', () => {
  it('is shown again while it signs, and is not stored in clear', async () => {
    const key = randomUUID();
    const rotate = (hours: number, own: string): Promise<Reply> =>
      post(`webhook-endpoints/${endpoint}/rotate-secret`, { old_secret_hours: hours }, own);
    const first = await rotate(1, key);
    await rotate(1, randomUUID());
    expect((await rotate(1, key)).json.secret).toBe(first.json.secret);
    await rotate(0, randomUUID());
    expect(await rotate(1, key)).toMatchObject({ status: 409, json: { code: 'action_not_available' } });
    expect(await rows("idempotency_key where body like '%whsec%'")).toBe(0);
  });

  it('of a deleted endpoint is gone', async () => {
    const key = randomUUID();
    const { json } = await create(key);
    await partner.gateway.call('DELETE', `/partner/webhook-endpoints/${json.endpoint.id}`, {
      key: partner.gateway.key,
    });
    expect(await create(key)).toMatchObject({ status: 409, json: { code: 'action_not_available' } });
  });
});
