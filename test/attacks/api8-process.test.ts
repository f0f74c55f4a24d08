import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '../../src/accounts/partners/secret-key.ts';
import { createDatabase, query, type TestDatabase } from '../support/database/database.ts';
import { BuiltProcess, builtScript } from '../support/gateway/built-process.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { listenersOf } from '../support/gateway/process-group.ts';
import { close, freePort, listen } from '../support/http/local-server.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { formsOf, formsOfText, SecretSearch } from '../support/http/secret-search.ts';
import { attempt } from '../support/jest/attempts.ts';
import { StaffBrowser } from '../support/staff/staff-browser.ts';
import { type StaffReply, staffClient } from '../support/staff/staff-client.ts';

/**
 * OWASP API8:2023, security misconfiguration: what a process reveals, and where it listens. A
 * gateway in its own process is used and attacked. Then its output, answers, metrics, traces and
 * rows are searched for each secret that it knew or received.
 */

/** A secret as text: as it is and in the forms that a careless program gives it. */
const needles = (name: string, secret: string) => [
  ...formsOfText(name, secret),
  ...formsOf(name, Buffer.from(secret)).filter((needle) => !needle.name.endsWith('BigInt')),
];
const secretOf = (key: string): string => key.split('.')[1] ?? '';

let database: TestDatabase;
let folder: string;
let gateway: BuiltProcess;
/** Takes traces, and keeps what was sent. */
let collector: Server;
const traced: Buffer[] = [];

const printed = () => readFile(join(folder, 'gateway.log'), 'utf8');

/** What the gateway is started with. Each is found by its text. */
const configured = {
  'the pepper': 'pepper-of-the-attacks-0123456789abcdef',
  'the password of the database': 'password-of-the-database',
  'the password of Redis': 'password-of-redis',
  'the secret of the venue': Buffer.from('secret-of-the-venue').toString('base64'),
  'the key of the venue': 'key-of-the-venue',
  'the secret that reads the account': Buffer.from('secret-that-reads').toString('base64'),
  'the key that reads the account': 'key-that-reads-the-account',
  'the secret of the identity provider': 'secret-of-the-identity-provider',
};

beforeAll(async () => {
  database = await createDatabase('empty');
  folder = await mkdtemp(join(tmpdir(), 'gateway-secrets-'));
  const unreachable = `http://127.0.0.1:${await freePort()}`;
  const password = configured['the password of the database'];
  await query(database.url, `create role api8 login superuser password '${password}'`);
  const databaseUrl = new URL(database.url);
  Object.assign(databaseUrl, { username: 'api8', password });
  collector = createServer((request, response) => {
    request.on('data', (part) => traced.push(part));
    request.on('end', () => response.end('{}'));
  });
  const collectorPort = await listen(collector);
  gateway = new BuiltProcess({
    script: builtScript('main.js'),
    name: 'gateway',
    folder,
    ready: /^ready rest=(\S+) internal=(\S+)$/m,
    settings: {
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl.href,
      // No server listens at these addresses, so that each fails again and again.
      REDIS_URL: `redis://:${configured['the password of Redis']}@127.0.0.1:${await freePort()}`,
      PRICE_SOURCES: `kraken=${unreachable},binance=${unreachable}`,
      VENUE: `kraken=${unreachable}`,
      VENUE_KEY: configured['the key of the venue'],
      VENUE_SECRET: configured['the secret of the venue'],
      VENUE_FUNDING_KEY: configured['the key that reads the account'],
      VENUE_FUNDING_SECRET: configured['the secret that reads the account'],
      OIDC_ISSUER: unreachable,
      OIDC_CLIENT_ID: 'gateway',
      OIDC_CLIENT_SECRET: configured['the secret of the identity provider'],
      INTERNAL_PUBLIC_URL: 'http://localhost:8081',
      KEY_PEPPER: `1:${configured['the pepper']}`,
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
      PORT: '0',
      INTERNAL_PORT: '0',
      REQUIRE_DURABLE_COMMITS: 'false',
      RATE_LIMIT_AUTH_FAILURES_PER_MIN: '100000',
      RATE_LIMIT_PUBLIC_PER_MIN: '100000',
    },
  });
  await gateway.ready();
});
afterAll(async () => {
  await gateway?.end('SIGKILL');
  if (collector) await close(collector);
  await database?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

it('the gateway listens at its two loopback ports and at no other', async () => {
  const addresses = [...(/^ready rest=(\S+) internal=(\S+)$/m.exec(await printed()) ?? [])].slice(1);
  const expected = addresses.map((url) => `127.0.0.1:${new URL(url).port}`);
  attempt('other ports', await listenersOf(gateway.pid), expected.sort());
});

it('no secret is printed, answered, measured, traced or stored', async () => {
  const started = await printed();
  const [, rest = '', internal = ''] = /^ready rest=(\S+) internal=(\S+)$/m.exec(started) ?? [];
  const [, demoKey = ''] = /demo partner key, shown this once: (\S+)/.exec(started) ?? [];
  const [, demoToken = ''] = /\(admin\), shown this once: (\S+)/.exec(started) ?? [];
  expect([demoKey, demoToken].map((secret) => secret.length > 50)).toEqual([true, true]);
  const asAdmin = staffClient(internal, demoToken);
  /** The data of an operation that tells a secret, this once. */
  const told = async (operation: string) => {
    const { data, text } = await asAdmin(operation);
    if (!data) throw new Error(text);
    return data;
  };
  const { partnerCreate } = await told('mutation { partnerCreate(name: "Secrets", reason: "x") { id } }');
  const { keyIssue } = await told(`mutation { keyIssue(partnerId: "${partnerCreate.id}", reason: "x") { keyId key } }`);
  const { keyRoll } = await told(`mutation { keyRoll(keyId: "${keyIssue.keyId}", reason: "x") { keyId key } }`);
  const { staffInvite } = await told(
    'mutation { staffInvite(email: "new@example.com", role: OPERATOR, reason: "x") { member { id } } }',
  );
  // Where an identity provider is, a member has a token only when one is asked for.
  const { staffToken: renewed } = await told(
    `mutation { staffToken(id: "${staffInvite.member.id}", reason: "x") { enrolmentCode } }`,
  );
  const { token: staffToken } = (await (
    await fetch(`${internal}/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: internal },
      body: JSON.stringify({ token: renewed.enrolmentCode }),
    })
  ).json()) as { token: string };
  const { key } = keyRoll as { key: string };
  const browser = new StaffBrowser(internal);
  await browser.post('/sign-in', { token: staffToken });
  const forged = generateKey('xp_test_').whole;
  const forgedToken = generateKey('xs_').whole;
  const body = JSON.stringify(orderBody());
  const signature = createHmac('sha256', secretOf(key)).update(body).digest('hex');

  const answers: string[] = [];
  const hear = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, { redirect: 'manual', ...init });
    answers.push(`${[...reply.headers].join('\n')}\n\n${await reply.text()}`);
  };
  const json = { 'Content-Type': 'application/json' };
  const orders = `${rest}/api/v1/partner/orders`;
  const uses = async (): Promise<void> => {
    for (const one of [key, keyIssue.key, demoKey, forged, demoToken, `${key}x`]) {
      const authorised = { ...json, Authorization: `Bearer ${one}` };
      await hear(orders, { method: 'POST', headers: authorised, body });
      await hear(orders, { method: 'POST', headers: { ...authorised, 'X-Signature': signature }, body });
      await hear(orders, { method: 'POST', headers: authorised, body: `${body}{` });
      await hear(`${orders}/XP-AAAAAA`, { headers: { 'X-API-Key': one } });
      await hear(`${orders}/${one}`, { headers: { 'X-API-Key': key } });
      await hear(`${orders}/XP-AAAAAA?api_key=${one}`, { headers: { Referer: `https://x.example/?key=${one}` } });
      await hear(`${rest}/api/v1/${one}`, { headers: { 'User-Agent': one, 'X-Request-Id': one.slice(0, 64) } });
      await hear(`${rest}/api/v1/partner/rates?coin_from=${one}&coin_to=${one}&amount=${one}`);
      await hear(orders, {
        method: 'POST',
        headers: authorised,
        body: JSON.stringify({ ...orderBody(), recipient_address: one, [one]: 1 }),
      });
      await hear(orders, { method: 'POST', headers: { ...authorised, 'Idempotency-Key': `"${one}` }, body });
      answers.push((await rawExchange(rest, `GET /${one} HTTP/1.1\r\nX-API-Key: ${one}\r\nBroken\r\n\r\n`)).text);
    }
    for (const token of [
      demoToken,
      staffToken,
      renewed.enrolmentCode,
      forgedToken,
      key,
      browser.cookies.get('__Host-staff') ?? '',
    ]) {
      await hear(`${internal}/graphql`, {
        method: 'POST',
        headers: { ...json, Authorization: `Bearer ${token}` },
        body: '{"query":"{ me { email } }"}',
      });
      await hear(`${internal}/graphql?token=${token}`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ query: `{ order(id: "${token}") { id } }` }),
      });
      await hear(`${internal}/graphql`, {
        method: 'POST',
        headers: { ...json, Cookie: browser.cookie, Origin: internal },
        body: JSON.stringify({ query: `{ me(token: "${token}") { id } }` }),
      });
      await hear(`${internal}/sign-in?token=${token}&return_to=${token}`);
      await hear(`${internal}/sign-in`, {
        method: 'POST',
        headers: { ...json, Origin: internal },
        body: JSON.stringify({ token: `${token}x` }),
      });
      await hear(`${internal}/sign-in`, {
        method: 'POST',
        headers: { ...json, Origin: 'https://evil.example' },
        body: JSON.stringify({ token }),
      });
      await hear(`${internal}/sign-in/oidc`);
      await hear(`${internal}/sign-in/oidc/callback?code=${token}&state=${token}`, {
        headers: { Cookie: `__Host-staff-sign-in=${token}` },
      });
    }
    for (const asked of [
      '{ partners { id name keys { keyId last4 label scopes } } staff { id email role hasToken } }',
      '{ auditLog(first: 100) { edges { node { operation target reason before after requestId ip } } } }',
      '{ system { version } }',
    ]) {
      const { text }: StaffReply = await asAdmin(asked);
      answers.push(text);
    }
    for (const path of ['/metrics', '/readyz', '/livez', '/nothing-here']) await hear(internal + path);
  };
  await uses();
  // Once more while the database fails, so that errors are logged with what they know.
  for (const table of ['api_key', 'staff_member', 'staff_session', 'exchange_order']) {
    await query(database.url, `alter table ${table} rename to mislaid`);
    await uses();
    await query(database.url, `alter table mislaid rename to ${table}`);
  }
  expect(answers.some((answer) => answer.includes('"internal_error"'))).toBe(true);
  await gateway.end('SIGTERM');

  const shownOnce = { 'the demo key': secretOf(demoKey), 'the demo token': secretOf(demoToken) };
  const secret = {
    ...configured,
    'a key': secretOf(key),
    'a key that was rolled': secretOf(keyIssue.key),
    'a token': secretOf(staffToken),
    'a session': browser.cookies.get('__Host-staff') ?? '',
    'a signature': signature,
    'a forged key': secretOf(forged),
    'a forged token': secretOf(forgedToken),
  };
  const everything = new SecretSearch(
    Object.entries({ ...secret, ...shownOnce }).flatMap(([name, text]) => needles(name, text)),
  );
  const unprinted = new SecretSearch(Object.entries(secret).flatMap(([name, text]) => needles(name, text)));
  const log = await printed();
  expect(log.length).toBeGreaterThan(10_000);
  expect([...everything.inBytes(Buffer.from(started))]).toContain('the demo key');
  attempt('what was printed', [...unprinted.inBytes(Buffer.from(log))], []);
  // The secrets of the demo are for the operator who starts the gateway, and are printed before it
  // is ready.
  const sinceReady = log.slice(log.indexOf('\nready rest='));
  attempt('what was printed later', [...everything.inBytes(Buffer.from(sinceReady))], []);
  expect(traced.length).toBeGreaterThan(0);
  attempt('the traces', [...everything.inBytes(Buffer.concat(traced))], []);
  for (const [i, answer] of answers.entries()) attempt(`answer ${i}`, [...everything.inBytes(Buffer.from(answer))], []);
  const tables = await query<{ name: string }>(
    database.url,
    "select schemaname || '.' || tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(database.url, `select t::text as row from ${name} t`);
    attempt(`the table ${name}`, [...everything.inBytes(Buffer.from(rows.map(({ row }) => row).join('\n')))], []);
  }
});
