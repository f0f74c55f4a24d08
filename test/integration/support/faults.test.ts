import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';
import { behindPort, createDatabase, query, type TestDatabase } from '../../support/database/database.ts';
import { FaultProxy } from '../../support/faults/fault-proxy.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

describe('PostgreSQL away', () => {
  let dataDir: string;
  let cluster: EmbeddedPostgres;
  let gateway: TestGateway;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gateway-fault-'));
    cluster = await startEmbeddedPostgres({ dataDir, ephemeral: true });
    gateway = await startGateway({ databaseUrl: cluster.url, settings: { DATA_DIR: dataDir } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await cluster?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is answered with 503 and Retry-After, quotes go on, and everything recovers by itself', async () => {
    const { key } = await gateway.partner();
    const create = () => gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    const readyz = async () => (await fetch(`${gateway.app.internalUrl}/readyz`)).status;
    const before = (await create()).json;
    // Its first look at the chains may take a while.
    while ((await readyz()) !== 200) await sleep(50);

    await cluster.stop();
    const refused = await create();
    expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    expect((await gateway.call('GET', `/partner/orders/${before.id}`, { key })).status).toBe(503);
    expect((await gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=ETH')).status).toBe(200);
    expect((await gateway.call('GET', '/currencies')).status).toBe(200);
    expect(await readyz()).toBe(503);
    expect((await fetch(`${gateway.app.internalUrl}/livez`)).status).toBe(200);

    cluster = await startEmbeddedPostgres({ dataDir, ephemeral: true });
    while ((await readyz()) !== 200) await sleep(50);
    expect((await create()).status).toBe(201);
    expect((await gateway.call('GET', `/partner/orders/${before.id}`, { key })).json).toEqual(before);
  });
});

describe('PostgreSQL without an answer', () => {
  /** No answer may take longer. */
  const boundMs = 10_000;
  let database: TestDatabase;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let key: string;
  let orderId: string;

  const create = () => gateway.call('POST', '/partner/orders', { key, body: orderBody(), timeoutMs: boundMs });
  const find = () => gateway.call('GET', `/partner/orders/${orderId}`, { key, timeoutMs: boundMs });
  /** More at once than there are connections. */
  const ask = async () => {
    const replies = await Promise.all(Array.from({ length: 24 }, (_, i) => (i % 2 ? create() : find())));
    return [...new Set(replies.map(({ status }) => status))].sort();
  };

  beforeAll(async () => {
    database = await createDatabase();
    const { socket, url } = behindPort(database.url);
    proxy = await FaultProxy.open(socket);
    gateway = await startGateway({ databaseUrl: url(proxy.port), embedded: false });
    ({ key } = await gateway.partner());
    orderId = (await create()).json.id;
  });
  afterAll(async () => {
    await gateway?.stop();
    await proxy?.close();
    await database?.drop();
  });

  it('that hangs is answered with 503 in time, and all is well once it goes on', async () => {
    proxy.hang();
    expect(await ask()).toEqual([503]);
    await proxy.heal();
    expect(await ask()).toEqual([200, 201]);
  });

  it('on connections that are lost is asked on new ones', async () => {
    expect(await ask()).toEqual([200, 201]);
    // Also on connections that were idle for a while.
    await sleep(8_000);
    proxy.lose();
    expect(await ask()).toEqual([503]);
    expect(await ask()).toEqual([200, 201]);
  });
});

describe('connections cut', () => {
  it('cost at most the requests under way, and every acknowledged order is there', async () => {
    const gateway = await startGateway();
    const { key } = await gateway.partner();
    const acknowledged: string[] = [];
    const unexpected: number[] = [];
    let going = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (going) {
        const { status, json } = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
        if (status === 201) acknowledged.push(json.id);
        else if (status !== 503) unexpected.push(status);
      }
    });
    for (let i = 0; i < 10; i++) {
      // A slow machine needs longer than that to connect again and store an order.
      const stored = acknowledged.length;
      await sleep(30);
      while (acknowledged.length === stored) await sleep(10);
      await query(
        gateway.databaseUrl,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    }
    going = false;
    await Promise.all(clients);
    expect(unexpected).toEqual([]);
    const rows = await query<{ id: string }>(gateway.databaseUrl, 'select id from exchange_order');
    const stored = new Set(rows.map((row) => row.id));
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    const [events] = await query<{ orphans: string }>(
      gateway.databaseUrl,
      'select count(*) as orphans from exchange_order o where not exists (select 1 from order_event e where e.order_id = o.id and e.seq = 1)',
    );
    expect(events?.orphans).toBe('0');
    await gateway.stop();
  });
});

describe('a drain', () => {
  it('answers every request of clients that turn away when readiness ends, and none with 5xx', async () => {
    const gateway = await startGateway({ settings: { DRAIN_GRACE_LOCAL_MS: '5000' } });
    const { key } = await gateway.partner();
    const ready = async () => (await fetch(`${gateway.app.internalUrl}/readyz`)).ok;
    const statuses: number[] = [];
    let away = false;
    const clients = Array.from({ length: 8 }, async () => {
      while (!away) statuses.push((await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).status);
    });
    await sleep(300);
    expect(await ready()).toBe(true);
    const answeredBefore = statuses.length;
    const done = gateway.stop();
    // As a load balancer does: it asks, and sends nothing more once the answer is no.
    while (await ready()) await sleep(10);
    away = true;
    await Promise.all(clients);
    await done;
    expect(statuses.filter((status) => status !== 201)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(answeredBefore);
    await expect(fetch(`${gateway.app.restUrl}/api/v1/currencies`)).rejects.toThrow();
  });

  it('lets a request end that is under way when the listener closes', async () => {
    const gateway = await startGateway();
    const { key } = await gateway.partner();
    const body = JSON.stringify(orderBody());
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    };
    const call = request(`${gateway.app.restUrl}/api/v1/partner/orders`, { method: 'POST', headers });
    const answered = new Promise<number | undefined>((resolve, reject) => {
      call.once('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.once('error', reject);
    });
    call.write(body.slice(0, 20));
    const idle = connect(Number(new URL(gateway.app.restUrl ?? '').port), '127.0.0.1').resume();
    await once(idle, 'connect');
    await sleep(200);
    const done = gateway.stop();
    // A connection without a request is closed, and this one has one.
    await once(idle, 'close');
    call.end(body.slice(20));
    expect(await answered).toBe(201);
    await done;
  });
});
