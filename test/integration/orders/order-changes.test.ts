import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import {
  endWindow,
  type MadeOrder,
  type SettledGateway,
  startSettledGateway,
} from '../../support/gateway/settled-gateway.ts';
import type { Reply } from '../../support/http/contract-client.ts';

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const bare = { refund_address: undefined };
const btc = addressExample('BTC');
const otherBtc = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

function patch({ id }: { id: string }, metadata: unknown): Promise<Reply> {
  return gateway.call('PATCH', `/partner/orders/${id}`, { key: gateway.key, body: { metadata } });
}

function putRefund({ id }: { id: string }, address: string, tag?: string): Promise<Reply> {
  const body = { refund_address: address, ...(tag === undefined ? {} : { refund_address_tag: tag }) };
  return gateway.call('PUT', `/partner/orders/${id}/refund-address`, { key: gateway.key, body });
}

function cancel({ id }: { id: string }, idempotencyKey?: string): Promise<Reply> {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return gateway.call('POST', `/partner/orders/${id}/cancel`, { key: gateway.key, headers });
}

async function details({ id }: MadeOrder): Promise<Reply['json']> {
  return (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key })).json;
}

async function stored(order: MadeOrder): Promise<{ refund_address: string | null; event_seq: number }> {
  const [row] = await gateway.query<{ refund_address: string | null; event_seq: number }>(
    'select refund_address, event_seq from exchange_order where id = $1',
    [order.id],
  );
  if (!row) throw new Error('the order is gone');
  return row;
}

describe('PATCH /partner/orders/{order_id}', () => {
  it('merges metadata, also into an order that was made without terms, and answers with the details', async () => {
    const order = await gateway.order();
    const first = await patch(order, { a: '1', b: '2' });
    expect([first.status, first.json.metadata]).toEqual([200, { a: '1', b: '2' }]);
    const second = await patch(order, { a: null, c: '3', gone: null });
    expect(second.json.metadata).toEqual({ b: '2', c: '3' });
    expect(second.json).toEqual(await details(order));
    expect((await patch(order, null)).json.metadata).toBeNull();
  });

  it('keeps the other terms of the order, and a key named __proto__', async () => {
    const externalId = randomUUID();
    const order = await gateway.order({ external_id: externalId, metadata: { a: '1' } });
    const raw = '{"metadata":{"__proto__":"x","constructor":"y"}}';
    const { json } = await gateway.call('PATCH', `/partner/orders/${order.id}`, { key: gateway.key, raw });
    expect(Object.entries(json.metadata).sort()).toEqual([
      ['__proto__', 'x'],
      ['a', '1'],
      ['constructor', 'y'],
    ]);
    expect(json.external_id).toBe(externalId);
  });

  it('writes no event, so that a key cannot fill the history', async () => {
    const order = await gateway.order();
    const { json } = await patch(order, { a: '1' });
    expect(json.seq).toBe(1);
    expect((await stored(order)).event_seq).toBe(1);
  });

  it('counts the bounds on what the order then has', async () => {
    const order = await gateway.order({
      metadata: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, 'v'])),
    });
    const tooMany = await patch(order, { more: 'v' });
    expect([tooMany.status, tooMany.json.code]).toEqual([422, 'metadata_too_large']);
    expect((await patch(order, { more: 'v', k0: null })).status).toBe(200);
    const big = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i + 1}`, 'x'.repeat(500)]));
    expect((await patch(order, big)).json.code).toBe('metadata_too_large');
    expect((await patch(order, { k1: 'a\0b' })).json.code).toBe('invalid_value');
    expect((await details(order)).metadata.more).toBe('v');
  });

  it.each([
    ['a value that is no text', { metadata: { a: 1 } }, 400],
    ['a nested value', { metadata: { a: { b: 'c' } } }, 400],
    ['another member', { metadata: {}, status: 'completed' }, 400],
    ['no metadata', {}, 400],
    ['a list', { metadata: ['a'] }, 400],
    ['a long value', { metadata: { a: 'x'.repeat(501) } }, 422],
    ['a long key', { metadata: { ['k'.repeat(41)]: 'x' } }, 422],
  ])('refuses %s', async (_, body, status) => {
    const order = await gateway.order({ metadata: { kept: 'yes' } });
    const reply = await gateway.call('PATCH', `/partner/orders/${order.id}`, { key: gateway.key, body });
    expect(reply.status).toBe(status);
    expect((await details(order)).metadata).toEqual({ kept: 'yes' });
  });
});

describe('PUT /partner/orders/{order_id}/refund-address', () => {
  it('sets the address of an order without one, once, and writes a fact into the history', async () => {
    const order = await gateway.order(bare);
    expect((await details(order)).refund_address).toBe('none');
    const set = await putRefund(order, btc);
    expect([set.status, set.json.seq, set.json.refund_address, set.json.status_group]).toEqual([
      200,
      2,
      'set_later',
      'waiting',
    ]);
    expect(set.json).toEqual(await details(order));
    const { json: events } = await gateway.call('GET', `/partner/orders/${order.id}/events`, { key: gateway.key });
    expect(events.data[1]).toMatchObject({
      seq: 2,
      status: 'waiting_deposit',
      previous_status: 'waiting_deposit',
      cause: 'refund_address_set',
    });
    const again = await putRefund(order, btc);
    expect([again.status, again.json]).toEqual([200, set.json]);
    const other = await putRefund(order, otherBtc);
    expect([other.status, other.json.code]).toEqual([409, 'refund_address_set']);
    expect(await stored(order)).toEqual({ refund_address: btc, event_seq: 2 });
  });

  it('cannot replace the address of the create', async () => {
    const order = await gateway.order();
    const other = await putRefund(order, otherBtc);
    expect([other.status, other.json.code]).toEqual([409, 'refund_address_set']);
    expect((await details(order)).refund_address).toBe('given');
  });

  it('is enforced by the database as well', async () => {
    const order = await gateway.order(bare);
    const change = (sql: string) => gateway.query(`update exchange_order set ${sql} where id = $1`, [order.id]);
    await expect(change(`refund_address = 'x'`)).rejects.toThrow('is set once');
    await putRefund(order, btc);
    await expect(change(`refund_address = 'x'`)).rejects.toThrow('is set once');
    await expect(change('refund_address = null, refund_address_set_at = null')).rejects.toThrow('is set once');
    await expect(change('refund_address_set_at = null')).rejects.toThrow('is set once');
    await expect(change(`refund_address_tag = 'x'`)).rejects.toThrow('is set once');
  });

  it('judges the address like a create, with all faults at once', async () => {
    const order = await gateway.order(bare);
    const ours = await putRefund(order, order.depositAddress);
    expect([ours.status, ours.json.code]).toEqual([422, 'own_address']);
    const wrong = await putRefund(order, addressExample('TRC20'));
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_network_address']);
    const two = await putRefund(order, 'nonsense', 'tag');
    expect(two.json.code).toBe('validation_failed');
    expect(two.json.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
      'refund_address',
      'refund_address_tag',
    ]);
    expect(await stored(order)).toEqual({ refund_address: null, event_seq: 1 });
  });

  it('takes a tag on networks that have one', async () => {
    const pair = { coin_from: 'XRP', network_from: 'XRP', amount_from: 2000, refund_address: undefined };
    const order = await gateway.order(pair);
    expect((await putRefund(order, addressExample('XRP'), 'letters')).json.code).toBe('invalid_tag');
    expect((await putRefund(order, addressExample('XRP'), '12345')).status).toBe(200);
    const [row] = await gateway.query('select refund_address_tag as tag from exchange_order where id = $1', [order.id]);
    expect(row).toEqual({ tag: '12345' });
    expect((await putRefund(order, addressExample('XRP'), '1')).json.code).toBe('refund_address_set');
  });
});

describe('POST /partner/orders/{order_id}/cancel', () => {
  it('expires an order without a deposit, and answers with its details', async () => {
    const order = await gateway.order();
    const reply = await cancel(order);
    expect([reply.status, reply.json.status_group, reply.json.seq]).toEqual([200, 'expired', 2]);
    expect(reply.json).toEqual(await details(order));
    expect(await gateway.history(order)).toEqual(['created', 'partner_cancelled']);
    expect((await gateway.show(order)).status).toBe('expired');
    const again = await cancel(order);
    expect([again.status, again.json.code]).toEqual([409, 'order_not_cancellable']);
  });

  it('is refused once a deposit of any kind was seen, also one that is gone again', async () => {
    const seen = await gateway.order();
    await gateway.deposit(seen);
    await gateway.tick();
    expect((await cancel(seen)).json.code).toBe('order_not_cancellable');
    const dust = await gateway.order();
    await gateway.deposit(dust, { amount: '0.00001' });
    await gateway.tick();
    expect((await gateway.show(dust)).status).toBe('waiting_deposit');
    expect((await cancel(dust)).json.code).toBe('order_not_cancellable');
    await gateway.query(`update deposit set state = 'orphaned' where order_id = $1`, [dust.id]);
    expect((await cancel(dust)).json.code).toBe('order_not_cancellable');
  });

  it('is refused from the end of the window on, and on hold', async () => {
    const over = await gateway.order();
    await endWindow(gateway, over);
    expect((await gateway.show(over)).status).toBe('waiting_deposit');
    expect((await cancel(over)).json.code).toBe('order_not_cancellable');
    const held = await gateway.order();
    await gateway.query(`update exchange_order set held_at = now(), hold_reason = 'staff' where id = $1`, [held.id]);
    expect((await cancel(held)).json.code).toBe('order_not_cancellable');
  });

  it('leaves the address watched: a deposit is late and is refunded', async () => {
    const order = await gateway.order();
    await cancel(order);
    await gateway.deposit(order);
    await gateway.settle(order);
    await gateway.mine(order.networkFrom, 3);
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual(['created', 'partner_cancelled', 'late_deposit', 'refund_confirmed']);
    expect((await details(order)).deposits[0].role).toBe('late');
    expect(await gateway.differences()).toEqual([]);
  });

  it('is repeatable by an idempotency key, by each name of the order', async () => {
    const order = await gateway.order();
    const key = randomUUID();
    const first = await cancel(order, key);
    const shortId = (await gateway.show(order)).short_id;
    for (const id of [order.id, shortId, shortId.toLowerCase()]) {
      const again = await cancel({ id }, key);
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true']);
    }
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const other = await gateway.order();
    expect((await cancel(other, key)).json.code).toBe('idempotency_key_reused');
    expect((await gateway.show(other)).status).toBe('waiting_deposit');
  });

  it('remembers no refusal under an idempotency key', async () => {
    const order = await gateway.order();
    const key = randomUUID();
    await gateway.query(`update exchange_order set held_at = now(), hold_reason = 'staff' where id = $1`, [order.id]);
    expect((await cancel(order, key)).status).toBe(409);
    await gateway.query('update exchange_order set held_at = null, hold_reason = null where id = $1', [order.id]);
    expect((await cancel(order, key)).status).toBe(200);
  });

  it('is refused with 409 while another request with its key is under way', async () => {
    const order = await gateway.order();
    const key = randomUUID();
    const other = new Client({ connectionString: gateway.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(
        `insert into idempotency_key (partner_id, key, fingerprint, status, body, created_at)
         select partner_id, $2, sha256(''), 200, '', now() from exchange_order where id = $1`,
        [order.id, key],
      );
      const refused = await cancel(order, key);
      expect([refused.status, refused.json.code]).toEqual([409, 'idempotency_in_flight']);
    } finally {
      await other.end();
    }
    expect((await cancel(order, key)).status).toBe(200);
  });

  it('is done once by thirty requests with one key at the same time', async () => {
    const order = await gateway.order();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 30 }, () => cancel(order, key)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(await gateway.history(order)).toEqual(['created', 'partner_cancelled']);
  });
});

describe('each change of an order', () => {
  const changes = [
    ['PATCH', '', { metadata: { a: '1' } }],
    ['PUT', '/refund-address', { refund_address: btc }],
    ['POST', '/cancel', undefined],
  ] as const;

  it.each(changes)('%s %s finds foreign, unknown and malformed orders alike: not', async (method, path, body) => {
    const order = await gateway.order(bare);
    const { key } = await gateway.partner();
    const names = [order.id, (await gateway.show(order)).short_id, randomUUID(), 'XP-ZZZZZZ', 'nonsense', '%00'];
    for (const name of names) {
      const reply = await gateway.call(method, `/partner/orders/${name}${path}`, { key, ...(body ? { body } : {}) });
      const { detail, code } = reply.json;
      expect([reply.status, code, detail]).toEqual([404, 'order_not_found', 'there is no such order']);
    }
    expect(await stored(order)).toEqual({ refund_address: null, event_seq: 1 });
  });

  it.each(
    changes,
  )('%s %s needs the scope orders:manage, and a key that lives at the commit', async (method, path, body) => {
    const order = await gateway.order(bare);
    const partner = await gateway.partner({ scopes: ['orders:create', 'orders:read', 'rates:read'] });
    const send = (key: string) =>
      gateway.call(method, `/partner/orders/${order.id}${path}`, { key, ...(body ? { body } : {}) });
    const refused = await send(partner.key);
    expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope']);
    const [own] = await gateway.query<{ id: string }>('select partner_id as id from exchange_order where id = $1', [
      order.id,
    ]);
    const { key, keyId } = await gateway.partners.issueKey(own?.id ?? '', { scopes: ['orders:read', 'orders:manage'] });
    expect((await gateway.call('GET', `/partner/orders/${order.id}`, { key })).status).toBe(200);
    // The process still knows the key as a living one.
    await gateway.query('update api_key set revoked_at = now() where key_id = $1', [keyId]);
    expect((await send(key)).status).toBe(401);
    expect(await stored(order)).toEqual({ refund_address: null, event_seq: 1 });
  });
});
