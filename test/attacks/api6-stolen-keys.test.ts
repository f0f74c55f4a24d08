import { usualScopes } from '../../src/accounts/partners/key-scope.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API6:2023, unrestricted access to sensitive business flows: what a thief of a partner's key
 * gains by changing the orders of its users. 0.01 BTC are about 641 US dollars in the sandbox.
 */

const thiefs = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const limitUsd = 1_400;

let clock: TestClock;
let gateway: SettledGateway;
let other: TestGateway;

beforeAll(async () => {
  clock = new TestClock(new Date());
  const settings = { LATE_REFUND_LIMIT_USD: String(limitUsd), REDIS_URL: 'redis://127.0.0.1:1' };
  gateway = await startSettledGateway({ clock, settings });
  other = await startGateway({
    databaseUrl: gateway.databaseUrl,
    settings: { PRICE_MAX_AGE_SEC: '86400', ...settings, ROLE: 'api' },
    outside: { clock, background: false },
  });
});
afterAll(async () => {
  await other?.stop();
  await gateway?.stop();
});

const at = (order: MadeOrder, path: string): string => `/partner/orders/${order.id}${path}`;

/** What the thief was paid, in US dollars of the sandbox's prices. */
async function stolen(): Promise<number> {
  const [row] = await gateway.query<{ usd: number }>(
    `select coalesce(sum(r.usd), 0)::float8 as usd from late_refund r
       join payment p on p.id = r.payment_id where p.address = $1`,
    [thiefs],
  );
  return row?.usd ?? 0;
}

describe('a thief of a key with orders:manage', () => {
  it('redirects at most the limit of 24 hours, by cancelling orders of users who then pay', async () => {
    const orders: MadeOrder[] = [];
    for (let i = 0; i < 6; i++) orders.push(await gateway.order({ refund_address: undefined }));
    const key = gateway.key;
    // Both processes at once, in both orders of the two steps.
    await Promise.all(
      orders.map(async (order, i) => {
        const where = i % 2 === 0 ? gateway : other;
        const steps = [
          () => where.call('PUT', at(order, '/refund-address'), { key, body: { refund_address: thiefs } }),
          () => where.call('POST', at(order, '/cancel'), { key }),
        ];
        for (const step of i % 3 === 0 ? steps.toReversed() : steps) expect((await step()).status).toBe(200);
      }),
    );
    for (const order of orders) await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    for (const order of orders) await gateway.settle(order);
    const ends = await Promise.all(orders.map(async (order) => (await gateway.show(order)).status));
    attempt('redirected refunds', ends.sort(), ['failed', 'failed', 'failed', 'failed', 'refunded', 'refunded']);
    const usd = await stolen();
    expect(usd).toBeGreaterThan(1_000);
    attempt('above the limit', usd > limitUsd, false);
    const paid = await gateway.query(`select id from payment where address = $1`, [thiefs]);
    expect(paid).toHaveLength(2);
  });

  it('gets the next part of the limit only as the hours pass', async () => {
    const order = await gateway.order({ refund_address: undefined });
    const key = gateway.key;
    await gateway.call('PUT', at(order, '/refund-address'), { key, body: { refund_address: thiefs } });
    await gateway.call('POST', at(order, '/cancel'), { key });
    clock.advance(23 * 3_600_000);
    const before = await stolen();
    await gateway.deposit(order);
    await gateway.mine('BTC', 3);
    await gateway.settle(order);
    attempt('within the day', await stolen(), before);
    expect((await gateway.show(order)).status).toBe('failed');
  });

  it('replaces no address that is set', async () => {
    const key = gateway.key;
    const order = await gateway.order();
    for (const body of [
      { refund_address: thiefs },
      { refund_address: thiefs.toUpperCase() },
      { refund_address: addressExample('BTC'), refund_address_tag: 'x' },
    ]) {
      const reply = await gateway.call('PUT', at(order, '/refund-address'), { key, body });
      attempt('replacing', reply.status, 409);
    }
  });

  it('changes no recipient: the contract has no such member', async () => {
    const order = await gateway.order();
    const key = gateway.key;
    for (const member of ['recipient_address', 'status', 'refund_address_set_at', 'policy']) {
      const body = { metadata: {}, [member]: thiefs };
      attempt(member, (await gateway.call('PATCH', at(order, ''), { key, body })).status, 400);
      const put = { refund_address: thiefs, [member]: thiefs };
      attempt(member, (await gateway.call('PUT', at(order, '/refund-address'), { key, body: put })).status, 400);
    }
  });
});

it('keys that exist, and keys that are issued without scopes, cannot change orders', async () => {
  const { id } = await gateway.partners.create('Earlier');
  const { key } = await gateway.partners.issueKey(id);
  const made = await gateway.call('POST', '/partner/orders', { key, body: orderBody() });
  expect(made.status).toBe(201);
  const path = `/partner/orders/${made.json.id}`;
  attempt('cancel', (await gateway.call('POST', `${path}/cancel`, { key })).json.code, 'insufficient_scope');
  expect(usualScopes).toEqual(['orders:create', 'orders:read', 'rates:read']);
});
