import { serverAudits } from 'graphql-http';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { newMember } from '../../support/staff/staff-client.ts';

type Member = Awaited<ReturnType<typeof newMember>>;
const log = new LogSink();
let gateway: SettledGateway;
let viewer: Member;
let admin: Member;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { LOG_LEVEL: 'debug' }, outside: { logStream: log } });
  viewer = await newMember(gateway, 'viewer');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.app.internalUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${viewer.token}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

function nestedOrders(levels: number): string {
  return levels === 0 ? '{ id }' : `{ actions { order ${nestedOrders(levels - 1)} } }`;
}

describe('GraphQL over HTTP', () => {
  for (const audit of serverAudits({
    url: () => `${gateway.app.internalUrl}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${viewer.token}` },
      }),
  })) {
    it(`${audit.id}: ${audit.name}`, async () => {
      const result = await audit.fn();
      if (result.status === 'error') throw new Error(result.reason);
      if (result.status === 'warn' && audit.name.startsWith('MUST')) throw new Error(result.reason);
    });
  }
});

describe('what is refused before it runs', () => {
  it.each([
    ['too deep', `query { order(id: "x") ${nestedOrders(6)} }`],
    ['too many aliases', `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: me { id }`).join(' ')} }`],
    ['too many words', `{ ${'me { id } '.repeat(1_000)} }`],
    ['too many directives', `{ me { id ${'@include(if: true) '.repeat(30)} } }`],
    [
      'too long a page',
      `{ orders(first: 100) { edges { node { events { at } deposits { txid payments { id attempts { txid } } } payments { attempts { txid } } } } } }`,
    ],
    ['a circle of fragments', 'query { me { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }'],
    ['an unknown field', '{ me { secret } }'],
  ])('%s', async (_name, query) => {
    const reply = await viewer.ask(query);
    expect(reply.status).toBe(400);
    expect(reply.data).toBeNull();
    expect(reply.errors[0]?.extensions.code).toMatch(
      /^(GRAPHQL_VALIDATION_FAILED|GRAPHQL_PARSE_FAILED|BAD_USER_INPUT)$/,
    );
    expect(reply.errors[0]?.extensions.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('a batch, another method, another type, a form of a foreign page', async () => {
    expect((await post([{ query: '{ me { id } }' }, { query: '{ me { id } }' }])).status).toBe(400);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const reply = await fetch(`${gateway.app.internalUrl}/graphql?query={me{id}}`, {
        method,
        headers: { Authorization: `Bearer ${viewer.token}` },
      });
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const reply = await post('{"query":"{ me { id } }"}', { 'Content-Type': type });
      expect([type, reply.status >= 400 && reply.status < 500]).toEqual([type, true]);
    }
    expect((await post('{"query": "{ me { id } }"')).status).toBe(400);
    expect((await post(JSON.stringify({ query: `{ me { id } } #${'x'.repeat(110_000)}` }))).status).toBe(413);
  });

  it('what a signed-in browser sends from another site', async () => {
    const browser = new StaffBrowser(gateway.app.internalUrl);
    expect((await browser.post('/sign-in', { token: admin.token })).status).toBe(303);
    const cookie = `__Host-staff=${browser.cookies.get('__Host-staff')}`;
    const ask = (headers: Record<string, string>) =>
      fetch(`${gateway.app.internalUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Cookie: cookie, ...headers },
        body: '{"query":"{ me { email } }"}',
      });
    expect((await ask({ Origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask({})).status).toBe(403);
    expect((await ask({ Origin: gateway.app.internalUrl, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    const own = await ask({ Origin: gateway.app.internalUrl });
    expect(await own.json()).toMatchObject({ data: { me: { email: admin.email } } });
  });
});

describe('what is answered', () => {
  it('holds no text that reveals internals', async () => {
    await gateway.query('alter table partner rename to partner_away');
    const reply = await viewer.ask('{ partners { id } }');
    await gateway.query('alter table partner_away rename to partner');
    expect(reply.errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
    expect(reply.text).not.toMatch(/relation|partner_away|select|stack|at .*\.ts/);
    expect(log.lines().some((line) => line.includes(reply.errors[0]?.extensions.request_id ?? '-'))).toBe(true);
  });

  it('never holds a secret, and neither does the log', async () => {
    const { id, key } = await gateway.partner();
    const { keyRoll } = await admin.data('mutation ($k: ID!) { keyRoll(keyId: $k, reason: "x") { keyId key } }', {
      k: key.split('.')[0],
    });
    const secrets = [key, keyRoll.key, viewer.token, admin.token].map((whole: string) => whole.split('.')[1] ?? '');
    const replies = await Promise.all([
      admin.ask(
        `{ partner(id: "${id}") { id name keys { keyId last4 label scopes } } staff { id email role hasToken } }`,
      ),
      admin.ask('{ auditLog(first: 100) { edges { node { operation target reason before after requestId ip } } } }'),
      admin.ask('{ __schema { types { name fields { name } } } }'),
    ]);
    for (const text of [...replies.map((reply) => reply.text), ...log.lines()]) {
      for (const secret of secrets) expect(text.includes(secret)).toBe(false);
    }
    expect(replies[2]?.text).not.toMatch(/"(mac|tokenMac|pepper\w*|raw|payload)"/);
    // The secret of a webhook is shown once, to who makes or rotates it.
    const types: { name: string; fields: { name: string }[] | null }[] = JSON.parse(replies[2]?.text ?? '').data
      .__schema.types;
    const withSecret = types.filter(({ fields }) => fields?.some(({ name }) => name === 'secret'));
    expect(withSecret.map(({ name }) => name)).toEqual(['WebhookSecret']);
  });

  it('names the request', async () => {
    const reply = await viewer.ask('{ me { id } }');
    expect(reply.extensions.request_id).toBe(reply.headers.get('x-request-id'));
  });
});

describe('limits', () => {
  it('a member has one limit of operations a minute for all operations together', async () => {
    const small = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '5' } });
    try {
      const one = await newMember(small, 'viewer');
      const two = await newMember(small, 'viewer');
      const statuses: number[] = [];
      for (let i = 0; i < 7; i++) statuses.push((await one.ask('{ me { id } }')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
      const limited = await one.ask('{ me { id } }');
      expect(limited.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', kind: 'rate_limited' } }]);
      expect(Number.parseInt(limited.headers.get('retry-after') ?? '0', 10)).toBeGreaterThan(0);
      expect((await two.ask('{ me { id } }')).status).toBe(200);
    } finally {
      await small.stop();
    }
  });

  it('a query that takes too long is cancelled with an error that says so', async () => {
    await gateway.query('alter table partner rename to stored_partner');
    await gateway.query('create view partner as select p.* from stored_partner p, pg_sleep(60)');
    try {
      const reply = await viewer.ask('{ partners { id } }');
      expect(reply.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', kind: 'query_too_slow' } }]);
    } finally {
      await gateway.query('drop view partner');
      await gateway.query('alter table stored_partner rename to partner');
    }
  });

  it('a query that waits for a lock is answered as unavailable', async () => {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    try {
      await client.query('begin; lock table partner in access exclusive mode');
      const reply = await viewer.ask('{ partners { id } }');
      expect(reply.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE', kind: 'unavailable' } }]);
    } finally {
      await client.query('rollback');
      await client.end();
    }
  });
});
