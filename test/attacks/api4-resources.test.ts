import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { changingNothing } from '../support/database/database-state.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/database/redis.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type RawAnswer, rawExchange } from '../support/http/raw-http.ts';
import {
  body,
  gateway,
  head,
  isServing,
  key,
  line,
  rest,
  withAttackedGateway,
} from '../support/http/resource-attacks.ts';
import { attempt } from '../support/jest/attempts.ts';

withAttackedGateway();

/**
 * OWASP API4:2023, unrestricted resource consumption: bodies, headers and connections that cost
 * more than they may, limits evaded, and operations of GraphQL that ask for too much. The limits
 * themselves, with Redis away or hung, are in test/integration/limits/rate-limits.test.ts; numbers
 * and texts that are too large in test/contract/bad-input.test.ts.
 */

describe('a request that never ends', () => {
  const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`;
  // All at once, as each takes as long as the server's patience.
  const slow: Record<string, () => Promise<RawAnswer>> = {
    'of nothing': () => rawExchange(rest, ''),
    'of one byte': () => rawExchange(rest, 'G'),
    'of headers, one by one': () =>
      rawExchange(rest, 'GET /api/v1/currencies HTTP/1.1\r\nHost: x\r\n', {
        drip: { part: 'X-A: b\r\n', everyMs: 500 },
      }),
    'of one header, sign by sign': () =>
      rawExchange(rest, 'GET /api/v1/currencies HTTP/1.1\r\nX-A: ', { drip: { part: 'b', everyMs: 500 } }),
    'of one target, sign by sign': () => rawExchange(rest, 'GET /', { drip: { part: 'b', everyMs: 500 } }),
    'of a body, byte by byte': () =>
      rawExchange(rest, head('Content-Length: 10000\r\n\r\n{'), { drip: { part: ' ', everyMs: 500 } }),
    'of a body that does not come': () => rawExchange(rest, head('Content-Length: 10000\r\n\r\n')),
    'of a small chunk now and then': () =>
      rawExchange(rest, head('Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'), {
        drip: { part: '1\r\n \r\n', everyMs: 500 },
      }),
    'of chunks without end': () =>
      rawExchange(rest, head('Transfer-Encoding: chunked\r\n\r\n'), { drip: { part: chunk, everyMs: 20 } }),
    'of a chunk extension without end': () =>
      rawExchange(rest, head('Transfer-Encoding: chunked\r\n\r\n1;x='), { drip: { part: 'y', everyMs: 500 } }),
    'of trailers without end': () =>
      rawExchange(rest, head(`Transfer-Encoding: chunked\r\n\r\n0\r\n`), {
        drip: { part: 'X-A: b\r\n', everyMs: 500 },
      }),
    'of a body without end, to a path that reads none': () =>
      rawExchange(rest, `${line('/api/v1/currencies')}Transfer-Encoding: chunked\r\n\r\n`, {
        drip: { part: chunk, everyMs: 20 },
      }),
    'without a key': () =>
      rawExchange(rest, `${line()}Content-Length: 10000\r\n\r\n{`, { drip: { part: ' ', everyMs: 500 } }),
    'of staff, byte by byte': () =>
      rawExchange(
        gateway.app.internalUrl,
        `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{`,
        { drip: { part: ' ', everyMs: 500 } },
      ),
    'of staff, of headers': () =>
      rawExchange(gateway.app.internalUrl, 'POST /graphql HTTP/1.1\r\n', {
        drip: { part: 'X-A: b\r\n', everyMs: 500 },
      }),
  };

  it('is cut off, creates no order, and delays no other client', async () => {
    const answers = await (async () => {
      let found: [string, RawAnswer][] = [];
      await changingNothing(gateway, async () => {
        const under = Promise.all(
          Object.entries(slow).map(async ([what, run]): Promise<[string, RawAnswer]> => [what, await run()]),
        );
        for (let i = 0; i < 5; i++) attempt(`others starve, look ${i}`, await isServing(), true);
        found = await under;
      });
      return found;
    })();
    for (const [what, { statuses }] of answers) {
      attempt(
        `a request ${what}`,
        statuses.filter((status) => ![400, 401, 405, 408, 413, 431].includes(status)),
        [],
      );
    }
  });
});

describe('a body', () => {
  const create = (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
    gateway.call('POST', '/partner/orders', { key, raw, headers });

  it.each<[string, () => string, number]>([
    ['one byte above the limit', () => body + ' '.repeat(16 * 1024 + 1 - body.length), 413],
    ['of one megabyte', () => JSON.stringify(orderBody({ recipient_address: 'x'.repeat(1024 * 1024) })), 413],
    ['of twenty megabytes', () => ' '.repeat(20 * 1024 * 1024), 413],
    ['of lists, 8,000 deep', () => '['.repeat(8_000), 400],
    ['of objects, 2,500 deep', () => `${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`, 400],
    ['of a member, 2,500 deep', () => `{"coin_from":${'{"a":'.repeat(2_500)}1${'}'.repeat(2_501)}`, 400],
    ['of 1,600 members', () => `{${Array.from({ length: 1_600 }, (_, i) => `"a${i}":1`).join()}}`, 400],
    ['of one member 1,300 times', () => `{${Array(1_300).fill('"status":1').join()}}`, 400],
    ['of a long name', () => `{"${'a'.repeat(16_000)}":1}`, 400],
    ['of a number of 16,000 digits', () => body.replace('0.01', '9'.repeat(16_000)), 400],
    ['of a number with a huge exponent', () => body.replace('0.01', '1e1000000000'), 400],
    ['of a list of 8,000', () => `[${Array(8_000).fill('1').join()}]`, 400],
    ['of an address of 16,000 signs', () => JSON.stringify(orderBody({ recipient_address: '1'.repeat(16_000) })), 0],
  ])('%s is refused', async (what, make, status) => {
    await changingNothing(gateway, async () => {
      const reply = await create(make());
      attempt(`a body ${what}`, status === 0 ? [400, 422].includes(reply.status) : reply.status === status, true);
      attempt(`after a body ${what}`, await isServing(), true);
    });
  });

  it.each([
    ['a number of 16,000 digits', '9'.repeat(15_500)],
    ['a huge exponent', '1e1000000000'],
    ['many exponents', 'e1'.repeat(5_000)],
    ['many points', '1.'.repeat(5_000)],
  ])('with the text of %s as an amount is refused', async (what, amount_from) => {
    await changingNothing(gateway, async () => {
      for (const path of ['/partner/orders', '/partner/orders/validate']) {
        const headers = { Amounts: 'string' };
        const reply = await gateway.call('POST', path, { key, body: orderBody({ amount_from }), headers });
        attempt(`${path} with ${what}`, [reply.status, reply.json.code], [400, 'invalid_number']);
      }
      attempt(`after ${what}`, await isServing(), true);
    });
  });

  it('that is an address of 1,000 signs is judged by every rule and refused', async () => {
    await changingNothing(gateway, async () => {
      for (const sign of ['1', 'z', 'A', '0', ':', '漢']) {
        for (const length of [64, 95, 256, 257, 1_000]) {
          const body = { coin: 'BTC', network: 'BTC', address: sign.repeat(length) };
          const { status, json } = await gateway.call('POST', '/partner/addresses/validate', { key, body });
          attempt(`${length} of ${sign}`, [status, json.valid], [200, false]);
        }
      }
      attempt('after long addresses', await isServing(), true);
    });
  });

  it('with compression is refused and not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(16 * 1024);
    await changingNothing(gateway, async () => {
      for (const encoding of [
        'gzip',
        'x-gzip',
        'GZIP',
        'deflate',
        'br',
        'zstd',
        'compress',
        'identity, gzip',
        'gzip, gzip',
        'x',
      ]) {
        const reply = await create(bomb, { 'Content-Encoding': encoding });
        attempt(`a body in ${encoding}`, reply.status, 415);
        const staff = await fetch(`${gateway.app.internalUrl}/sign-in`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            Origin: gateway.app.internalUrl,
            'Content-Encoding': encoding,
          },
          body: bomb,
        });
        attempt(`a sign-in in ${encoding}`, [400, 413, 415].includes(staff.status), true);
      }
    });
  });
});

describe('headers and targets', () => {
  const get = (target: string, more = '') =>
    rawExchange(rest, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`);

  it.each<[string, () => Promise<RawAnswer>, readonly number[]]>([
    ['3,000 headers', () => get('/api/v1/currencies', 'X-A: b\r\n'.repeat(3_000)), [431]],
    ['a header of a megabyte', () => get('/api/v1/currencies', `X-A: ${'b'.repeat(1024 * 1024)}\r\n`), [431]],
    ['a header name of 20,000 signs', () => get('/api/v1/currencies', `${'X'.repeat(20_000)}: b\r\n`), [431]],
    ['a target of 20,000 signs', () => get(`/api/v1/${'x'.repeat(20_000)}`), [431]],
    ['a query of 100,000 members', () => get(`/api/v1/partner/rates?${'a=b&'.repeat(100_000)}`), [431]],
    ['a query of 3,000 members', () => get(`/api/v1/partner/rates?${'a=b&'.repeat(3_000)}`), [400]],
    [
      'a query of 3,000 amounts',
      () => get(`/api/v1/partner/rates?${'amount=1&'.repeat(1_500)}coin_from=BTC&coin_to=ETH`),
      [400],
    ],
    ['a cookie of 15,000 signs', () => get('/api/v1/currencies', `Cookie: ${'a=b; '.repeat(3_000)}\r\n`), [200]],
    [
      'forwarding through 1,000 proxies',
      () => get('/api/v1/currencies', `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_000)}\r\n`),
      [200],
    ],
  ])('%s do not slow down other clients', async (what, send, allowed) => {
    attempt(what, (await send()).statuses, allowed);
    attempt(`after ${what}`, await isServing(), true);
  });
});

describe('a rate limit', () => {
  const limit = 5;
  let tight: TestGateway;
  beforeAll(async () => {
    tight = await startGateway({
      settings: {
        RATE_LIMIT_PUBLIC_PER_MIN: String(limit),
        RATE_LIMIT_ICONS_PER_MIN: '50',
        TRUSTED_PROXIES: '127.0.0.2/32',
      },
    });
    for (let i = 0; i < limit; i++) expect((await tight.call('GET', '/currencies')).status).toBe(200);
  });
  afterAll(() => tight?.stop());

  it('is not evaded by forged sender headers', async () => {
    const names = [
      'X-Forwarded-For',
      'X-Forwarded',
      'Forwarded-For',
      'Forwarded',
      'X-Real-IP',
      'X-Client-IP',
      'Client-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'CF-Connecting-IPv6',
      'Fastly-Client-IP',
      'X-Cluster-Client-IP',
      'X-Original-Forwarded-For',
      'X-Originating-IP',
      'X-Remote-IP',
      'X-Remote-Addr',
      'X-Azure-ClientIP',
      'X-ProxyUser-Ip',
      'Via',
      'X-Forwarded-Host',
    ];
    for (const [i, name] of names.entries()) {
      for (const value of [`198.51.100.${i}`, `for=198.51.100.${i}`, '127.0.0.2', '::1', `2001:db8:${i}::1`]) {
        attempt(
          `${name}: ${value}`,
          (await tight.call('GET', '/currencies', { headers: { [name]: value } })).status,
          429,
        );
      }
    }
  });

  it('is not evaded by another spelling of the path, another method, a query or an unknown key', async () => {
    const paths = [
      '/api/v1/currencies',
      '/api/v1/currencies/',
      '/api/v1/currencies//',
      '/api/v1/currencies?x=1',
      '/api/v1//currencies',
      '//api/v1/currencies',
      '/API/V1/currencies',
      '/api/v1/CURRENCIES',
      '/api/v1/./currencies',
      '/api/v1/x/../currencies',
      '/api/v1/coin-icons/../currencies',
      '/api/v1/coin-icons/..%2fcurrencies',
      '/api/v1/docs/../currencies',
      '/api/v1/%63urrencies',
      '/api/v1/currencies;x',
      '/api/v1/currencies%00',
      '/api/v1/partner/orders/../../currencies',
      'http://x/api/v1/currencies',
      'http://x@y/api/v1/currencies',
      '/api/v1\\currencies',
      '/api/v1/currencies#x',
    ];
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        for (const more of ['', 'Authorization: Bearer xp_test_nobody\r\n', 'X-API-Key: x\r\n']) {
          const { statuses, text } = await rawExchange(
            tight.app.restUrl ?? '',
            `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`,
          );
          attempt(
            `${method} ${path} ${more}`,
            statuses.filter((status) => status < 400),
            [],
          );
          expect(text).not.toContain('"icon_url"');
        }
      }
    }
  });

  it('is not evaded by other addresses of one IPv6 network, or by another spelling of an address', async () => {
    const behind = await startGateway({ settings: { RATE_LIMIT_PUBLIC_PER_MIN: '2', TRUSTED_PROXIES: '127.0.0.0/8' } });
    try {
      const from = async (address: string) =>
        (
          await behind.call('GET', '/currencies', {
            headers: { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' },
          })
        ).status;
      const hosts = Array.from({ length: 8 }, (_, i) => `2001:db8:1:1:${(i * 7919).toString(16)}::${i}`);
      const within: number[] = [];
      for (const host of hosts) within.push(await from(host));
      attempt('eight hosts of one /64', within, [200, 200, 429, 429, 429, 429, 429, 429]);
      const networks: number[] = [];
      for (let i = 0; i < 40; i++) networks.push(await from(`2001:db8:2:${i.toString(16)}::1`));
      attempt('forty /64 of one /48', networks.filter((status) => status === 200).length, 20);
      for (const spelling of [
        '2001:DB8:1:1::1',
        '2001:0db8:0001:0001::1',
        '2001:db8:1:1:0:0:0:1',
        '2001:db8:1:1::1.2.3.4',
      ]) {
        attempt(spelling, await from(spelling), 429);
      }
      const four: number[] = [];
      for (const spelling of ['203.0.113.5', '::ffff:203.0.113.5', '::ffff:cb00:7105', '0:0:0:0:0:ffff:203.0.113.5']) {
        four.push(await from(spelling));
      }
      attempt('one IPv4 address in four spellings', four, [200, 200, 429, 429]);
      const proxies: number[] = [];
      for (let i = 0; i < 5; i++) proxies.push(await from(`198.51.100.${i}, 203.0.113.77`));
      attempt('an address that a stranger put before its own', proxies, [200, 200, 429, 429, 429]);
    } finally {
      await behind.stop();
    }
  });

  it('is not evaded by a new key of the same partner', async () => {
    const { id } = await tight.partners.create('Churns keys');
    await tight.partners.change(id, { rateLimitPerMin: 6 });
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) {
      const { key, keyId } = await tight.partners.issueKey(id);
      statuses.push((await tight.call('GET', '/partner/orders/XP-AAAAAA', { key })).status);
      await tight.partners.revokeKey(keyId);
    }
    attempt('ten keys of one partner', statuses, [...Array(6).fill(404), ...Array(4).fill(429)]);
  });
});

describeWithRedis('a window', () => {
  /** Every request is counted in Redis, also on a busy machine. */
  const patient = { limiterReplyMs: 30_000 };
  let redis: TestRedis;
  let tight: TestGateway;
  beforeAll(async () => {
    redis = await startRedis();
    tight = await startGateway({
      settings: { REDIS_URL: redis.url, RATE_LIMIT_PUBLIC_PER_MIN: '4', TRUSTED_PROXIES: '127.0.0.0/8' },
      outside: patient,
    });
  });
  afterAll(async () => {
    await tight?.stop();
    await redis?.stop();
  });

  it('ends on time despite further requests, and the next window allows no more than the limit', async () => {
    const client = new Redis(redis.url);
    try {
      const ask = async (address: string) =>
        (
          await tight.call('GET', '/currencies', {
            headers: { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' },
          })
        ).status;
      const burst = async (count: number, address: string) => {
        const statuses: number[] = [];
        for (let i = 0; i < count; i++) statuses.push(await ask(address));
        return statuses;
      };
      const full = [200, 200, 200, 200, 429, 429];
      attempt('a burst', await burst(6, '203.0.113.1'), full);
      const [counter = ''] = await client.keys('*anon:203.0.113.1');
      const before = await client.pttl(counter);
      expect(before).toBeGreaterThan(0);
      await burst(6, '203.0.113.1');
      attempt('asking on puts the end off', (await client.pttl(counter)) > before, false);
      // A client that uses the end of one window and the start of the next gets each limit once.
      await client.pexpire(counter, 1);
      while ((await client.exists(counter)) === 1) await sleep(5);
      const other = await startGateway({
        databaseUrl: tight.databaseUrl,
        settings: { ROLE: 'api', REDIS_URL: redis.url, RATE_LIMIT_PUBLIC_PER_MIN: '4', TRUSTED_PROXIES: '127.0.0.0/8' },
        outside: patient,
      });
      try {
        const next: number[] = [];
        for (let i = 0; i < 6; i++) {
          const headers = { 'X-Forwarded-For': '203.0.113.1', 'X-Forwarded-Proto': 'https' };
          next.push((await other.call('GET', '/currencies', { headers })).status);
        }
        attempt('a burst over the edge, at another node', next, full);
      } finally {
        await other.stop();
      }
      const stuck = counter.replace('203.0.113.1', '203.0.113.2');
      await client.set(stuck, 1);
      expect(await ask('203.0.113.2')).toBe(200);
      attempt('a window without an end', (await client.pttl(stuck)) > 0, true);
    } finally {
      client.disconnect();
    }
  });
});
