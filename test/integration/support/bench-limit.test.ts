import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointIds, endpointsOf } from '../../bench/endpoints.ts';
import { differences } from '../../bench/requests.ts';
import { fillCatalogue, makeEndpoints, type Server, startServer } from '../../bench/servers.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody, orderBodyWithout } from '../../support/gateway/orders.ts';

describe('the server that the benchmark compares the gateway with', () => {
  let gateway: TestGateway;
  let limit: Server;
  let folder: string;
  let key: string;
  let urls: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-limit-'));
    gateway = await startGateway();
    await fillCatalogue(gateway.databaseUrl, 200);
    await gateway.app.catalogue.refresh();
    ({ key } = await gateway.partner());
    limit = await startServer('limit', {
      databaseUrl: gateway.databaseUrl,
      dataDir: gateway.config.DATA_DIR,
      redisUrl: null,
      folder,
    });
    urls = [`${gateway.app.restUrl}/api/v1`, limit.url];
  });

  afterAll(async () => {
    await limit?.stop();
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const create = (
    url: string,
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${url}/partner/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  it.each(endpointIds)('answers %s as the gateway does', async (id) => {
    const [own = '', other = ''] = urls;
    const endpoint = (await makeEndpoints(own, key, 1)).find((one) => one.id === id);
    if (!endpoint) throw new Error(`there is no endpoint ${id}`);
    expect(await differences(own, other, endpoint)).toEqual([]);
  });

  it('lists 200 currencies, as the gateway does', async () => {
    for (const url of urls) {
      const response = await fetch(`${url}/currencies`);
      expect(await response.json()).toHaveLength(200);
    }
  });

  it('refuses what the gateway refuses', async () => {
    const [own = ''] = urls;
    const order = (await (await create(own, orderBody())).json()) as { deposit_address: string };
    const toUs = { coin_from: 'USDT', network_from: 'TRC20', coin_to: 'BTC', network_to: 'BTC', amount_from: 1000 };
    const refused: readonly (readonly [Record<string, unknown>, Record<string, string>?])[] = [
      [orderBody(), { Authorization: `Bearer ${key.slice(0, -1)}` }],
      [orderBody(), { 'Content-Type': 'text/plain' }],
      [orderBody({ amount_from: 0.0000001 })],
      [orderBody({ amount_from: '0.01' })],
      [orderBody({ amount_from: 0.012345678912 })],
      [orderBody({ coin_to: 'NOPE' })],
      [orderBody({ more: 1 })],
      [orderBodyWithout('network_to')],
      [orderBody({ recipient_address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv9' })],
      [orderBody({ ...toUs, recipient_address: order.deposit_address })],
    ];
    for (const [body, headers] of refused) {
      const answers = await Promise.all(
        urls.map(async (url) => {
          const response = await create(url, body, headers);
          const { code } = (await response.json()) as { code: string };
          return { body, status: response.status, code };
        }),
      );
      expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  it('answers a repeated create with the same order, and says so', async () => {
    for (const [i, url] of urls.entries()) {
      const headers = { 'Idempotency-Key': `again-${i}` };
      const first = await create(url, orderBody(), headers);
      const second = await create(url, orderBody(), headers);
      expect(second.status).toBe(201);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(await second.text()).toBe(await first.text());
      expect((await create(url, orderBody({ amount_from: 0.02 }), headers)).status).toBe(422);
    }
  });

  it('writes orders that the gateway finds', async () => {
    const [own = '', other = ''] = urls;
    const { id } = (await (await create(other, orderBody())).json()) as { id: string };
    const [lookup] = endpointsOf({ key, orderIds: [id], currenciesEtag: '' }).filter((one) => one.id === 'lookup');
    if (!lookup) throw new Error('there is no endpoint lookup');
    expect(await differences(own, other, lookup)).toEqual([]);
  });
});
