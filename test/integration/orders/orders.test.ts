import { createHmac, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { PartnerService } from '../../../src/accounts/partners/partner-service.ts';
import { openHasher } from '../../../src/app/bootstrap.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { gatewayTerms } from '../../../src/config/fixed-rates.ts';
import { OrderExpiry } from '../../../src/settlement/rules/order-expiry.ts';
import { query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

let gateway: TestGateway;
let partner: { id: string; keyId: string; key: string };

beforeAll(async () => {
  gateway = await startGateway();
  partner = await gateway.partner();
});
afterAll(() => gateway?.stop());

const create = (changes: Record<string, unknown> = {}, headers: Record<string, string> = {}, key = partner.key) =>
  gateway.call('POST', '/partner/orders', { key, body: orderBody(changes), headers });
const read = (id: string, key = partner.key) => gateway.call('GET', `/partner/orders/${id}`, { key });

describe('a key', () => {
  it('says of itself whether it moves money', async () => {
    expect(partner.key).toMatch(/^xp_test_/);
    const { app, config } = gateway;
    const live = new PartnerService(
      app.orm,
      await openHasher(config, app.orm),
      systemClock,
      true,
      gatewayTerms(config),
      async () => {},
    );
    const { key } = await live.issueKey(partner.id);
    expect(key).toMatch(/^xp_live_[0-9A-Za-z]{12}\.[0-9A-Za-z]{49}$/);
    expect((await create({}, {}, key)).status).toBe(201);
  });
});

describe('creating an order', () => {
  it('answers with a waiting order that expires in 30 minutes', async () => {
    const { status, json, headers } = await create();
    expect(status).toBe(201);
    expect(json).toMatchObject({
      status: 'waiting_deposit',
      coin_from: 'BTC',
      network_to: 'TRC20',
      amount_from_expected: 0.01,
      recipient_address: addressExample('TRC20'),
      deposit_address_tag: null,
      deposit_txid: null,
      deposit_confirmations: null,
      deposit_confirmations_required: 2,
      payout_txid: null,
    });
    expect(json.deposit_address).toMatch(/^bc1q/);
    expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(1_800_000);
    expect(headers.get('location')).toBe(`/api/v1/partner/orders/${json.id}`);
    const events = await query(
      gateway.databaseUrl,
      'select seq, from_status, to_status, cause, actor from order_event where order_id = $1',
      [json.id],
    );
    expect(events).toEqual([
      { seq: 1, from_status: null, to_status: 'waiting_deposit', cause: 'created', actor: `partner:${partner.id}` },
    ]);
  });

  it('pays amount × rate, rounded down to the decimals of the destination, to the last digit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 50_000, max: 200_000_000 }),
        fc.constantFrom('float', 'fixed'),
        async (satoshi, rateType) => {
          const amount = new Big(String(satoshi)).times('1e-8').toFixed();
          const raw = JSON.stringify(orderBody({ rate_type: rateType })).replace(
            '"amount_from":0.01',
            `"amount_from":${amount}`,
          );
          const { text, status } = await gateway.call('POST', '/partner/orders', { key: partner.key, raw });
          expect(status).toBe(201);
          const number = (name: string) => new Big(new RegExp(`"${name}":([0-9.]+)[,}]`).exec(text)?.[1] ?? '');
          expect(number('amount_from_expected').toFixed()).toBe(amount);
          const exact = new Big(amount).times(number('rate_quoted'));
          expect(number('amount_to_expected').eq(exact.round(6, 0))).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('keeps every digit of an amount with eighteen decimals', async () => {
    const raw = JSON.stringify(
      orderBody({
        coin_from: 'ETH',
        network_from: 'ETH',
        coin_to: 'BTC',
        network_to: 'BTC',
        recipient_address: addressExample('BTC'),
      }),
    ).replace('"amount_from":0.01', '"amount_from":1.234567890123456789');
    const { json, text } = await gateway.call('POST', '/partner/orders', { key: partner.key, raw });
    expect(text).toContain('"amount_from_expected":1.234567890123456789,');
    expect((await read(json.id)).text).toBe(text);
  });

  it('gives memo networks one address and a separate tag for each order', async () => {
    const body = { coin_from: 'XRP', network_from: 'XRP', amount_from: 100 };
    const [one, two] = [(await create(body)).json, (await create(body)).json];
    expect(one.deposit_address).toBe(two.deposit_address);
    expect(one.deposit_address_tag).toMatch(/^\d+$/);
    expect(one.deposit_address_tag).not.toBe(two.deposit_address_tag);
  });

  it.each([
    ['SOL', 'SOL', 1],
    ['ADA', 'ADA', 200],
    ['XMR', 'XMR', 1],
    ['DOT', 'DOT', 50],
    ['ALGO', 'ALGO', 1000],
    ['XTZ', 'XTZ', 200],
    ['TRX', 'TRX', 1000],
    ['DOGE', 'DOGE', 1000],
    ['LTC', 'LTC', 1],
    ['BCH', 'BCH', 1],
    ['XLM', 'XLM', 1000],
    ['TON', 'TON', 20],
    ['ATOM', 'ATOM', 20],
    ['USDC', 'BASE', 100],
  ])('takes deposits of %s on %s', async (coin, network, amount) => {
    const { status, json } = await create({ coin_from: coin, network_from: network, amount_from: amount });
    expect({ status, detail: json.detail }).toEqual({ status: 201, detail: undefined });
  });

  it('gives 100 orders that are created at once 100 addresses and 100 short ids', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => create()));
    expect(replies.map((reply) => reply.status)).toEqual(Array(100).fill(201));
    expect(new Set(replies.map((reply) => reply.json.deposit_address)).size).toBe(100);
    expect(new Set(replies.map((reply) => reply.json.short_id)).size).toBe(100);
  });

  it('creates orders at once with fewer connections than orders', async () => {
    const narrow = await startGateway({ settings: { DATABASE_POOL_SIZE: '2' } });
    const { key } = await narrow.partner();
    const replies = await Promise.all(
      Array.from({ length: 120 }, () => narrow.call('POST', '/partner/orders', { key, body: orderBody() })),
    );
    expect(replies.filter((reply) => reply.status !== 201)).toEqual([]);
    await narrow.stop();
  });

  it('gives 50 orders from a pool that are created at once 50 addresses', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => create({ coin_from: 'SOL', network_from: 'SOL', amount_from: 1 })),
    );
    expect(new Set(replies.map((reply) => reply.json.deposit_address)).size).toBe(50);
  });

  it('refuses to pay to a deposit address of our own', async () => {
    const { json } = await create();
    const reply = await create({
      coin_from: 'USDT',
      network_from: 'TRC20',
      coin_to: 'BTC',
      network_to: 'BTC',
      amount_from: 100,
      recipient_address: json.deposit_address,
    });
    expect(reply.status).toBe(422);
    expect(reply.json.code).toBe('own_address');
  });

  it('refuses to pay to a wallet that pays, in any capitals', async () => {
    const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
    const kept = "insert into setting (name, value) values ('hot_wallet:ethereum', $1)";
    await query(gateway.databaseUrl, kept, [wallet.replace('E7', 'e7')]);
    try {
      const ether = { coin_to: 'ETH', network_to: 'ETH', recipient_address: wallet.toLowerCase() };
      const paid = await create(ether);
      expect([paid.status, paid.json.code]).toEqual([422, 'own_address']);
      const back = { coin_from: 'ETH', network_from: 'ETH', amount_from: 1, refund_address: wallet };
      const refunded = await create(back);
      expect([refunded.status, refunded.json.code]).toEqual([422, 'own_address']);
    } finally {
      await query(gateway.databaseUrl, "delete from setting where name = 'hot_wallet:ethereum'");
    }
  });

  it('refuses our own shared address before any order was made on its network', async () => {
    const fresh = await startGateway();
    const { key } = await fresh.partner();
    const [account] = await query<{ shared_address: string }>(
      fresh.databaseUrl,
      "select shared_address from deposit_account where keychain = 'ripple'",
    );
    const body = orderBody({ coin_to: 'XRP', network_to: 'XRP', recipient_address: account?.shared_address });
    const reply = await fresh.call('POST', '/partner/orders', { key, body });
    expect([reply.status, reply.json.code]).toEqual([422, 'own_address']);
    await fresh.stop();
  });

  it('recognises our own shared address in another spelling', async () => {
    const { json } = await create({ coin_from: 'TON', network_from: 'TON', amount_from: 20 });
    const bytes = Buffer.from(json.deposit_address, 'base64url');
    const raw = `0:${bytes.subarray(2, 34).toString('hex')}`;
    const reply = await create({ coin_to: 'TON', network_to: 'TON', recipient_address: raw });
    expect([reply.status, reply.json.code]).toEqual([422, 'own_address']);
  });

  it('names everything that is wrong at once', async () => {
    const { status, json } = await create({
      amount_from: 0.000000001,
      recipient_address: addressExample('ERC20'),
      refund_address: 'nonsense',
    });
    expect(status).toBe(422);
    expect(json.code).toBe('validation_failed');
    expect(json.errors.map((fault: { field: string; code: string }) => [fault.field, fault.code])).toEqual([
      ['amount_from', 'amount_below_min'],
      ['recipient_address', 'wrong_network_address'],
      ['refund_address', 'invalid_address'],
    ]);
    expect(json.min_amount).toBeGreaterThan(0);
  });

  it('accepts exactly the minimum and the maximum that a quote shows, and nothing beyond', async () => {
    const quote = (
      await gateway.call('GET', '/partner/rates?coin_from=BTC&coin_to=USDT&network_to=TRC20', { key: partner.key })
    ).text;
    const number = (name: string) => new Big(new RegExp(`"${name}":([0-9.]+)[,}]`).exec(quote)?.[1] ?? '');
    const withAmount = (amount: Big) =>
      gateway.call('POST', '/partner/orders', {
        key: partner.key,
        raw: JSON.stringify(orderBody()).replace('"amount_from":0.01', `"amount_from":${amount.toFixed()}`),
      });
    const [min, max] = [number('min_amount'), number('max_amount')];
    expect((await withAmount(min)).status).toBe(201);
    expect((await withAmount(max)).status).toBe(201);
    expect((await withAmount(min.minus('0.00000001'))).json.code).toBe('amount_below_min');
    expect((await withAmount(max.plus('0.00000001'))).json.code).toBe('amount_above_max');
  });
});

describe('reading an order', () => {
  it('finds it by UUID and by short id, in either case', async () => {
    const { text, json } = await create();
    for (const id of [json.id, json.id.toUpperCase(), json.short_id, json.short_id.toLowerCase()]) {
      expect((await read(id)).text).toBe(text);
    }
  });

  it("answers another partner's order, an unknown id and nonsense with the same bytes, except the request id", async () => {
    const { json } = await create();
    const other = await gateway.partner();
    const ids = [
      json.id,
      json.short_id,
      json.short_id.toLowerCase(),
      randomUUID(),
      'XP-ZZZZZZ',
      'nonsense',
      '%00',
      `${json.id}0`,
      '..%2f',
      'x'.repeat(65),
      "'--",
    ];
    const answers = new Set<string>();
    for (const id of ids) {
      const reply = await read(id, other.key);
      expect(reply.status).toBe(404);
      answers.add(reply.text.replace(reply.json.request_id, ''));
    }
    expect([...answers]).toHaveLength(1);
  });

  it('is never cached', async () => {
    const { json } = await create();
    expect((await read(json.id)).headers.get('cache-control')).toBe('no-store');
  });
});

describe('an order whose window has passed', () => {
  it('expires once, with an event, and not a moment earlier', async () => {
    const clock = new TestClock(new Date());
    const other = await startGateway({
      outside: { clock, background: false },
      settings: { PRICE_MAX_AGE_SEC: '86400' },
    });
    const { key } = await other.partner();
    const { json } = await other.call('POST', '/partner/orders', { key, body: orderBody() });
    const status = async () => (await other.call('GET', `/partner/orders/${json.id}`, { key })).json.status;
    const sweeps = [new OrderExpiry(other.app.orm, clock), new OrderExpiry(other.app.orm, clock)];
    const sweep = async (readAt: Date | null = clock.now()) => {
      await query(other.databaseUrl, `update chain_state set read_at = $1 where chain = 'bitcoin'`, [readAt]);
      await Promise.all(sweeps.map((each) => each.sweep()));
    };
    clock.advance(1_799_000);
    await sweep();
    expect(await status()).toBe('waiting_deposit');
    const early = clock.now();
    clock.advance(1_000);
    // The chain was not read since then: it could hold a deposit.
    await sweep(early);
    expect(await status()).toBe('waiting_deposit');
    // However long that takes, and whichever process asks.
    clock.advance(10 * 3_600_000);
    await sweep(early);
    await sweep(null);
    expect(await status()).toBe('waiting_deposit');
    await sweep();
    await sweep();
    expect(await status()).toBe('expired');
    const events = await query(
      other.databaseUrl,
      'select seq, from_status, to_status, cause, actor from order_event where order_id = $1 and seq > 1',
      [json.id],
    );
    expect(events).toEqual([
      { seq: 2, from_status: 'waiting_deposit', to_status: 'expired', cause: 'window_passed', actor: 'system' },
    ]);
    await other.stop();
  });
});

describe('repeating a create', () => {
  it('replays the stored answer to the same key and body', async () => {
    const key = randomUUID();
    const first = await create({}, { 'Idempotency-Key': key });
    const again = await create({}, { 'Idempotency-Key': `"${key}"` });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
  });

  it('refuses the same key with another body, and lets another partner use it', async () => {
    const key = randomUUID();
    await create({}, { 'Idempotency-Key': key });
    const other = await create({ amount_from: 0.02 }, { 'Idempotency-Key': key });
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
    const stranger = await gateway.partner();
    expect((await create({ amount_from: 0.02 }, { 'Idempotency-Key': key }, stranger.key)).status).toBe(201);
  });

  it('makes one order of 20 creates at once with one key', async () => {
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => create({}, { 'Idempotency-Key': key })));
    const made = replies.filter((reply) => reply.status === 201);
    expect(new Set(made.map((reply) => reply.text)).size).toBe(1);
    expect(replies.every((reply) => reply.status === 201 || reply.status === 409)).toBe(true);
    const rows = await query(gateway.databaseUrl, 'select 1 from idempotency_key where key = $1', [key]);
    expect(rows).toHaveLength(1);
    const [first] = made;
    expect(made.filter((reply) => reply.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const orders = await query(
      gateway.databaseUrl,
      'select 1 from exchange_order where created_at = $1 and partner_id = $2',
      [first?.json.created_at, partner.id],
    );
    expect(orders).toHaveLength(1);
  });

  it('is remembered for 48 hours', async () => {
    const clock = new TestClock(new Date());
    const other = await startGateway({ outside: { clock }, settings: { PRICE_MAX_AGE_SEC: '86400' } });
    const { key } = await other.partner();
    const send = () =>
      other.call('POST', '/partner/orders', { key, body: orderBody(), headers: { 'Idempotency-Key': 'k' } });
    await send();
    clock.advance(47 * 3_600_000);
    await other.app.creation.forgetOldAnswers();
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    await query(
      other.databaseUrl,
      `insert into idempotency_key (partner_id, key, fingerprint, order_id, status, body, created_at)
       select partner_id, 'k' || n, fingerprint, order_id, status, body, created_at
         from idempotency_key, generate_series(1, 10000) as n`,
    );
    clock.advance(2 * 3_600_000);
    expect(await other.app.creation.forgetOldAnswers()).toBe(10_001);
    expect(await query(other.databaseUrl, 'select 1 from idempotency_key')).toEqual([]);
    await other.stop();
  });

  it('leaves the key free after an error', async () => {
    const key = randomUUID();
    expect((await create({ recipient_address: 'nonsense' }, { 'Idempotency-Key': key })).status).toBe(422);
    expect((await create({}, { 'Idempotency-Key': key })).status).toBe(201);
  });

  it.each(['', 'a b', 'ключ', 'x'.repeat(256), '""'])("refuses the key '%.20s'", async (key) => {
    const header = Buffer.from(key).toString('latin1');
    const reply = await create({}, { 'Idempotency-Key': header });
    expect([reply.status, reply.json.code]).toEqual([400, 'invalid_idempotency_key']);
  });
});

describe('a key whose row is not available', () => {
  it('is read once for all requests that come meanwhile', async () => {
    const statements: string[] = [];
    const other = await startGateway({ outside: { onStatement: (sql) => statements.push(sql) } });
    const { key } = await other.partner();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => other.call('GET', '/partner/orders/XP-000000', { key })),
    );
    await other.stop();
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(404));
    expect(statements.filter((sql) => sql.includes('"a0"."key_id" ='))).toHaveLength(1);
  });
});

describe('ending access', () => {
  it('refuses a create at once after the key was revoked, though the key is still cached', async () => {
    const other = await gateway.partner();
    expect((await create({}, {}, other.key)).status).toBe(201);
    await gateway.partners.revokeKey(other.keyId);
    expect((await create({}, {}, other.key)).status).toBe(401);
  });

  it('refuses a create at once after the partner was deactivated', async () => {
    const other = await gateway.partner();
    expect((await create({}, {}, other.key)).status).toBe(201);
    await gateway.partners.change(other.id, { status: 'inactive' });
    expect((await create({}, {}, other.key)).status).toBe(403);
  });
});

describe('X-Signature', () => {
  const sign = (body: string, key = partner.key) =>
    createHmac('sha256', key.split('.')[1] ?? '')
      .update(body)
      .digest('hex');
  const raw = JSON.stringify(orderBody(), null, 2);
  const signed = (signature: string, body = raw) =>
    gateway.call('POST', '/partner/orders', { key: partner.key, raw: body, headers: { 'X-Signature': signature } });

  it('is accepted over the exact bytes, in either case of hex', async () => {
    expect((await signed(sign(raw))).status).toBe(201);
    expect((await signed(sign(raw).toUpperCase())).status).toBe(201);
  });

  it('is refused over other bytes, when short, empty, doubled or not hex', async () => {
    for (const signature of [
      sign(JSON.stringify(orderBody())),
      sign(raw).slice(1),
      '',
      `${sign(raw)}, ${sign(raw)}`,
      'z'.repeat(64),
      '0'.repeat(64),
    ]) {
      const reply = await signed(signature);
      expect([reply.status, reply.json.code]).toEqual([401, 'invalid_signature']);
    }
  });

  it('of a GET signs nothing', async () => {
    const { json } = await create();
    const get = (signature: string) =>
      gateway.call('GET', `/partner/orders/${json.id}`, { key: partner.key, headers: { 'X-Signature': signature } });
    expect((await get(sign(''))).status).toBe(200);
    expect((await get(sign('{}'))).status).toBe(401);
  });

  it('can be demanded by a partner', async () => {
    const other = await gateway.partner();
    await gateway.partners.change(other.id, { requireSignature: true });
    expect((await create({}, {}, other.key)).json.code).toBe('invalid_signature');
    const text = JSON.stringify(orderBody());
    const reply = await gateway.call('POST', '/partner/orders', {
      key: other.key,
      raw: text,
      headers: { 'X-Signature': sign(text, other.key) },
    });
    expect(reply.status).toBe(201);
  });
});

describe('the database', () => {
  it('refuses to change history, and to change or give again a deposit address', async () => {
    const run = (sql: string) => query(gateway.databaseUrl, sql);
    await create();
    await expect(run('update order_event set cause = cause')).rejects.toThrow('append-only');
    await expect(run('delete from order_event')).rejects.toThrow('append-only');
    await expect(run("update deposit_address set address = 'x' where leased_at is not null")).rejects.toThrow(
      'never changes',
    );
    await expect(run('delete from deposit_address')).rejects.toThrow('append-only');
    await expect(
      run(
        `insert into deposit_address select gen_random_uuid(), keychain, index + 1000000, address, tag, now(), null from deposit_address limit 1`,
      ),
    ).rejects.toThrow('deposit_address_address_tag_key');
  });
});
