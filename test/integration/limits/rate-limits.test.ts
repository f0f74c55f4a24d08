import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../../src/accounts/partners/secret-key.ts';
import { addressKeys } from '../../../src/base/limits/client-address.ts';
import { Limiter } from '../../../src/base/limits/limiter.ts';
import { createLog } from '../../../src/base/log.ts';
import { expositionOf, ProcessMetrics } from '../../../src/base/telemetry/process-metrics.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../../support/database/redis.ts';
import { FaultProxy } from '../../support/faults/fault-proxy.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { metric, sampleOf } from '../../support/http/exposition.ts';

const gateways: TestGateway[] = [];
/** Every request is counted in Redis, also on a busy machine. */
const patient = { limiterReplyMs: 30_000 };

const start = async (options: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> => {
  const gateway = await startGateway({
    ...options,
    settings: {
      RATE_LIMIT_PUBLIC_PER_MIN: '60',
      RATE_LIMIT_PARTNER_PER_MIN: '600',
      RATE_LIMIT_ORDERS_PER_MIN: '120',
      RATE_LIMIT_VALIDATIONS_PER_MIN: '120',
      RATE_LIMIT_CHANGES_PER_MIN: '3',
      RATE_LIMIT_AUTH_FAILURES_PER_MIN: '20',
      TRUSTED_PROXIES: '127.0.0.0/8',
      ...options.settings,
    },
  });
  gateways.push(gateway);
  return gateway;
};
afterAll(() => Promise.all(gateways.map((gateway) => gateway.stop())));

/** Calls as if a trusted TLS proxy passed them on from an address. */
const from = (address: string) => ({ 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' });

function publicLimits(name: string, startOne: () => Promise<TestGateway>): void {
  describe(`limits counted ${name}`, () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startOne();
    });
    const currencies = (headers: Record<string, string>) => gateway.call('GET', '/currencies', { headers });

    it('let 60 requests through and answer the 61st with 429, Retry-After and the headers', async () => {
      for (let i = 1; i <= 60; i++) {
        const reply = await currencies(from('203.0.113.1'));
        expect(reply.status).toBe(200);
        expect(reply.headers.get('ratelimit-policy')).toBe('"anon";q=60;w=60');
        expect(reply.headers.get('ratelimit')).toMatch(new RegExp(`^"anon";r=${60 - i};t=\\d+$`));
        expect(reply.headers.get('x-ratelimit-remaining')).toBe(String(60 - i));
      }
      const reply = await currencies(from('203.0.113.1'));
      expect(reply.status).toBe(429);
      expect(reply.json.detail).toBe(`rate limit exceeded; retry in ${reply.headers.get('retry-after')} seconds`);
      expect((await currencies(from('203.0.113.2'))).status).toBe(200);
    });

    it('believe only the nearest address that is no trusted proxy', async () => {
      for (let i = 0; i < 60; i++) await currencies(from(`198.51.100.${i}, 203.0.113.9`));
      expect((await currencies(from('198.51.100.200, 203.0.113.9'))).status).toBe(429);
    });

    it('count an IPv6 /64 as one client, and bound its /48', async () => {
      for (let i = 0; i < 60; i++) await currencies(from(`2001:db8:1:1::${i.toString(16)}`));
      expect((await currencies(from('2001:db8:1:1:ffff::1'))).status).toBe(429);
      expect((await currencies(from('2001:db8:1:2::1'))).status).toBe(200);
    });

    it('count unknown paths, and order endpoints without a key', async () => {
      for (let i = 0; i < 30; i++) {
        await gateway.call('GET', '/nope', { headers: from('203.0.113.3') });
        await gateway.call('GET', '/partner/orders/x', { headers: from('203.0.113.3') });
      }
      expect((await currencies(from('203.0.113.3'))).status).toBe(429);
    });

    it('never count a keyed request for its address, and all keys of a partner together', async () => {
      const { id, key } = await gateway.partner();
      const { key: second } = await gateway.partners.issueKey(id);
      await gateway.partners.change(id, { rateLimitPerMin: 70 });
      for (let i = 0; i < 70; i++) {
        const reply = await gateway.call('GET', '/currencies', {
          key: i % 2 ? key : second,
          headers: from('203.0.113.4'),
        });
        expect(reply.status).toBe(200);
      }
      expect((await gateway.call('GET', '/currencies', { key, headers: from('203.0.113.5') })).status).toBe(429);
      expect((await currencies(from('203.0.113.4'))).headers.get('x-ratelimit-remaining')).toBe('59');
    });

    it('have a separate bucket for creating orders', async () => {
      const { id, key } = await gateway.partner();
      await gateway.partners.change(id, { ordersLimitPerMin: 2 });
      const create = () => gateway.call('POST', '/partner/orders', { key, body: orderBody() });
      expect([(await create()).status, (await create()).status]).toEqual([201, 201]);
      const refused = await create();
      expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([429, '"orders";q=2;w=60']);
      expect((await gateway.call('GET', '/currencies', { key })).status).toBe(200);
    });

    it('have a separate bucket for validations, of addresses and orders together', async () => {
      const { key } = await gateway.partner();
      const address = { coin: 'BTC', network: 'BTC', address: 'x' };
      const validate = (what: string, body: unknown) =>
        gateway.call('POST', `/partner/${what}/validate`, { key, body });
      const first = await validate('orders', orderBody());
      expect([first.status, first.headers.get('ratelimit-policy')]).toEqual([200, '"validations";q=120;w=60']);
      for (let i = 2; i <= 120; i++) expect((await validate('addresses', address)).status).toBe(200);
      for (const refused of [await validate('addresses', address), await validate('orders', orderBody())]) {
        expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([429, '"validations";q=120;w=60']);
      }
      expect((await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).status).toBe(201);
    });

    it('have a separate bucket for changes of orders, of every kind together', async () => {
      const { key } = await gateway.partner();
      const change = (method: string, path: string, body?: object) =>
        gateway.call(method, `/partner/orders/XP-AAAAAA${path}`, { key, ...(body ? { body } : {}) });
      const first = await change('POST', '/cancel');
      expect([first.status, first.headers.get('ratelimit-policy')]).toEqual([404, '"changes";q=3;w=60']);
      expect((await change('PATCH', '', { metadata: {} })).status).toBe(404);
      expect((await change('PUT', '/refund-address', { refund_address: 'x' })).status).toBe(404);
      expect((await change('POST', '/cancel')).status).toBe(429);
      expect((await gateway.call('POST', '/partner/orders', { key, body: orderBody() })).status).toBe(201);
    });

    it('stop a stranger who guesses keys, and never the partner whose key id is guessed', async () => {
      const { key, keyId } = await gateway.partner();
      const forged = `${keyId}.${generateKey('xp_test_').secret}`;
      const statuses: number[] = [];
      for (let i = 0; i < 40; i++) {
        const guess = i % 2 ? forged : generateKey('xp_test_').whole;
        statuses.push(
          (await gateway.call('GET', '/partner/orders/x', { key: guess, headers: from('203.0.113.6') })).status,
        );
      }
      expect(statuses).toEqual([...Array(20).fill(401), ...Array(20).fill(429)]);
      expect((await gateway.call('GET', '/partner/orders/x', { key, headers: from('203.0.113.6') })).status).toBe(404);
      expect(
        (await gateway.call('POST', '/partner/orders', { key, body: orderBody(), headers: from('203.0.113.6') }))
          .status,
      ).toBe(201);
    });
  });
}

publicLimits('in memory', () => start());

describe('addressKeys', () => {
  it.each([
    ['::ffff:127.0.0.1', '127.0.0.1', null],
    ['203.0.113.7', '203.0.113.7', null],
    ['2001:db8:a:b:c::1', '2001:db8:a:b::/64', '2001:db8:a::/48'],
    ['nonsense', 'unknown', null],
  ])('%s counts as %s', (address, host, block) => {
    expect(addressKeys(address)).toEqual({ host, block });
  });
});

describe('plain HTTP', () => {
  it('is refused beyond this machine, also when a trusted proxy reports it, and never redirected', async () => {
    const gateway = await start();
    const headers = { 'X-Forwarded-For': '203.0.113.8', 'X-Forwarded-Proto': 'http' };
    const response = await fetch(`${gateway.app.restUrl}/api/v1/currencies`, { headers, redirect: 'manual' });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'https_required' });
    const secure = await gateway.call('GET', '/currencies', { headers: from('203.0.113.8') });
    expect(secure.headers.get('strict-transport-security')).toMatch(/max-age=\d{8}/);
  });

  it('takes no forwarding header from a peer that is not trusted', async () => {
    const gateway = await start({ settings: { TRUSTED_PROXIES: '10.0.0.0/8' } });
    const headers = { 'X-Forwarded-For': '203.0.113.8', 'X-Forwarded-Proto': 'http' };
    expect((await gateway.call('GET', '/currencies', { headers })).status).toBe(200);
  });
});

describeWithRedis('limits in Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  publicLimits('in Redis', () =>
    start({ settings: { REDIS_URL: redis.url }, outside: { ...patient, limiterPrefix: 'one' } }),
  );

  it('are shared by processes', async () => {
    const options = {
      settings: { REDIS_URL: redis.url, RATE_LIMIT_PUBLIC_PER_MIN: '10' },
      outside: { ...patient, limiterPrefix: 'two' },
    };
    const [one, two] = [await start(options), await start(options)];
    for (let i = 0; i < 10; i++) {
      expect((await (i % 2 ? one : two).call('GET', '/currencies', { headers: from('203.0.113.20') })).status).toBe(
        200,
      );
    }
    expect((await one.call('GET', '/currencies', { headers: from('203.0.113.20') })).status).toBe(429);
    expect((await two.call('GET', '/currencies', { headers: from('203.0.113.20') })).status).toBe(429);
  });

  it('return to Redis on a new connection after a silent loss of the old one', async () => {
    const proxy = await FaultProxy.open({ port: Number(new URL(redis.url).port), host: '127.0.0.1' });
    const log = createLog('silent');
    const metrics = new ProcessMetrics();
    const fromMemory = async () =>
      sampleOf(await expositionOf([await metrics.snapshot()]), 'gateway_rate_limit_insurance_total');
    const limiter = new Limiter({
      metrics,
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
      nodeCount: 1,
      log,
      keyPrefix: 'lost',
    });
    await limiter.ready(5_000);
    const count = () => limiter.consume({ bucket: 'anon', key: 'someone', limit: 1_000_000 });
    await count();
    const before = await fromMemory();
    proxy.lose();
    await count();
    expect(await fromMemory()).toBe((before ?? 0) + 1);
    let isBack = false;
    for (let i = 0; i < 200 && !isBack; i++) {
      const before = await fromMemory();
      await count();
      isBack = (await fromMemory()) === before;
      await sleep(50);
    }
    limiter.close();
    await proxy.close();
    expect(isBack).toBe(true);
  });

  it('end with their window also when the clock of the process is set back meanwhile', async () => {
    const limiter = new Limiter({
      redisUrl: redis.url,
      nodeCount: 1,
      log: createLog('silent'),
      keyPrefix: 'set-back',
      replyMs: patient.limiterReplyMs,
    });
    await limiter.ready(5_000);
    const bucket = { bucket: 'anon', key: 'someone', limit: 1 } as const;
    for (const allowed of [true, false]) expect((await limiter.consume(bucket)).allowed).toBe(allowed);
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now - 3_600_000);
    const { allowed, resetMs } = await limiter.consume(bucket);
    clock.mockRestore();
    limiter.close();
    expect(allowed).toBe(false);
    expect(resetMs).toBeLessThanOrEqual(60_000);
  });

  it.each([
    'hangs',
    'is killed',
  ])('hold from memory while Redis %s, answer without it, and go back to Redis', async (how) => {
    const settings = { REDIS_URL: redis.url, RATE_LIMIT_PUBLIC_PER_MIN: '5' };
    const gateway = await start({ settings, outside: { limiterPrefix: `away-${how}` } });
    const call = () => gateway.call('GET', '/currencies', { headers: from('203.0.113.30') });
    const fromMemory = () => metric(gateway.app.internalUrl, 'gateway_rate_limit_insurance_total');
    /** Calls until Redis has counted a call. On a busy machine an answer may come too late. */
    const untilRedisCounts = async (): Promise<void> => {
      for (let i = 0; i < 200; i++) {
        const before = await fromMemory();
        await gateway.call('GET', '/currencies', { headers: from(`198.51.100.${i}`) });
        if ((await fromMemory()) === before) return;
        await sleep(50);
      }
      throw new Error('Redis counts no calls');
    };
    await untilRedisCounts();
    const before = await fromMemory();

    if (how === 'hangs') redis.hang();
    else await redis.kill();
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await call()).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await fromMemory()).toBeGreaterThan(before);

    if (how === 'hangs') redis.resume();
    else await redis.restart();
    await untilRedisCounts();
  });

  it('start without Redis as well', async () => {
    const gateway = await start({ settings: { REDIS_URL: 'redis://127.0.0.1:1' } });
    expect((await gateway.call('GET', '/currencies')).status).toBe(200);
  });
});

describe('two processes on one database', () => {
  it('are refused when one of them counts in memory', async () => {
    const first = await start();
    await expect(start({ databaseUrl: first.databaseUrl })).rejects.toThrow('set REDIS_URL for both');
    await expect(
      start({ databaseUrl: first.databaseUrl, settings: { REDIS_URL: 'redis://127.0.0.1:1' } }),
    ).rejects.toThrow('set REDIS_URL for it as well');
  });
});
