import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, query } from '../../support/database/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { feedCatchesUp, orderBody, type Rows } from '../../support/gateway/orders.ts';
import { StreamClient } from '../../support/http/event-stream.ts';

/** Waits and streams while a process is full, drains, and another one takes its place. */

let database: Awaited<ReturnType<typeof createDatabase>>;
let rows: Rows;
beforeAll(async () => {
  database = await createDatabase();
  rows = (sql, values) => query(database.url, sql, values);
});
afterAll(() => database?.drop());

const start = (mostWaits?: number): Promise<TestGateway> =>
  startGateway({
    databaseUrl: database.url,
    settings: { DRAIN_GRACE_LOCAL_MS: '5000' },
    outside: { background: false, ...(mostWaits === undefined ? {} : { mostWaits }) },
  });

async function create({ call }: TestGateway, key: string): Promise<string> {
  const { status, text, json } = await call('POST', '/partner/orders', { key, body: orderBody() });
  if (status !== 201) throw new Error(text);
  await feedCatchesUp(rows);
  return json.id;
}

it('a drain ends waits and streams, and their clients go on elsewhere without a gap', async () => {
  const leaving = await start();
  const { key } = await leaving.partner();
  const url = `${leaving.app.restUrl}/api/v1/partner/events`;
  const client = new StreamClient(`${url}/stream`, { 'X-API-Key': key });
  await client.until(({ retryMs }) => retryMs !== null);
  const before = await create(leaving, key);
  await client.until(({ events }) => events.length === 1);
  const [{ next_cursor: cursor }] = [(await leaving.call('GET', '/partner/events', { key })).json];
  const waiting = fetch(`${url}?wait=30&cursor=${cursor}`, { headers: { 'X-API-Key': key } });
  await sleep(300);
  const stopping = leaving.stop();
  const reply = await waiting;
  expect([reply.status, reply.headers.get('connection')]).toEqual([200, 'close']);
  expect(await reply.json()).toEqual({ data: [], has_more: false, next_cursor: cursor });
  await client.ended;
  expect(client.events.map(({ event }) => event)).toEqual(['order.created', 'reconnect']);
  expect(JSON.parse(client.events[0]?.data ?? '').data.order_id).toBe(before);
  // A request during the drain waits for a moment only.
  const late = await leaving.call('GET', `/partner/events?wait=30&cursor=${cursor}`, { key });
  expect(late.json.data).toEqual([]);
  await stopping;

  const next = await start();
  const after = await create(next, key);
  const base = `${next.app.restUrl}/api/v1/partner/events`;
  const back = new StreamClient(`${base}/stream`, { 'X-API-Key': key, 'Last-Event-ID': client.events[0]?.id ?? '' });
  await back.until(({ events }) => events.length === 1);
  expect(JSON.parse(back.events[0]?.data ?? '').data.order_id).toBe(after);
  const page = await next.call('GET', `/partner/events?wait=5&cursor=${cursor}`, { key });
  expect(page.json.data.map(({ data }: { data: { order_id: string } }) => data.order_id)).toEqual([after]);
  back.close();
  await next.stop();
});

it('a process admits no more waits than it has room for', async () => {
  const small = await start(3);
  const keys = await Promise.all([1, 2, 3].map(() => small.partner()));
  const last = await small.partner();
  const waiting = keys.map(({ key }) => small.call('GET', '/partner/events?wait=15', { key }));
  await sleep(500);
  const refused = await small.call('GET', '/partner/events?wait=15', { key: last.key });
  expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
  expect((await small.call('GET', '/partner/events', { key: last.key })).status).toBe(200);
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
  expect((await small.call('GET', '/partner/events?wait=1', { key: last.key })).status).toBe(200);
  await small.stop();
});
