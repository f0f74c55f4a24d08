import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { generateKey } from '../../src/accounts/partners/secret-key.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/database/redis.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { rawExchange } from '../support/http/raw-http.ts';
import { attempt } from '../support/jest/attempts.ts';
import { newMember } from '../support/staff/staff-client.ts';

/**
 * OWASP API2:2023, broken authentication: forged keys and signatures. api2-staff-sessions.test.ts
 * covers the tokens, sessions and WebSockets of staff. Guessing is slowed down in
 * test/integration/limits/rate-limits.test.ts and staff-sessions.test.ts. Forged answers of an
 * identity provider are in test/integration/staff/oidc.test.ts.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key of any parts with a right checksum: the form of keys is public. */
function withChecksum(keyId: string, random: string): string {
  let digits = '';
  for (let rest = crc32(`${keyId}.${random}`); digits.length < 6; rest = Math.floor(rest / 62)) {
    digits = alphabet[rest % 62] + digits;
  }
  return `${keyId}.${random}${digits}`;
}

/** A key in its parts: id, the random part of the secret, and the secret with its checksum. */
function partsOf(key: string): { id: string; random: string; secret: string } {
  const [id = '', secret = ''] = key.split('.');
  return { id, random: secret.slice(0, 43), secret };
}

const asOrder = (where: TestGateway, headers: Record<string, string>, path = '/partner/orders') =>
  where.call('POST', path, { body: orderBody(), headers });

/** Forged keys, made from parts of genuine keys. */
function forgeries(own: string, other: string, staffToken: string): Record<string, string> {
  const [one, two] = [partsOf(own), partsOf(other)];
  const changed = [...one.random].map((sign, at) => {
    const next = alphabet[(alphabet.indexOf(sign) + 1) % 62];
    return [
      `one sign changed at ${at}`,
      withChecksum(one.id, one.random.slice(0, at) + next + one.random.slice(at + 1)),
    ];
  });
  return {
    empty: '',
    'the id alone': one.id,
    'the id and a dot': `${one.id}.`,
    'the secret alone': one.secret,
    'a dot and the secret': `.${one.secret}`,
    'no dot': one.id + one.secret,
    'two dots': `${one.id}..${one.secret}`,
    'a third part': `${own}.${one.secret}`,
    'halves swapped': `${one.secret}.${one.id}`,
    "another partner's secret": `${one.id}.${two.secret}`,
    "another partner's secret under its own checksum": withChecksum(one.id, two.random),
    'a random secret': withChecksum(one.id, generateKey('xp_test_').secret.slice(0, 43)),
    'an unknown id': withChecksum(generateKey('xp_test_').keyId, one.random),
    'an unknown key': generateKey('xp_test_').whole,
    'an unknown live key': generateKey('xp_live_').whole,
    'its id as a live one': withChecksum(one.id.replace('xp_test_', 'xp_live_'), one.random),
    'its id as one of staff': withChecksum(one.id.replace('xp_test_', 'xs_'), one.random),
    'a token of staff': staffToken,
    'in capitals': own.toUpperCase(),
    'in small letters': own.toLowerCase(),
    'cut short': own.slice(0, -1),
    'too long': `${own}0`,
    'given twice': `${own}, ${own}`,
    'in quotes': `"${own}"`,
    'with a blank inside': own.replace('.', ' .'),
    'with a tab inside': own.replace('.', '.\t'),
    'with a sign outside ASCII': `${own}\u00ff`,
    'of zeros': withChecksum(one.id, '0'.repeat(43)),
    'as a pattern of SQL': `${one.id}.%`,
    'as SQL': `${one.id}' or '1'='1`,
    'as JSON': JSON.stringify({ keyId: one.id }),
    'as base64': Buffer.from(own).toString('base64'),
    'of 10,000 signs': `${one.id}.${'0'.repeat(10_000)}`,
    'a JSON Web Token that no key signs':
      'eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJhZG1pbiJ9.',
    ...Object.fromEntries(changed),
  };
}

describeWithRedis('keys at each of two gateway nodes', () => {
  const clock = new TestClock();
  let redis: TestRedis;
  let nodes: [TestGateway, TestGateway];

  beforeAll(async () => {
    redis = await startRedis();
    const start = (role: string, databaseUrl?: string) =>
      startGateway({
        settings: { REDIS_URL: redis.url, ROLE: role, PRICE_MAX_AGE_SEC: '86400' },
        outside: { clock, background: false, keyRowMs: 1_000 },
        ...(databaseUrl === undefined ? {} : { databaseUrl }),
      });
    const first = await start('all');
    nodes = [first, await start('api', first.databaseUrl)];
  });
  afterAll(async () => {
    for (const node of nodes?.toReversed() ?? []) await node.stop();
    await redis?.stop();
  });

  it('with any fault are refused with one same answer, and nothing changes', async () => {
    const own = await nodes[0].partner();
    const other = await nodes[0].partner();
    const { token } = await newMember(nodes[0], 'admin');
    // Both nodes know the genuine keys.
    for (const node of nodes) {
      for (const { key } of [own, other]) expect((await asOrder(node, { 'X-API-Key': key })).status).toBe(201);
    }
    await changingNothing(nodes[0], async () => {
      const texts = new Set<string>();
      for (const [what, key] of Object.entries(forgeries(own.key, other.key, token))) {
        for (const [at, node] of nodes.entries()) {
          for (const headers of [{ Authorization: `Bearer ${key}` }, { 'X-API-Key': key }]) {
            const made = await asOrder(node, headers);
            attempt(`a key ${what}, at node ${at}, to create`, [made.status, made.json.code], [401, 'unauthorized']);
            const read = await node.call('GET', '/partner/orders/XP-AAAAAA', { headers });
            attempt(`a key ${what}, at node ${at}, to read`, [read.status, read.json.code], [401, 'unauthorized']);
            texts.add(made.json.detail).add(read.json.detail);
          }
        }
      }
      expect([...texts]).toEqual(['the API key is not valid; send the header Authorization: Bearer <KEY_ID>.<SECRET>']);
    });
  });

  it('that are forged get public prices and limits, not the prices and limits of the partner', async () => {
    const { id, keyId } = await nodes[0].partner();
    await nodes[0].partners.change(id, { feeRateFloat: '0', rateLimitPerMin: 7 });
    const rate = '/partner/rates?coin_from=BTC&coin_to=ETH&amount=1';
    for (const [at, node] of nodes.entries()) {
      const anonymous = await node.call('GET', rate);
      const forged = await node.call('GET', rate, { key: withChecksum(keyId, '1'.repeat(43)) });
      attempt(`the price of a partner at node ${at}`, [forged.status, forged.text], [200, anonymous.text]);
      attempt(`the limit of a partner at node ${at}`, forged.headers.get('x-ratelimit-limit'), '100000');
    }
  });

  it('are refused once they expire', async () => {
    const { id } = await nodes[0].partner();
    const expiresAt = new Date(clock.now().getTime() + 60_000);
    const expiring = await nodes[0].partners.issueKey(id, { expiresAt });
    const rolled = await nodes[0].partners.issueKey(id);
    await nodes[0].partners.rollKey(rolled.keyId, 1);
    const statuses = async (key: string) => {
      const all: number[] = [];
      for (const node of nodes) {
        all.push((await asOrder(node, { 'X-API-Key': key })).status);
        all.push((await node.call('GET', '/partner/orders/XP-AAAAAA', { key })).status);
      }
      return all;
    };
    expect(await statuses(expiring.key)).toEqual([201, 404, 201, 404]);
    expect(await statuses(rolled.key)).toEqual([201, 404, 201, 404]);
    clock.advance(60_000);
    attempt('an expired key', await statuses(expiring.key), [401, 401, 401, 401]);
    clock.advance(3_600_000);
    attempt('a key past its successor', await statuses(rolled.key), [401, 401, 401, 401]);
  });

  it('that are revoked create no order from then on, and soon read nothing', async () => {
    const { id, keyId, key } = await nodes[0].partner();
    const idle = await nodes[0].partner();
    for (const node of nodes) {
      for (const each of [key, idle.key]) expect((await asOrder(node, { 'X-API-Key': each })).status).toBe(201);
    }
    await nodes[1].partners.revokeKey(keyId);
    await nodes[1].partners.change(idle.id, { status: 'inactive' });
    await changingNothing(nodes[0], async () => {
      for (const [at, node] of nodes.entries()) {
        attempt(`creating with a revoked key at node ${at}`, (await asOrder(node, { 'X-API-Key': key })).status, 401);
        const created = await asOrder(node, { 'X-API-Key': idle.key });
        attempt(`creating for a partner switched off at node ${at}`, created.status, 403);
      }
    });
    // A node may know a key for `keyRowMs` more; here it is given thirty seconds.
    for (const [at, node] of nodes.entries()) {
      const read = async () => (await node.call('GET', '/partner/orders/XP-AAAAAA', { key })).status;
      for (const deadline = Date.now() + 30_000; (await read()) !== 401 && Date.now() < deadline; ) await sleep(200);
      attempt(`reading with a revoked key at node ${at}`, await read(), 401);
    }
    const again = await nodes[0].partners.issueKey(id);
    expect((await asOrder(nodes[1], { 'X-API-Key': again.key })).status).toBe(201);
  });
});

describe('keys and signatures at one gateway node', () => {
  let gateway: SettledGateway;
  let partner: { id: string; keyId: string; key: string };
  let other: { id: string; key: string };

  beforeAll(async () => {
    gateway = await startSettledGateway({ settings: { RATE_LIMIT_STAFF_PER_MIN: '100000', PLAYGROUND: 'true' } });
    partner = await gateway.partner();
    other = await gateway.partner();
  });
  afterAll(() => gateway?.stop());

  describe('a genuine key in the wrong place', () => {
    const places: [string, (key: string) => { headers?: Record<string, string>; path?: string; raw?: string }][] = [
      ['under Basic', (key) => ({ headers: { Authorization: `Basic ${btoa(key.replace('.', ':'))}` } })],
      ['under Basic as it is', (key) => ({ headers: { Authorization: `Basic ${key}` } })],
      ['under Token', (key) => ({ headers: { Authorization: `Token ${key}` } })],
      ['under ApiKey', (key) => ({ headers: { Authorization: `ApiKey ${key}` } })],
      ['under Negotiate', (key) => ({ headers: { Authorization: `Negotiate ${key}` } })],
      ['without a scheme', (key) => ({ headers: { Authorization: key } })],
      ['behind two schemes', (key) => ({ headers: { Authorization: `Bearer Bearer ${key}` } })],
      ['behind a colon', (key) => ({ headers: { Authorization: `Bearer: ${key}` } })],
      ['without a blank', (key) => ({ headers: { Authorization: `Bearer${key}` } })],
      ['for a proxy', (key) => ({ headers: { 'Proxy-Authorization': `Bearer ${key}` } })],
      [
        'in a header of another name',
        (key) => ({ headers: { 'X-Auth-Token': key, 'Api-Key': key, 'X-Api_Key': key } }),
      ],
      ['in a header that proxies rewrite', (key) => ({ headers: { 'X-Forwarded-Authorization': `Bearer ${key}` } })],
      ['in a cookie', (key) => ({ headers: { Cookie: `api_key=${key}; X-API-Key=${key}; __Host-staff=${key}` } })],
      ['in the query', (key) => ({ path: `/partner/orders?api_key=${key}&access_token=${key}&X-API-Key=${key}` })],
      ['in the body', (key) => ({ raw: JSON.stringify(orderBody({ api_key: key })) })],
    ];

    it.each(places)('%s is not accepted as a key', async (place, place_) => {
      const { headers = {}, path = '/partner/orders', raw } = place_(partner.key);
      await changingNothing(gateway, async () => {
        const body = raw === undefined ? { body: orderBody() } : { raw };
        const reply = await gateway.call('POST', path, { headers, ...body });
        attempt(`a key ${place}`, [reply.status, reply.headers.get('www-authenticate')], [401, 'Bearer']);
      });
    });

    it('together with a second key is refused, in either order', async () => {
      const body = JSON.stringify(orderBody());
      const unknown = generateKey('xp_test_').whole;
      const send = (lines: string[]) =>
        rawExchange(
          gateway.app.restUrl ?? '',
          `${['POST /api/v1/partner/orders HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...lines].join('\r\n')}\r\n\r\n${body}`,
        );
      await changingNothing(gateway, async () => {
        for (const lines of [
          [`Authorization: Bearer ${unknown}`, `Authorization: Bearer ${partner.key}`],
          [`Authorization: Bearer ${partner.key}`, `Authorization: Bearer ${unknown}`],
          [`Authorization: Bearer ${partner.key}`, `Authorization: Bearer ${partner.key}`],
          [`X-API-Key: ${unknown}`, `X-API-Key: ${partner.key}`],
          [`X-API-Key: ${partner.key}`, `X-API-Key: ${unknown}`],
          [`X-API-Key: ${partner.key}`, `X-API-Key: ${partner.key}`],
          [`Authorization: Bearer ${partner.key}`, `X-API-Key: ${other.key}`],
          [`Authorization: Bearer ${partner.key}`, 'X-API-Key: '],
          ['Authorization: Bearer', `X-API-Key: ${partner.key}`],
          [`X-API-Key: ${partner.key}\r\n\t`],
          [`X_API_Key: ${partner.key}`],
        ]) {
          const { statuses } = await send(lines);
          attempt(
            `the headers ${lines.join(' and ')}`,
            statuses.length === 1 && [400, 401].includes(statuses[0] ?? 0),
            true,
          );
        }
      });
    });
  });

  it('a connection that proved a key lets no other key pass', async () => {
    const forged = withChecksum(partsOf(partner.key).id, 'a'.repeat(43));
    const path = '/api/v1/partner/orders/XP-222222';
    const send = (...lines: string[]) => `${[`GET ${path} HTTP/1.1`, 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;
    const genuine = `Authorization: Bearer ${partner.key}`;
    const { statuses } = await rawExchange(
      gateway.app.restUrl ?? '',
      [
        send(genuine),
        send(`Authorization: Bearer ${forged}`),
        send(genuine),
        send(),
        send(genuine, `X-API-Key: ${forged}`),
        send(`X-API-Key: ${forged}`),
        send(genuine, 'Connection: close'),
      ].join(''),
    );
    attempt('another key on a connection that proved one', statuses, [404, 401, 404, 401, 401, 401, 404]);
  });

  describe('a key of a network', () => {
    it('is refused from other networks, with any forwarding headers', async () => {
      const { key } = await gateway.partners.issueKey(partner.id, {
        allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'],
      });
      await changingNothing(gateway, async () => {
        for (const name of [
          'X-Forwarded-For',
          'X-Real-IP',
          'Forwarded',
          'X-Client-IP',
          'CF-Connecting-IP',
          'True-Client-IP',
        ]) {
          for (const address of ['203.0.113.7', 'for=203.0.113.7', '2001:db8::1', '203.0.113.7, 127.0.0.1']) {
            const reply = await asOrder(gateway, { 'X-API-Key': key, [name]: address });
            attempt(`${name}: ${address}`, [reply.status, reply.json.code], [403, 'address_not_allowed']);
          }
        }
      });
    });
  });

  describe('a signature', () => {
    const body = JSON.stringify(orderBody());
    const hmac = (secret: string, text = body, hash = 'sha256') => createHmac(hash, secret).update(text);

    it.each<[string, (key: string) => string]>([
      ['under the whole key', (key) => hmac(key).digest('hex')],
      ['under the id', (key) => hmac(partsOf(key).id).digest('hex')],
      ['under the secret without its checksum', (key) => hmac(partsOf(key).random).digest('hex')],
      ["under another partner's secret", () => hmac(partsOf(other.key).secret).digest('hex')],
      ['under no secret', () => hmac('').digest('hex')],
      ['by no key at all', () => createHash('sha256').update(body).digest('hex')],
      ['over no bytes', (key) => hmac(partsOf(key).secret, '').digest('hex')],
      [
        'over the body with blanks',
        (key) => hmac(partsOf(key).secret, JSON.stringify(orderBody(), null, 1)).digest('hex'),
      ],
      ['over the body with a line end', (key) => hmac(partsOf(key).secret, `${body}\n`).digest('hex')],
      [
        'over another body',
        (key) => hmac(partsOf(key).secret, JSON.stringify(orderBody({ amount_from: 1 }))).digest('hex'),
      ],
      ['in base64', (key) => hmac(partsOf(key).secret).digest('base64')],
      ['behind the name of the hash', (key) => `sha256=${hmac(partsOf(key).secret).digest('hex')}`],
      ['by SHA-1', (key) => hmac(partsOf(key).secret, body, 'sha1').digest('hex')],
      ['by SHA-512, cut short', (key) => hmac(partsOf(key).secret, body, 'sha512').digest('hex').slice(0, 64)],
      ['one half', (key) => hmac(partsOf(key).secret).digest('hex').slice(0, 32)],
      ['with a sign too many', (key) => `${hmac(partsOf(key).secret).digest('hex')}0`],
      ['in full-width digits', () => '\u00ef\u00bc\u0090'.repeat(64)],
      ['of nothing', () => ''],
      ['none', () => 'none'],
      ['true', () => 'true'],
    ])('%s is refused', async (what, sign) => {
      const send = (key: string) =>
        gateway.call('POST', '/partner/orders', { key, raw: body, headers: { 'X-Signature': sign(key) } });
      await changingNothing(gateway, async () => {
        const reply = await send(partner.key);
        attempt(`a signature ${what}`, [reply.status, reply.json.code], [401, 'invalid_signature']);
      });
    });

    it('that is required cannot be avoided by another spelling of the request', async () => {
      const { id, key } = await gateway.partner();
      await gateway.partners.change(id, { requireSignature: true });
      const good = hmac(partsOf(key).secret).digest('hex');
      const { length } = body;
      const start = `POST /api/v1/partner/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
      await changingNothing(gateway, async () => {
        for (const [what, text] of [
          ['left out', `${start}Content-Length: ${length}\r\n\r\n${body}`],
          [
            'in two headers',
            `${start}X-Signature: ${good}\r\nX-Signature: ${good}\r\nContent-Length: ${length}\r\n\r\n${body}`,
          ],
          [
            'in a header that is folded',
            `${start}X-Signature: ${good.slice(0, 32)}\r\n ${good.slice(32)}\r\nContent-Length: ${length}\r\n\r\n${body}`,
          ],
          [
            'in a trailer',
            `${start}Transfer-Encoding: chunked\r\nTrailer: X-Signature\r\n\r\n${length.toString(16)}\r\n${body}\r\n0\r\nX-Signature: ${good}\r\n\r\n`,
          ],
          [
            'in the query',
            `${start.replace('orders HTTP', `orders?X-Signature=${good} HTTP`)}Content-Length: ${length}\r\n\r\n${body}`,
          ],
        ] as const) {
          const { statuses } = await rawExchange(gateway.app.restUrl ?? '', text);
          attempt(`a signature ${what}`, statuses.length === 1 && [400, 401].includes(statuses[0] ?? 0), true);
        }
        const replay = await gateway.call('POST', '/partner/orders', {
          key,
          raw: body.replace('0.01', '0.02'),
          headers: { 'X-Signature': good },
        });
        attempt('the signature of an earlier request', [replay.status, replay.json.code], [401, 'invalid_signature']);
      });
      const signed = await gateway.call('POST', '/partner/orders', {
        key,
        raw: body,
        headers: { 'X-Signature': good },
      });
      expect(signed.status).toBe(201);
    });
  });
});
