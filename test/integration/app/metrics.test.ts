import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { sampleOf } from '../../support/http/exposition.ts';

let gateway: SettledGateway;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: { RATE_LIMIT_ICONS_PER_MIN: '2' } });
});
afterAll(async () => {
  await gateway?.stop();
});

const exposition = async (): Promise<string> => {
  const reply = await fetch(`${gateway.app.internalUrl}/metrics`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return reply.text();
};

describe('/metrics', () => {
  it('is on the internal listener only, and takes GET only', async () => {
    await exposition();
    expect((await fetch(`${gateway.app.internalUrl}/metrics`, { method: 'POST' })).status).toBe(404);
    for (const path of ['/metrics', '/api/v1/metrics']) {
      expect((await fetch(`${gateway.app.restUrl}${path}`)).status).toBe(404);
    }
  });

  it('counts requests by route template, so that unknown paths add no labels', async () => {
    const route = '/api/v1/partner/orders/{order_id}';
    const count = async (labels: Record<string, string>) =>
      sampleOf(await exposition(), 'http_server_request_duration_seconds_count', labels) ?? 0;
    const found = { method: 'GET', route, status: '200' };
    const before = await count(found);
    const order = await gateway.order();
    await gateway.show(order);
    expect(await count(found)).toBe(before + 1);
    expect(await count({ method: 'POST', route: '/api/v1/partner/orders', status: '201' })).toBeGreaterThan(0);
    await fetch(`${gateway.app.restUrl}/wp-login.php?x=${order.id}`, { method: 'PROPFIND' });
    expect(await count({ method: '_OTHER', route: 'unmatched', status: '404' })).toBe(1);
    const text = await exposition();
    for (const secret of [order.id, 'wp-login', gateway.key]) expect(text).not.toContain(secret);
    expect(sampleOf(text, 'http_server_request_duration_seconds_bucket', { ...found, le: '+Inf' })).toBe(before + 1);
  });

  it('counts what the limits let pass and what they refused', async () => {
    const icon = `${gateway.app.restUrl}/api/v1/coin-icons/BTC`;
    for (let i = 0; i < 5; i++) await (await fetch(icon)).arrayBuffer();
    const text = await exposition();
    const counted = (outcome: string) =>
      sampleOf(text, 'gateway_rate_limit_requests_total', { bucket: 'assets', outcome });
    expect([counted('allowed'), counted('refused')]).toEqual([2, 3]);
    expect(sampleOf(text, 'gateway_rate_limit_insurance_total')).toBe(0);
  });

  it('reports orders and money, and what needs attention', async () => {
    const before = await exposition();
    const waiting = (text: string) => sampleOf(text, 'gateway_orders', { status: 'waiting_deposit' }) ?? Number.NaN;
    const order = await gateway.order();
    await gateway.query('update exchange_order set held_at = now(), hold_reason = $1 where id = $2', [
      'looked at',
      order.id,
    ]);
    gateway.clock.advance(90_000);
    const after = await exposition();
    expect(waiting(after)).toBe(waiting(before) + 1);
    expect(sampleOf(after, 'gateway_order_oldest_seconds', { status: 'waiting_deposit' })).toBeGreaterThanOrEqual(90);
    expect(sampleOf(before, 'gateway_attention_items', { kind: 'held_order' })).toBe(0);
    expect(sampleOf(after, 'gateway_attention_items', { kind: 'held_order' })).toBe(1);
    expect(sampleOf(after, 'gateway_chain_lag_blocks', { chain: 'bitcoin' })).not.toBeNull();
    // The prices may have been read again meanwhile.
    expect(sampleOf(after, 'gateway_price_age_seconds', { coin: 'BTC' })).toBeGreaterThanOrEqual(0);
    expect(sampleOf(after, 'gateway_jobs_waiting')).not.toBeNull();
    expect(sampleOf(after, 'gateway_database_up')).toBe(1);
    expect(sampleOf(after, 'gateway_database_connections', { pool: 'requests', state: 'idle' })).toBeGreaterThan(0);
    expect(sampleOf(after, 'gateway_database_waiting', { pool: 'settlement' })).toBe(0);
    expect(sampleOf(after, 'nodejs_eventloop_lag_seconds')).not.toBeNull();
  });

  it('has each name once, and keeps the counters while the business cannot be read', async () => {
    await gateway.query('alter table chain_state rename to mislaid');
    const text = await exposition();
    await gateway.query('alter table mislaid rename to chain_state');
    expect(sampleOf(text, 'gateway_database_up')).toBe(0);
    expect(sampleOf(text, 'http_server_request_duration_seconds_count')).not.toBeNull();
    const whole = await exposition();
    const names = [...whole.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
