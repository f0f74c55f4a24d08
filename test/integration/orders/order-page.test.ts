import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeWithRedis, startRedis } from '../../support/database/redis.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { type PagedGateway, scenes, startPagedGateway } from '../../support/gateway/paged-orders.ts';
import { newMember } from '../../support/staff/staff-client.ts';

const statements: string[] = [];
let logged = '';
let gateway: PagedGateway;

beforeAll(async () => {
  gateway = await startPagedGateway({
    settings: { LOG_LEVEL: 'info', TRUSTED_PROXIES: '127.0.0.0/8', RATE_LIMIT_PAGES_PER_MIN: '1000' },
    outside: {
      onStatement: (sql) => statements.push(sql),
      logStream: new Writable({
        write: (chunk, _encoding, done) => {
          logged += String(chunk);
          done();
        },
      }),
    },
  });
});
afterAll(() => gateway?.stop());

interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function read(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Page> {
  const reply = await fetch(`${gateway.app.restUrl}${path}`, { method, headers });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

const details = async (id: string, key = gateway.key) =>
  (await gateway.call('GET', `/partner/orders/${id}/details`, { key })).json;
const change = (method: string, id: string, headers: Record<string, string> = {}, key = gateway.key) =>
  gateway.call(method, `/partner/orders/${id}/page`, { key, headers });
const tokenOf = (path: string): string => path.slice('/o/'.length);

/** What is the same in each answer to a path without a page. */
function bare({ status, text, headers }: Page): unknown {
  const own = ['date', 'x-request-id', 'ratelimit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
  return { status, text, headers: [...headers].filter(([name]) => !own.includes(name)) };
}

describe('the page of an order', () => {
  it.each(Object.entries(scenes))('%s has its words, and the details its status', async (_, scene) => {
    const order = await scene.reach(gateway);
    expect((await gateway.show(order)).status).toBe(scene.status);
    const { status, text } = await read(await gateway.pathOf(order));
    expect(status).toBe(200);
    expect(text).toContain(`<h1>${scene.headline}</h1>`);
    for (const words of scene.says) expect(text).toContain(words.replace('&', '&amp;'));
    const { payment_uri: uri } = await details(order.id);
    expect([scene.status, uri !== null]).toEqual([scene.status, scene.status === 'waiting_deposit']);
  });

  it('is sent under the strict policy, and is neither stored, indexed nor disclosed', async () => {
    const { headers } = await read(await gateway.pathOf(await gateway.order()));
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    });
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('shows nothing of another order, of the key, of notes, or of prices', async () => {
    const [mine, other] = [
      await gateway.order({ metadata: { user: 'u_17_secret' }, external_id: `inv-${randomUUID()}` }),
      await gateway.order(),
    ];
    const { text } = await read(await gateway.pathOf(mine));
    const { external_id: externalId, terms } = await details(mine.id);
    const { short_id: otherShort } = await gateway.show(other);
    const hidden = [other.id, otherShort, other.depositAddress, mine.id, gateway.key, gateway.partnerId, externalId];
    for (const each of [...hidden, 'u_17_secret', String(terms.mid), String(terms.rate), String(terms.service_fee)]) {
      expect([each, text.includes(each)]).toEqual([each, false]);
    }
  });

  it('answers HEAD without a body, and refuses other methods', async () => {
    const path = await gateway.pathOf(await gateway.order());
    expect(await read(path, {}, 'HEAD')).toMatchObject({ status: 200, text: '' });
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await read(path, {}, method);
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('has files whose names change with them, so that browsers keep them for ever', async () => {
    const { text } = await read(await gateway.pathOf(await gateway.order()));
    const files = [...text.matchAll(/(?:href|src)="(\/o\/page-\w+\.(?:css|js))"/g)].map(([, path = '']) => path);
    expect(files).toHaveLength(2);
    for (const path of files) {
      const { status, headers, text: content } = await read(path);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-type')).toMatch(path.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      // The page of another version asks for another name while both versions run.
      const other = await read(path.replace(/page-\w+/, 'page-0123456789ab'));
      expect([other.status, other.text, other.headers.get('cache-control')]).toEqual([200, content, 'no-store']);
    }
  });

  it('is a page as well while the database does not answer', async () => {
    const path = await gateway.pathOf(await gateway.order());
    await gateway.query('alter table order_page rename to order_page_away');
    try {
      const { status, text, headers } = await read(path);
      expect(status).toBe(503);
      expect(text).toContain('Your order is safe');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    } finally {
      await gateway.query('alter table order_page_away rename to order_page');
    }
  });
});

describe('the link of an order', () => {
  it('is 128 bits that the database does not have: it keeps a hash, and no stored answer tells it', async () => {
    const { json } = await gateway.call('POST', '/partner/orders', {
      key: gateway.key,
      body: orderBody(),
      headers: { 'Idempotency-Key': randomUUID() },
    });
    const cancelKey = { 'Idempotency-Key': randomUUID() };
    const cancel = () =>
      gateway.call('POST', `/partner/orders/${json.id}/cancel`, { key: gateway.key, headers: cancelKey });
    const first = await cancel();
    const token = tokenOf(new URL(first.json.public_url).pathname);
    expect(Buffer.from(token, 'base64url')).toHaveLength(16);
    expect(first.json.public_url).toBe(`https://pay.example/o/${token}`);
    const tables = await gateway.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'`,
    );
    const hex = Buffer.from(token, 'base64url').toString('hex');
    for (const { name } of tables) {
      const [found] = await gateway.query<{ shown: boolean }>(
        `select exists (select from ${name} t where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%') as shown`,
        [token, hex],
      );
      expect([name, found?.shown]).toEqual([name, false]);
    }
    // The stored answer is completed with the link of the moment.
    expect((await cancel()).json).toEqual(first.json);
    await change('DELETE', json.id);
    const repeated = await cancel();
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.json).toEqual({ ...first.json, public_url: null });
  });

  it('is made by the statement that makes the order', async () => {
    for (const [changes, headers] of [
      [{}, {}],
      [{ external_id: randomUUID() }, {}],
      [{}, { 'Idempotency-Key': randomUUID() }],
      [{ external_id: randomUUID() }, { 'Idempotency-Key': randomUUID() }],
      [{ coin_from: 'SOL', network_from: 'SOL', amount_from: 1 }, { 'Idempotency-Key': randomUUID() }],
    ]) {
      statements.length = 0;
      const { status, json } = await gateway.call('POST', '/partner/orders', {
        key: gateway.key,
        body: orderBody(changes),
        headers: headers as Record<string, string>,
      });
      expect(status).toBe(201);
      expect(statements.filter((sql) => sql.includes('insert into order_page'))).toHaveLength(1);
      expect(statements.filter((sql) => sql.includes('insert into exchange_order'))).toHaveLength(1);
      expect(Object.keys(json)).toHaveLength(20);
      expect((await read(await gateway.pathOf(json))).status).toBe(200);
    }
  });

  it('is not there for partners that have not switched pages on', async () => {
    const { key } = await gateway.partner();
    const { json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    expect((await details(json.id, key)).public_url).toBeNull();
    expect((await change('POST', json.id, {}, key)).json.code).toBe('order_page_off');
    expect(await gateway.query('select from order_page where order_id = $1', [json.id])).toEqual([]);
  });

  it('ends at once when a new one is made, when it is revoked, and when pages are switched off', async () => {
    // A separate partner: the gateway may know for seconds that pages are off.
    const { id: partnerId, key } = await gateway.partner();
    await gateway.partners.change(partnerId, { orderPage: true, displayName: 'Own' });
    const order = await gateway.order({}, key);
    const first = new URL((await details(order.id, key)).public_url).pathname;
    expect((await read(first)).status).toBe(200);

    const renewKey = { 'Idempotency-Key': randomUUID() };
    const renewed = await change('POST', order.id, renewKey, key);
    const second = new URL(renewed.json.public_url).pathname;
    expect([(await read(first)).status, (await read(second)).status]).toEqual([404, 200]);
    const repeated = await change('POST', order.id, renewKey, key);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.json).toEqual(renewed.json);

    await gateway.partners.change(partnerId, { orderPage: false });
    expect((await read(second)).status).toBe(404);
    expect((await details(order.id, key)).public_url).toBeNull();
    await gateway.partners.change(partnerId, { orderPage: true });
    expect((await read(second)).status).toBe(200);

    for (const _ of ['first', 'again']) expect((await change('DELETE', order.id, {}, key)).json.public_url).toBeNull();
    expect((await read(second)).status).toBe(404);
    const third = new URL((await change('POST', order.id, {}, key)).json.public_url).pathname;
    expect(new Set([first, second, third]).size).toBe(3);
    expect((await read(third)).status).toBe(200);
  });

  it('of an order that is not there looks like any other: same answer, same work', async () => {
    const revoked = await gateway.order();
    const revokedPath = await gateway.pathOf(revoked);
    await change('DELETE', revoked.id);
    const { id, key } = await gateway.partner();
    await gateway.partners.change(id, { orderPage: true, displayName: 'Other' });
    const { json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    const offPath = new URL((await details(json.id, key)).public_url).pathname;
    await gateway.partners.change(id, { orderPage: false });
    const { short_id: shortId } = await gateway.show(revoked);
    const paths = [
      '/o/AAAAAAAAAAAAAAAAAAAAAA',
      revokedPath,
      offPath,
      '/o/',
      `/o/${revoked.id}`,
      `/o/${shortId}`,
      `/o/${'x'.repeat(4_000)}`,
      '/o/%00',
      '/o/../o/x',
      '/o/page-xyz.css',
      `${await gateway.pathOf(await gateway.order())}=`,
    ];
    const known = bare(await read('/o/unknown'));
    expect(known).toMatchObject({ status: 404 });
    for (const path of paths) {
      statements.length = 0;
      expect([path, bare(await read(path))]).toEqual([path, known]);
      expect([path, statements.filter((sql) => sql.includes('order_page')).length]).toEqual([path, 1]);
      expect([path, statements.filter((sql) => sql.includes('exchange_order')).length]).toEqual([path, 1]);
    }
  });

  it('is changed by its own partner only', async () => {
    const order = await gateway.order();
    const path = await gateway.pathOf(order);
    const { id, key } = await gateway.partner();
    await gateway.partners.change(id, { orderPage: true, displayName: 'Other' });
    for (const method of ['POST', 'DELETE']) expect((await change(method, order.id, {}, key)).status).toBe(404);
    const { key: reader } = await gateway.partners.issueKey(gateway.partnerId, { scopes: ['orders:read'] });
    for (const method of ['POST', 'DELETE']) expect((await change(method, order.id, {}, reader)).status).toBe(403);
    expect((await read(path)).status).toBe(200);
  });

  it('is renewed and revoked by staff, with a reason', async () => {
    const order = await gateway.order();
    const first = await gateway.pathOf(order);
    const support = await newMember(gateway, 'support');
    const ask = (mutation: string) =>
      support.ask(`mutation ($id: ID!) { ${mutation}(orderId: $id, reason: "leaked") { id } }`, { id: order.id });
    expect((await ask('orderPageRenew')).errors).toEqual([]);
    expect((await read(first)).status).toBe(404);
    const second = await gateway.pathOf(order);
    expect((await read(second)).status).toBe(200);
    expect((await ask('orderPageRevoke')).errors).toEqual([]);
    expect((await read(second)).status).toBe(404);
    expect(await gateway.query('select from audit_log where target = $1', [`order:${order.id}`])).toHaveLength(2);
  });

  it('is in no log and in no metric', async () => {
    const path = await gateway.pathOf(await gateway.order());
    logged = '';
    await read(path);
    while (!logged.includes('/o/{token}')) await sleep(10);
    const metrics = await (await fetch(`${gateway.app.internalUrl}/metrics`)).text();
    expect(metrics).toContain('/o/{token}');
    for (const text of [logged, metrics]) expect(text).not.toContain(tokenOf(path));
  });

  it('needs a name to show, in visible characters', async () => {
    const { id } = await gateway.partner();
    const refused = (changes: Record<string, unknown>) => expect(gateway.partners.change(id, changes)).rejects;
    await refused({ orderPage: true }).toThrow('an order page needs a display name');
    for (const displayName of ['', '   ', 'x'.repeat(61), 'a\u202eb', 'a\nb']) {
      await refused({ displayName }).toThrow('a display name has 1 to 60 visible characters');
    }
    await gateway.partners.change(id, { orderPage: true, displayName: '  Wallet ' });
    await refused({ displayName: null }).toThrow('an order page needs a display name');
    expect((await gateway.partners.get(id)).displayName).toBe('Wallet');
  });
});

/** Reads a page as if a trusted TLS proxy passed the request on from an address. */
const from = (address: string) => ({ 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' });

describeWithRedis('the limit of pages', () => {
  it('counts by address in Redis, for all processes together, and answers with a page', async () => {
    const redis = await startRedis();
    const settings = {
      REDIS_URL: redis.url,
      NODE_COUNT: '2',
      TRUSTED_PROXIES: '127.0.0.0/8',
      RATE_LIMIT_PAGES_PER_MIN: '6',
    };
    // A late reply of Redis would let a process count alone.
    const outside = { limiterReplyMs: 30_000 };
    const one = await startPagedGateway({ settings, outside });
    const two = await startPagedGateway({ settings, outside, databaseUrl: one.databaseUrl });
    try {
      const path = await one.pathOf(await one.order());
      const both = [one, two].map(({ app }) => app.restUrl);
      const open = (i: number, address: string) =>
        fetch(`${both[i % 2]}${path}`, { headers: from(address), redirect: 'manual' });
      for (let i = 0; i < 6; i++) expect((await open(i, '203.0.113.7')).status).toBe(200);
      const refused = await open(6, '203.0.113.7');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await refused.text()).toContain('One moment, please');
      // Neither other users nor the API of that address are delayed.
      expect((await open(0, '203.0.113.8')).status).toBe(200);
      expect((await one.call('GET', '/currencies', { headers: from('203.0.113.7') })).status).toBe(200);
    } finally {
      await one.stop();
      await two.stop();
      await redis.stop();
    }
  });
});
