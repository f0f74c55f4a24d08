import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { socketUrl } from '../../support/staff/staff-socket.ts';

// How many WebSocket connections of staff a process takes: counted before anything is looked up.

let gateway: TestGateway;
const sockets = new Set<WebSocket>();

async function start(trusted: string): Promise<void> {
  gateway = await startGateway({
    settings: { TRUSTED_PROXIES: trusted, STAFF_SOCKETS_PER_ADDRESS: '3' },
    outside: { background: false },
  });
}

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  sockets.clear();
  await gateway?.stop();
});

/** Asks for a connection, and keeps it open. The status of the answer. */
function connect(token: string, address: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address };
    const socket = new WebSocket(socketUrl(gateway.app.internalUrl), 'graphql-transport-ws', { headers });
    sockets.add(socket);
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_req, { statusCode }) => resolve(statusCode ?? 0));
    socket.on('error', () => {});
  });
}

async function closeAll(): Promise<void> {
  const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of sockets) socket.close();
  sockets.clear();
  await Promise.all(closed);
}

const member = async (email: string): Promise<string> =>
  (await gateway.staff.create(`${email}@example.com`, 'viewer')).token;

const all = (token: string, addresses: readonly string[]): Promise<number[]> =>
  Promise.all(addresses.map((address) => connect(token, address)));

it('an address has a bound, and two clients behind one trusted proxy count apart', async () => {
  await start('127.0.0.0/8');
  const token = await member('one');
  const [first, second] = ['203.0.113.1', '203.0.113.2'];
  expect((await all(token, [first, first, first, first, first])).toSorted()).toEqual([101, 101, 101, 429, 429]);
  expect(await connect(token, second)).toBe(101);
  await closeAll();
  // The gateway notices a moment later.
  while ((await connect(token, first)) !== 101);
});

it('a block of IPv6 has ten times the bound of a host', async () => {
  await start('127.0.0.0/8');
  const tokens = await Promise.all(['a', 'b', 'c', 'd'].map(member));
  const hosts = Array.from({ length: 32 }, (_, index) => `2001:db8:7:${index.toString(16)}::1`);
  const statuses: number[] = [];
  for (const [index, host] of hosts.entries()) statuses.push(await connect(tokens[index % 4] ?? '', host));
  expect(statuses).toEqual([...Array(30).fill(101), 429, 429]);
  expect(await connect(tokens[0] ?? '', '2001:db8:8::1')).toBe(101);
});

it('a forged header of a client that is no trusted proxy changes nothing', async () => {
  await start('192.0.2.0/24');
  const token = await member('forger');
  const forged = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4'];
  expect((await all(token, forged)).toSorted()).toEqual([101, 101, 101, 429]);
});

it('connections whose caller is still looked up count', async () => {
  await start('127.0.0.0/8');
  const token = await member('slow');
  const { em } = gateway.app.orm;
  const lock = em.fork();
  await lock.begin();
  await lock.execute('lock table staff_member in access exclusive mode');
  try {
    const asked = ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.1'].map((from) => connect(token, from));
    // One is refused while the others still wait for the table.
    expect(await Promise.race(asked)).toBe(429);
    await lock.rollback();
    expect((await Promise.all(asked)).toSorted()).toEqual([101, 101, 101, 429]);
  } finally {
    if (lock.isInTransaction()) await lock.rollback();
  }
});

it('a member has ten connections, also of many that ask at once', async () => {
  await start('127.0.0.0/8');
  const token = await member('many');
  const addresses = Array.from({ length: 15 }, (_, index) => `203.0.113.${index}`);
  const statuses = await all(token, addresses);
  expect(statuses.filter((status) => status === 101)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
});
