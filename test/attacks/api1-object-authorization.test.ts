import { addressExample } from '../../src/chains/addresses/address.ts';
import { query } from '../support/database/database.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { statementsOf } from '../support/database/statement-count.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import type { Reply } from '../support/http/contract-client.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API1:2023, broken object level authorization: one partner asks for another's orders.
 * test/integration/orders/orders.test.ts covers which orders a partner reads by which id,
 * test/integration/staff-api/permissions.test.ts what each role of staff reads.
 */

const unknownId = '01900000-0000-7000-8000-000000000000';
const unknownShortId = 'XP-000000';

const statements: string[] = [];
let gateway: SettledGateway;
let owner: { id: string; key: string };
let thief: { id: string; key: string };
let order: { id: string; short_id: string };

beforeAll(async () => {
  gateway = await startSettledGateway({
    outside: { background: false, onStatement: (sql) => statements.push(sql) },
  });
  owner = await gateway.partner();
  thief = await gateway.partner();
  order = (await gateway.call('POST', '/partner/orders', { key: owner.key, body: orderBody() })).json;
});
afterAll(() => gateway?.stop());

/** An id in everything that a router or a parser could take for it. */
const spellings: Record<string, (id: string) => string> = {
  'as it is': (id) => id,
  'in capitals': (id) => id.toUpperCase(),
  'in small letters': (id) => id.toLowerCase(),
  'in mixed case': (id) =>
    id.replace(/[a-z]/gi, (letter, at) => (at % 2 ? letter.toUpperCase() : letter.toLowerCase())),
  'percent-encoded': (id) => [...id].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join(''),
  'percent-encoded twice': (id) => [...id].map((sign) => `%25${sign.charCodeAt(0).toString(16)}`).join(''),
  'with a slash at its end': (id) => `${id}/`,
  'with slashes at its end': (id) => `${id}///`,
  'with an encoded slash': (id) => `${id}%2f`,
  'with an encoded dot segment': (id) => `x%2f..%2f${id}`,
  'with a matrix parameter': (id) => `${id};v=1`,
  'with a suffix': (id) => `${id}.json`,
  'with blanks': (id) => `%20${id}%20`,
  'with a NUL': (id) => `${id}%00`,
  'with a line end': (id) => `${id}%0d%0a`,
  'in braces': (id) => `%7b${id}%7d`,
  'as a URN': (id) => `urn:uuid:${id}`,
  'without its dashes': (id) => id.replaceAll('-', ''),
  'in full-width letters': (id) =>
    encodeURIComponent([...id].map((sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) + 0xfee0)).join('')),
  'as one of a list': (id) => `${unknownId},${id}`,
  'as a pattern': (id) => `${id.slice(0, 8)}%25`,
};

/** What a request also claims, in case the server believes it. */
const claims = (): Record<string, { query?: string; headers?: Record<string, string> }> => ({
  nothing: {},
  'the owner in the query': { query: `?partner_id=${owner.id}&partner=${owner.id}&order_id=${order.id}` },
  "the owner's key in the query": { query: `?api_key=${owner.key}&key=${owner.key}&access_token=${owner.key}` },
  'the owner in headers': {
    headers: { 'X-Partner-Id': owner.id, 'X-User-Id': owner.id, 'X-Forwarded-User': owner.id, 'X-Account': owner.id },
  },
  'another path in headers': {
    headers: {
      'X-Original-URL': `/api/v1/partner/orders/${order.id}`,
      'X-Rewrite-URL': `/api/v1/partner/orders/${order.id}`,
    },
  },
  'the address of this machine': { headers: { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1' } },
  "the owner's key in a cookie": { headers: { Cookie: `api_key=${owner.key}; Authorization=Bearer ${owner.key}` } },
});

/** Everything of an answer that is not of this very request. */
function told({ status, text, headers }: Reply): object {
  const own = /^(date|x-request-id|ratelimit|x-ratelimit-\w+)$/;
  return {
    status,
    text: text.replace(headers.get('x-request-id') ?? '', ''),
    headers: [...headers].filter(([name]) => !own.test(name)),
  };
}

const read = (path: string, key: string, headers: Record<string, string> = {}) =>
  gateway.call('GET', `/partner/orders/${path}`, { key, headers });

describe("another partner's order", () => {
  it.each(Object.entries(spellings))('%s gets the same answer as an unknown order', async (spelling, spell) => {
    await changingNothing(gateway, async () => {
      for (const [claim, { query = '', headers }] of Object.entries(claims())) {
        for (const [own, unknown] of [
          [order.id, unknownId],
          [order.short_id, unknownShortId],
        ] as const) {
          const answer = await read(spell(own) + query, thief.key, headers);
          const blank = await read(spell(unknown) + query, thief.key, headers);
          attempt(`${own} ${spelling}, claiming ${claim}`, told(answer), { ...told(blank), status: 404 });
          expect(answer.text).not.toContain(order.id);
        }
      }
    });
  });

  it('is in no list, and has no details and no history', async () => {
    await changingNothing(gateway, async () => {
      for (const id of [order.id, order.short_id]) {
        for (const query of [
          `ids=${id}`,
          `ids=${id}&include=details`,
          `ids=${id}&sort=updated`,
          `partner_id=${owner.id}`,
        ]) {
          const { json } = await gateway.call('GET', `/partner/orders?${query}`, { key: thief.key });
          attempt(`a list with ${query}`, json.data, []);
        }
        for (const part of ['details', 'events']) {
          const answer = await read(`${id}/${part}`, thief.key);
          const blank = await read(`${id === order.id ? unknownId : unknownShortId}/${part}`, thief.key);
          attempt(`${part} of ${id}`, told(answer), { ...told(blank), status: 404 });
        }
      }
      const { json } = await gateway.call('GET', '/partner/orders?sort=updated', { key: owner.key });
      const stolen = await gateway.call('GET', `/partner/orders?sort=updated&cursor=${json.next_cursor}`, {
        key: thief.key,
      });
      attempt("the owner's cursor", [stolen.status, stolen.json.code], [400, 'invalid_cursor']);
      const seen = await gateway.call('GET', '/partner/events?limit=100', { key: thief.key });
      attempt('the events', seen.json.data, []);
      const events = await gateway.call('GET', '/partner/events', { key: owner.key });
      for (const path of ['/partner/events', '/partner/events/stream']) {
        const query = `?cursor=${events.json.next_cursor}`;
        const taken = await gateway.call('GET', path + query, { key: thief.key });
        attempt(`the owner's cursor at ${path}`, [taken.status, taken.json.code], [400, 'invalid_cursor']);
      }
    });
  });

  it('cannot be changed, and the refusal is that of an unknown order', async () => {
    const changes = [
      ['PATCH', '', { metadata: { mine: 'now' } }],
      ['PUT', '/refund-address', { refund_address: addressExample('BTC') }],
      ['POST', '/cancel', undefined],
      ['POST', '/page', undefined],
      ['DELETE', '/page', undefined],
      ['POST', '/actions', { action_id: 'act_3', action: 'refund' }],
    ] as const;
    await changingNothing(gateway, async () => {
      for (const [method, part, sent] of changes) {
        const options = { key: thief.key, ...(sent ? { body: sent } : {}) };
        for (const [spelling, spell] of Object.entries(spellings)) {
          for (const [own, unknown] of [
            [order.id, unknownId],
            [order.short_id, unknownShortId],
          ] as const) {
            const answer = await gateway.call(method, `/partner/orders/${spell(own)}${part}`, options);
            const blank = await gateway.call(method, `/partner/orders/${spell(unknown)}${part}`, options);
            attempt(`${method} ${own}${part} ${spelling}`, told(answer), { ...told(blank), status: 404 });
          }
        }
      }
    });
  });

  it("'s webhooks are out of reach: foreign endpoints, deliveries and cursors are as unknown ones", async () => {
    const body = { url: 'https://hooks.example.com/' };
    const made = await gateway.call('POST', '/partner/webhook-endpoints', { key: owner.key, body });
    const { id } = made.json.endpoint;
    await changingNothing(gateway, async () => {
      for (const [method, path, sent] of [
        ['GET', ''],
        ['PATCH', '', { status: 'disabled' }],
        ['DELETE', ''],
        ['POST', '/rotate-secret', {}],
        ['POST', '/test'],
        ['GET', '/deliveries'],
        ['POST', '/replay', {}],
      ] as const) {
        const ask = (of: string) =>
          gateway.call(method, `/partner/webhook-endpoints/${of}${path}`, {
            key: thief.key,
            ...(sent ? { body: sent } : {}),
          });
        const answer = await ask(id);
        attempt(`${method} of a foreign endpoint${path}`, told(answer), { ...told(await ask(unknownId)), status: 404 });
        attempt(`${method} of no endpoint${path}`, (await ask('nonsense')).status, 404);
      }
      const all = await gateway.call('GET', '/partner/webhook-endpoints', { key: thief.key });
      attempt('the list of endpoints', all.json.data, []);
    });
    const own = await gateway.call('POST', '/partner/webhook-endpoints', { key: thief.key, body });
    const mine = `/partner/webhook-endpoints/${own.json.endpoint.id}`;
    const event_ids = [`evt_${order.id.replaceAll('-', '')}_1`];
    const replayed = await gateway.call('POST', `${mine}/replay`, { key: thief.key, body: { event_ids } });
    attempt("a replay of the owner's event", [replayed.status, replayed.json.count], [200, 0]);
    const list = await gateway.call('GET', '/partner/events', { key: thief.key });
    for (const cursor of [list.json.next_cursor, 'nonsense']) {
      const { status, json } = await gateway.call('GET', `${mine}/deliveries?cursor=${cursor}`, { key: thief.key });
      attempt('a cursor of another list', [status, json.code], [400, 'invalid_cursor']);
    }
    await gateway.call('DELETE', mine, { key: thief.key });
    await gateway.call('DELETE', `/partner/webhook-endpoints/${id}`, { key: owner.key });
  });

  it('stays readable by its own partner during the attack', async () => {
    expect((await read(order.id, owner.key)).json).toMatchObject({ id: order.id, short_id: order.short_id });
  });

  it('is looked up with the same SQL statement and plan as an unknown order', async () => {
    const runs = (id: string) => statementsOf(statements, () => read(id, thief.key));
    await read(order.id, thief.key);
    for (const [own, unknown, values] of [
      [order.id, unknownId, (id: string) => [thief.id, id, null]],
      [order.short_id, unknownShortId, (shortId: string) => [thief.id, null, shortId]],
    ] as const) {
      const ran = await runs(own);
      attempt(`the statements of ${own}`, ran, await runs(unknown));
      expect(ran).toHaveLength(1);
      const plan = async (id: string) => {
        const [statement = ''] = ran;
        const filled = statement.replace(/\$(\d)/g, (_, place) => `'{${values(id)[Number(place) - 1]}}'`);
        const [row] = await query<{ 'QUERY PLAN': [{ Plan: object }] }>(
          gateway.databaseUrl,
          `explain (format json, costs off) ${filled}`,
        );
        return JSON.stringify(row?.['QUERY PLAN']).replaceAll(id, 'the id');
      };
      attempt(`the plan of ${own}`, await plan(own), await plan(unknown));
    }
  });

  it('is not returned to another partner that sends the same idempotency key', async () => {
    const repeat = { headers: { 'Idempotency-Key': 'the-same-for-both' }, body: orderBody() };
    const first = await gateway.call('POST', '/partner/orders', { key: owner.key, ...repeat });
    const second = await gateway.call('POST', '/partner/orders', { key: thief.key, ...repeat });
    expect([first.status, second.status]).toEqual([201, 201]);
    attempt('an idempotency key of another', second.headers.get('idempotent-replayed'), null);
    expect(second.json.id).not.toBe(first.json.id);
    expect(second.json.deposit_address).not.toBe(first.json.deposit_address);
  });
});

describe('an order id', () => {
  it('cannot be found by counting on from the id of an own order', async () => {
    const { json } = await gateway.call('POST', '/partner/orders', { key: thief.key, body: orderBody() });
    const number = BigInt(`0x${json.id.replaceAll('-', '')}`);
    for (let step = -8n; step <= 8n; step++) {
      if (step === 0n) continue;
      const near = (number + step).toString(16).padStart(32, '0');
      const uuid = near.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      attempt(`the UUID ${step} further`, (await read(uuid, thief.key)).status, 404);
    }
  });

  it('reveals no neighbouring ids', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) {
      ids.push((await gateway.call('POST', '/partner/orders', { key: owner.key, body: orderBody() })).json.short_id);
    }
    attempt('short ids in the order of time', ids.join() === [...ids].sort().join(), false);
    const shared = ids.slice(1).filter((id, at) => id.slice(0, 6) === ids[at]?.slice(0, 6));
    // Three letters of six are shared by two neighbours once in 32,768.
    attempt('short ids that begin alike', shared.length > 3, false);
  });

  it('cannot be guessed more often than the rate limit allows', async () => {
    const { id, key } = await gateway.partner();
    await gateway.partners.change(id, { rateLimitPerMin: 40 });
    const statuses: number[] = [];
    for (let guess = 0; guess < 60; guess++) {
      statuses.push((await read(`XP-${guess.toString(36).toUpperCase().padStart(6, '0')}`, key)).status);
    }
    attempt('60 guesses in a minute', statuses, [...Array(40).fill(404), ...Array(20).fill(429)]);
  });
});
