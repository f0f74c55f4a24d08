import { RefusalCounter } from '../../../src/accounts/partners/key-refusals.ts';
import { Big, formatDecimal } from '../../../src/base/money.ts';
import { cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { readingStatements } from '../../support/database/statement-count.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { type Member, newMember } from '../../support/staff/staff-client.ts';

let gateway: SettledGateway;
let viewer: Member;
let support: Member;
let admin: Member;
const statements: string[] = [];

beforeAll(async () => {
  gateway = await startSettledGateway({
    settings: {
      ...cabinetSettings,
      RATE_LIMIT_STAFF_PER_MIN: '100000',
      RATE_LIMIT_PARTNER_PER_MIN: '50001',
      RATE_LIMIT_ORDERS_PER_MIN: '50002',
      RATE_LIMIT_LISTS_PER_MIN: '50003',
      RATE_LIMIT_QUOTES_PER_MIN: '50004',
      RATE_LIMIT_VALIDATIONS_PER_MIN: '50005',
      RATE_LIMIT_CHANGES_PER_MIN: '50006',
      MAX_FIXED_EXPOSURE_USD: '5000',
      MAX_FIXED_DAY_USD: '300000',
      MAX_FLOAT_EXPOSURE_USD: '7000',
    },
    outside: { onStatement: (sql) => statements.push(sql) },
  });
  viewer = await newMember(gateway, 'viewer');
  support = await newMember(gateway, 'support');
  admin = await newMember(gateway, 'admin');
});
afterAll(() => gateway?.stop());

const list = `query ($first: Int, $after: String, $last: Int, $before: String, $search: String, $status: PartnerStatus) {
  partnerList(first: $first, after: $after, last: $last, before: $before, search: $search, status: $status) {
    edges { cursor node { id name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

async function names(variables: Record<string, unknown>): Promise<string[]> {
  const { partnerList } = await viewer.data(list, variables);
  return partnerList.edges.map(({ node }: { node: { name: string } }) => node.name);
}

describe('the list of partners', () => {
  const shops = ['shop Anna', 'Shop Ben', 'SHOP Cleo', 'shop Cleo', 'Shop_Dan'];
  const ids = new Map<string, string>();

  beforeAll(async () => {
    for (const name of [...shops].reverse()) ids.set(name, (await gateway.partners.create(name)).id);
  });

  it('pages forwards and backwards by name, and finds each partner once', async () => {
    const found: string[] = [];
    let after: string | null = null;
    for (;;) {
      const { partnerList } = await viewer.data(list, { first: 2, after, search: 'shop' });
      expect(partnerList.pageInfo.hasPreviousPage).toBe(after !== null);
      found.push(...partnerList.edges.map(({ node }: { node: { name: string } }) => node.name));
      after = partnerList.pageInfo.endCursor;
      if (!partnerList.pageInfo.hasNextPage) break;
    }
    expect([...found].sort()).toEqual([...shops].sort());
    expect(found.map((name) => name.toLowerCase())).toEqual(shops.map((name) => name.toLowerCase()));
    const before = ids.get(found[4] ?? '');
    const back = await viewer.data(list, { last: 2, before, search: 'shop' });
    expect(back.partnerList.edges.map(({ node }: { node: { name: string } }) => node.name)).toEqual(found.slice(2, 4));
    expect(back.partnerList.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  });

  it('finds by part of the name, by the beginning of the id, and by status', async () => {
    expect(await names({ search: ' P BEN ' })).toEqual(['Shop Ben']);
    const id = ids.get('Shop_Dan') ?? '';
    expect(await names({ search: id.toUpperCase() })).toEqual(['Shop_Dan']);
    // The characters of patterns are plain characters here.
    expect(await names({ search: 'shop_' })).toEqual(['Shop_Dan']);
    expect(await names({ search: "%'; drop table partner" })).toEqual([]);
    await gateway.partners.change(id, { status: 'inactive' });
    expect(await names({ search: 'shop', status: 'INACTIVE' })).toEqual(['Shop_Dan']);
    expect(await names({ search: 'shop', status: 'ACTIVE' })).not.toContain('Shop_Dan');
  });

  it('refuses pages and texts that cannot be', async () => {
    for (const variables of [{ after: 'x' }, { first: 101 }, { first: 0 }, { search: 'x'.repeat(201) }]) {
      const { errors } = await viewer.ask(list, variables);
      expect({ variables, kind: errors[0]?.extensions.kind }).toEqual({ variables, kind: 'invalid_value' });
    }
  });

  it('costs as many statements for many partners as for few', async () => {
    const cost = (first: number): Promise<number> =>
      readingStatements(statements, async () => {
        const query = `{ partnerList(first: ${first}) { edges { node { name usage { created } exposure { orders } } } } }`;
        await viewer.data(query);
      });
    const few = await cost(2);
    expect(few).toBeGreaterThan(0);
    expect(await cost(6)).toBe(few);
  });
});

describe('the exposure of a partner', () => {
  const query = `query ($id: ID!) { partner(id: $id) { exposure {
    orders ordersCap fixedHourUsd fixedHourCapUsd fixedDayUsd fixedDayCapUsd floatUsd floatCapUsd areFixedCapsCut } } }`;

  it('is what the caps count, to the digit', async () => {
    const { id, key } = await gateway.partner();
    const create = async (by: string, changes: Record<string, unknown>): Promise<void> => {
      const body = orderBody(changes);
      expect((await gateway.call('POST', '/partner/orders', { key: by, body })).status).toBe(201);
    };
    const empty = (await viewer.data(query, { id })).partner.exposure;
    expect(empty).toMatchObject({
      orders: 0,
      fixedHourUsd: '0',
      fixedHourCapUsd: '5000',
      floatUsd: '0',
      floatCapUsd: '7000',
      areFixedCapsCut: false,
    });
    await gateway.partners.change(id, { maxOpenOrders: 9, maxFloatExposureUsd: 4321, maxFixedDayUsd: 6000 });
    await create(key, { amount_from: 0.01, rate_type: 'fixed' });
    await create(key, { amount_from: 0.02, rate_type: 'float' });
    await create(key, { amount_from: 0.03, rate_type: 'float' });
    const full = (await viewer.data(query, { id })).partner.exposure;
    const price = new Big(gateway.app.prices.reference('BTC') ?? '0');
    expect(full).toMatchObject({ orders: 3, ordersCap: 9, floatCapUsd: '4321', fixedDayCapUsd: '6000' });
    expect(full.fixedHourUsd).toBe(formatDecimal(price.times('0.01')));
    expect(full.fixedDayUsd).toBe(full.fixedHourUsd);
    expect(full.floatUsd).toBe(formatDecimal(price.times('0.05')));
  });

  it('shows fixed caps that are cut while fixed orders lose money', async () => {
    const { id } = await gateway.partner();
    await gateway.query(
      `insert into fixed_result (partner_id, hour, orders, sent_usd, owed_usd, fees_usd)
       values ($1, date_trunc('hour', $2::timestamptz), 100, 1000, 1500, 0)`,
      [id, gateway.clock.now().toISOString()],
    );
    const cut = (await viewer.data(query, { id })).partner.exposure;
    expect(cut).toMatchObject({ fixedHourCapUsd: '500', areFixedCapsCut: true });
    await gateway.partners.change(id, { keepsFixedCaps: true });
    const kept = (await viewer.data(query, { id })).partner.exposure;
    expect(kept).toMatchObject({ fixedHourCapUsd: '5000', areFixedCapsCut: false });
  });
});

describe('the refused requests of a key', () => {
  const query = 'query ($id: ID!) { partner(id: $id) { keys { keyId refusals { refused limited } } } }';
  const refusals = async (id: string, keyId: string) => {
    const { partner } = await support.data(query, { id });
    return partner.keys.find((key: { keyId: string }) => key.keyId === keyId).refusals;
  };

  it('are counted by requests with the genuine key only, and are written some seconds later', async () => {
    const { id, keyId, key } = await gateway.partner();
    await gateway.partners.change(id, { rateLimitPerMin: 4 });
    const answered: number[] = [];
    const ask = async (path: string, secret = key): Promise<void> => {
      answered.push((await gateway.call('GET', path, { key: secret })).status);
    };
    await ask('/partner/orders');
    await ask('/partner/orders/00000000-0000-7000-8000-000000000000');
    await ask('/partner/orders?limit=x');
    const { keyId: otherId, key: other } = await gateway.partner();
    await ask('/partner/orders', `${keyId}.${'0'.repeat((other.split('.')[1] ?? '').length)}`);
    for (let i = 0; i < 3; i++) await ask('/partner/orders');
    const refused = answered.filter((status) => status >= 400 && status !== 429 && status !== 401).length;
    const limited = answered.filter((status) => status === 429).length;
    expect({ refused, limited, unauthorized: answered.filter((status) => status === 401).length }).toEqual({
      refused: 2,
      limited: 2,
      unauthorized: 1,
    });
    for (let tries = 0; tries < 150 && (await refusals(id, keyId)).limited === 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(await refusals(id, keyId)).toEqual({ refused, limited });
    expect(await gateway.query('select 1 from key_refusal where key_id = $1', [otherId])).toEqual([]);
  }, 60_000);

  it('add up over processes, for 24 hours, and are forgotten', async () => {
    const { id, keyId } = await gateway.partner();
    const processes = [1, 2].map(() => new RefusalCounter(gateway.app.orm, gateway.clock));
    for (const counter of processes) {
      for (const status of [200, 204, 302, 400, 404, 429, 500, 503]) counter.count(keyId, status);
    }
    statements.length = 0;
    await Promise.all(processes.map((counter) => counter.flush()));
    expect(await refusals(id, keyId)).toEqual({ refused: 4, limited: 2 });
    // Nothing was counted since, so nothing is written again.
    await Promise.all(processes.map((counter) => counter.flush()));
    expect(await refusals(id, keyId)).toEqual({ refused: 4, limited: 2 });
    gateway.clock.advance(23 * 3_600_000);
    processes[0]?.count(keyId, 403);
    await processes[0]?.flush();
    gateway.clock.advance(2 * 3_600_000);
    expect(await refusals(id, keyId)).toEqual({ refused: 1, limited: 0 });
    gateway.clock.advance(48 * 3_600_000);
    await processes[0]?.forgetOld();
    expect(await gateway.query('select 1 from key_refusal where key_id = $1', [keyId])).toEqual([]);
  });

  it('wait for the next time when the database refuses them', async () => {
    const { id, keyId } = await gateway.partner();
    const counter = new RefusalCounter(gateway.app.orm, gateway.clock);
    counter.count(keyId, 404);
    await gateway.query('alter table key_refusal rename to key_refusal_away');
    await expect(counter.flush()).rejects.toThrow('key_refusal');
    await gateway.query('alter table key_refusal_away rename to key_refusal');
    counter.count(keyId, 404);
    await counter.flush();
    expect(await refusals(id, keyId)).toEqual({ refused: 2, limited: 0 });
  });
});

describe('a change of a partner that is refused', () => {
  it('names each input that is at fault', async () => {
    const { id } = await gateway.partner();
    const { errors } = await admin.ask(
      'mutation ($id: ID!) { partnerChange(id: $id, changes: { limits: { requests: 0, markupBps: 501, orders: 5 } }, reason: "x") { id } }',
      { id },
    );
    expect(errors).toMatchObject([
      {
        extensions: {
          kind: 'validation_failed',
          errors: [
            { field: 'changes.limits.requests', code: 'invalid_value' },
            { field: 'changes.limits.markupBps', code: 'invalid_value' },
          ],
        },
      },
    ]);
    const { partner } = await viewer.data('query ($id: ID!) { partner(id: $id) { ordersLimitPerMin } }', { id });
    expect(partner.ordersLimitPerMin).toBe(null);
  });

  it.each([
    ['limits: { quoteHoldSec: 301 }', 'changes.limits.quoteHoldSec'],
    ['limits: { quoteHoldSec: 300 }', 'changes.limits.quoteHoldSec'],
    ['pricing: { float: "0.7" }', 'changes.pricing.float'],
    ['orderPage: true', 'changes.displayName'],
    ['orderPage: true, displayName: ""', 'changes.displayName'],
    ['name: ""', 'changes.name'],
  ])('as { %s }', async (changes, field) => {
    const { id } = await gateway.partner();
    const { errors } = await admin.ask(
      `mutation { partnerChange(id: "${id}", changes: { ${changes} }, reason: "x") { id } }`,
    );
    expect(errors).toMatchObject([{ extensions: { kind: 'invalid_value', errors: [{ field }] } }]);
  });

  it.each(['', 'name: null', 'pricing: {}', 'limits: null'])('when nothing is to change: { %s }', async (changes) => {
    const { id } = await gateway.partner();
    const { errors } = await admin.ask(
      `mutation { partnerChange(id: "${id}", changes: { ${changes} }, reason: "x") { id } }`,
    );
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('name at least one member of changes'),
        extensions: { kind: 'invalid_value' },
      },
    ]);
  });

  it('when one of its members needs a right that the caller lacks, and changes nothing', async () => {
    const operator = await newMember(gateway, 'operator');
    const { id } = await gateway.partner();
    for (const terms of ['pricing: { float: "0.2" }', 'limits: { requests: 7 }']) {
      const { errors } = await operator.ask(
        `mutation { partnerChange(id: "${id}", changes: { name: "Big", ${terms} }, reason: "x") { id } }`,
      );
      expect(errors).toMatchObject([{ extensions: { kind: 'insufficient_role' } }]);
    }
    const { partner } = await viewer.data('query ($id: ID!) { partner(id: $id) { name feeRateFloat } }', { id });
    expect(partner).toEqual({ name: expect.not.stringContaining('Big'), feeRateFloat: null });
  });

  it('names the reason', async () => {
    const { id } = await gateway.partner();
    const { errors } = await admin.ask(
      `mutation { partnerChange(id: "${id}", changes: { name: "Shop" }, reason: " ") { id } }`,
    );
    expect(errors).toMatchObject([{ extensions: { errors: [{ field: 'reason' }] } }]);
  });
});

describe('the open invitations of a partner', () => {
  const query = `query ($id: ID!) { partner(id: $id) { members { id } invitations {
    id name role isRecovery invitedBy createdAt expiresAt } } }`;
  const invite = (id: string, name: string): Promise<unknown> =>
    admin.data(`mutation { memberInvite(partnerId: "${id}", name: "${name}", role: FINANCE, reason: "x") { link } }`);
  const invitationsOf = async (id: string) => (await support.data(query, { id })).partner.invitations;

  it('are shown without their links, until they end', async () => {
    const { id } = await gateway.partner();
    const { id: another } = await gateway.partner();
    await invite(id, 'Ada');
    await invite(id, 'Bob');
    await invite(another, 'Eve');
    const now = gateway.clock.now();
    const [ada, bob, ...more] = await invitationsOf(id);
    expect(ada).toEqual({
      id: expect.any(String),
      name: 'Ada',
      role: 'FINANCE',
      isRecovery: false,
      invitedBy: null,
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + 72 * 3_600_000).toISOString(),
    });
    expect([bob.name, more]).toEqual(['Bob', []]);
    await gateway.query('update partner_invitation set expires_at = $1 where id = $2', [now.toISOString(), bob.id]);
    expect((await invitationsOf(id)).map(({ name }: { name: string }) => name)).toEqual(['Ada']);
  });

  it('are ended by those who invite, once', async () => {
    const { id } = await gateway.partner();
    await invite(id, 'Ada');
    const [{ id: invitation }] = await invitationsOf(id);
    const withdraw = `mutation { invitationWithdraw(id: "${invitation}", reason: "left the company") { id } }`;
    expect((await support.ask(withdraw)).errors[0]?.extensions.kind).toBe('insufficient_role');
    expect((await admin.data(withdraw)).invitationWithdraw.id).toBe(invitation);
    expect(await invitationsOf(id)).toEqual([]);
    const [entry] = await gateway.query(
      "select target, before, reason from audit_log where operation = 'invitationWithdraw' and target = $1",
      [`partner:${id}`],
    );
    expect(entry).toEqual({
      target: `partner:${id}`,
      before: { name: 'Ada', role: 'finance' },
      reason: 'left the company',
    });
    for (const gone of [invitation, 'nothing']) {
      const again = `mutation { invitationWithdraw(id: "${gone}", reason: "x") { id } }`;
      expect((await admin.ask(again)).errors[0]?.extensions.kind).toBe('invitation_not_found');
    }
  });

  it('cost as many statements for many partners as for few', async () => {
    const cost = (first: number): Promise<number> =>
      readingStatements(statements, async () => {
        await support.data(`{ partnerList(first: ${first}) { edges { node { invitations { id } members { id } } } } }`);
      });
    const few = await cost(2);
    expect(few).toBeGreaterThan(0);
    expect(await cost(6)).toBe(few);
  });
});

describe('the limits of a partner in force', () => {
  const query = `query ($id: ID!) { partner(id: $id) { limits { requests orders lists quotes validations changes
    openOrders fixedExposureUsd fixedDayUsd floatExposureUsd markupBps quoteHoldSec } } }`;

  it("are its own, else the gateway's", async () => {
    const { id } = await gateway.partner();
    const limits = async () => (await viewer.data(query, { id })).partner.limits;
    const usual = await limits();
    expect(usual).toEqual({
      requests: 50_001,
      orders: 50_002,
      lists: 50_003,
      quotes: 50_004,
      validations: 50_005,
      changes: 50_006,
      openOrders: 100_000,
      fixedExposureUsd: 5000,
      fixedDayUsd: 300_000,
      floatExposureUsd: 7000,
      markupBps: 500,
      quoteHoldSec: 60,
    });
    await gateway.partners.change(id, { rateLimitPerMin: 7, maxMarkupBps: 0, maxFixedExposureUsd: 400_000 });
    // The cap of a day is never below its own cap of an hour.
    const own = { requests: 7, markupBps: 0, fixedExposureUsd: 400_000, fixedDayUsd: 400_000 };
    expect(await limits()).toEqual({ ...usual, ...own });
    await gateway.partners.change(id, { maxFixedDayUsd: 1 });
    expect(await limits()).toMatchObject({ fixedDayUsd: 1 });
  });
});
