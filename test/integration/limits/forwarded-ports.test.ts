import { generateKey } from '../../../src/accounts/partners/secret-key.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { LogSink } from '../../support/gateway/log-sink.ts';
import { StaffBrowser } from '../../support/staff/staff-browser.ts';
import { socketUrl, upgradeStatus } from '../../support/staff/staff-socket.ts';

/**
 * Behind a proxy that writes a client's port next to its address, as Azure's do. Every place that
 * reads the address of a client reads it.
 */

let gateway: TestGateway;
const log = new LogSink();
beforeAll(async () => {
  gateway = await startGateway({
    settings: {
      TRUSTED_PROXIES: '127.0.0.0/8',
      LOG_LEVEL: 'info',
      RATE_LIMIT_PUBLIC_PER_MIN: '3',
      RATE_LIMIT_SIGN_IN_PER_MIN: '3',
    },
    outside: { logStream: log },
  });
});
afterAll(() => gateway?.stop());

/** The port of a client differs with each connection. */
let port = 50_000;
const from = (address: string) => ({ 'X-Forwarded-For': `${address}:${++port}`, 'X-Forwarded-Proto': 'https' });

const events = (name: string) =>
  log
    .lines()
    .flatMap((lines) => lines.split('\n').filter((line) => line !== ''))
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === name);

it.each(['203.0.113.1', '[2001:db8:1::1]'])('a client at %s has its own limit', async (address) => {
  const status = async (client: string) => (await gateway.call('GET', '/currencies', { headers: from(client) })).status;
  const other = address.replace('113.1', '113.2').replace('db8:1', 'db8:2');
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push(await status(address));
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(await status(other)).toBe(200);
});

it('a key works from its networks alone', async () => {
  const { key } = await gateway.partner({ allowedCidrs: ['203.0.113.0/24', '2001:db8:7::/48'] });
  const status = async (client: string) =>
    (await gateway.call('GET', '/partner/orders', { key, headers: from(client) })).status;
  expect([await status('203.0.113.7'), await status('198.51.100.7')]).toEqual([200, 403]);
  expect([await status('[2001:db8:7::1]'), await status('[2001:db8:8::1]')]).toEqual([200, 403]);
});

it('staff have their own limits when they sign in, at the API and at its WebSocket', async () => {
  const { token } = await gateway.staff.create('behind@example.com', 'viewer');
  const { internalUrl } = gateway.app;
  const signIn = async (client: string, text: string) =>
    (await new StaffBrowser(internalUrl).post('/sign-in', { token: text }, from(client))).status;
  const guess = (client: string) => signIn(client, generateKey('xs_').whole);
  for (let i = 0; i < 3; i++) expect(await guess('203.0.113.21')).toBe(401);
  expect([await guess('203.0.113.21'), await guess('203.0.113.22')]).toEqual([429, 401]);
  expect(await signIn('203.0.113.21', token)).toBe(303);

  const ask = async (client: string) =>
    (
      await fetch(`${internalUrl}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...from(client) },
        body: '{"query":"{ __typename }"}',
      })
    ).status;
  const asked = [];
  for (let i = 0; i < 4; i++) asked.push(await ask('203.0.113.23'));
  expect([...asked, await ask('203.0.113.24')]).toEqual([401, 401, 401, 429, 401]);

  const connect = (client: string) => upgradeStatus(socketUrl(internalUrl), from(client));
  const connected = [];
  for (let i = 0; i < 4; i++) connected.push(await connect('203.0.113.25'));
  expect([...connected, await connect('203.0.113.26')]).toEqual([401, 401, 401, 429, 401]);
});

it('an action of staff is in the audit trail with the network of the member', async () => {
  const { token } = await gateway.staff.create('audited@example.com', 'admin');
  const { id } = await gateway.partner();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...from('203.0.113.31') };
  const query = `mutation { partnerChange(id: "${id}", changes: { status: INACTIVE }, reason: "test") { id } }`;
  const answer = await fetch(`${gateway.app.internalUrl}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  expect(await answer.text()).not.toContain('errors');
  const rows = await gateway.app.orm.em
    .fork()
    .execute('select distinct ip from audit_log where target like ?', [`%${id}`]);
  expect(rows).toEqual([{ ip: '203.0.113.0' }]);
});

it('log lines have the network of each client, and a client without an address is logged once', async () => {
  for (const { ip_prefix } of events('request')) expect(ip_prefix).not.toBe('unknown');
  expect(events('client_unknown')).toEqual([]);
  for (let i = 0; i < 3; i++) {
    const headers = { 'X-Forwarded-For': 'unknown', 'X-Forwarded-Proto': 'https' };
    expect((await gateway.call('GET', '/currencies', { headers })).status).toBe(200);
  }
  expect(events('client_unknown')).toEqual([expect.objectContaining({ level: 'warn', count: 1 })]);
});
