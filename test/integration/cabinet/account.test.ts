import { hasRight, type MemberOperation, memberRoles, operationRows } from '../../../src/accounts/members/rights.ts';
import { RefusalCounter } from '../../../src/accounts/partners/key-refusals.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import { Big } from '../../../src/base/money.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { cell, csvLine } from '../../../src/orders/read/csv.ts';
import { limitNames } from '../../../src/surfaces/rest/cabinet/own-limits.ts';
import { limitGroups } from '../../../web/cabinet/limits.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings, memberPaths } from '../../support/cabinet/cabinet-client.ts';
import { feedCatchesUp } from '../../support/gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';
import { Receivers } from '../../support/webhooks/receiver.ts';

// What members see and change of their account. Another partner's account is out of reach.

let receivers: Receivers;
let gateway: SettledGateway;
let partnerId: string;
let owner: CabinetClient;
let stranger: CabinetClient;

beforeAll(async () => {
  receivers = await Receivers.start();
  gateway = await startSettledGateway({
    settings: {
      ...receivers.settings,
      ...cabinetSettings,
      MAX_OPEN_ORDERS: '500',
      MAX_FIXED_DAY_USD: '300000',
    },
    outside: { receivers: receivers.outside },
  });
  const [keyId] = gateway.key.split('.');
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from api_key where key_id = $1', [
    keyId,
  ]);
  partnerId = row?.partner_id ?? '';
  owner = await member('owner');
  const other = await gateway.partners.create('Other shop');
  stranger = await member('owner', other.id);
});
afterAll(async () => {
  await gateway?.stop();
  await receivers?.stop();
});

async function member(role: (typeof memberRoles)[number], of = partnerId): Promise<CabinetClient> {
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const { link } = await members.invite(of, { name: `A ${role}`, role }, null);
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  expect((await client.accept(link)).status).toBe(200);
  return client;
}

/** What arrives: more than the order expects, so that its exchange gives more as well. */
const more = (amount: string): string => new Big(amount).times('2').toFixed();
const order = { coin_from: 'BTC', network_from: 'BTC', coin_to: 'USDT', network_to: 'TRC20', rate_type: 'float' };
const create = (key: string) =>
  gateway.call('POST', '/partner/orders', {
    key,
    body: { ...order, amount_from: 0.1, recipient_address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' },
  });

describe('an inactive partner', () => {
  it('reads, ends what it has, and gets nothing new', async () => {
    const { id } = await gateway.partners.create('Shut out');
    const people = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin).members;
    const [first, second] = [await member('owner', id), await member('owner', id)];
    const { member: other } = await second.done('GET', '/session');
    const issue = { label: 'x', scopes: ['orders:read'] };
    const { json: made } = await first.sure('issueKey', 'POST', '/keys', issue);
    const link = async (name: string) => (await people.invite(id, { name, role: 'viewer' }, null)).link;
    const [open, withdrawn] = [await link('Open'), await link('Withdrawn')];
    await gateway.partners.change(id, { status: 'inactive' });

    const refused = [
      await first.sure('issueKey', 'POST', '/keys', issue),
      await first.sure('rollKey', 'POST', `/keys/${made.key.key_id}/roll`, { old_key_hours: 0 }),
      await first.sure('invite', 'POST', '/invitations', { name: 'Bob', role: 'viewer' }),
      await first.sure('recoverMember', 'POST', `/members/${other.id}/recovery`),
      await first.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', {
        url: 'https://hooks.example.com/',
      }),
    ];
    expect(refused.map(({ status, json }) => [status, json?.code])).toEqual(Array(5).fill([403, 'partner_inactive']));
    const stranger = new CabinetClient(gateway.app.restUrl ?? '');
    await expect(stranger.accept(open)).rejects.toThrow('partner_inactive');

    expect((await first.done('GET', '/session')).partner.status).toBe('inactive');
    expect((await first.done('POST', `/keys/${made.key.key_id}/revoke`)).state).toBe('revoked');
    const { invitations } = await first.done('GET', '/team');
    const named = invitations.find(({ name }: { name: string }) => name === 'Withdrawn');
    expect((await first.call('DELETE', `/invitations/${named.id}`)).status).toBe(204);
    expect((await first.sure('removeMember', 'DELETE', `/members/${other.id}`)).status).toBe(204);

    await gateway.partners.change(id, { status: 'active' });
    expect((await stranger.accept(open)).status).toBe(200);
    await expect(stranger.accept(withdrawn)).rejects.toThrow('invitation_not_found');
  });

  it('recovers a member whom staff invite', async () => {
    const { id } = await gateway.partners.create('Shut out as well');
    const lost = await member('owner', id);
    const { member: found } = await lost.done('GET', '/session');
    await gateway.partners.change(id, { status: 'inactive' });
    const people = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin).members;
    const recovered = new CabinetClient(gateway.app.restUrl ?? '');
    expect((await recovered.accept((await people.recover(id, found.id, null)).link)).status).toBe(200);
    expect((await lost.call('GET', '/session')).status).toBe(401);
  });
});

describe('keys', () => {
  const ask = { label: 'Checkout', scopes: ['orders:create', 'orders:read', 'rates:read'] };

  it('are made, shown once, used, and ended', async () => {
    const { status, json, headers } = await owner.sure('issueKey', 'POST', '/keys', ask);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json.key).toMatchObject({ label: 'Checkout', scopes: [...ask.scopes].sort(), state: 'live', networks: [] });
    expect((await create(json.secret)).status).toBe(201);
    const list = await owner.call('GET', '/keys');
    expect(list.text).not.toContain(json.secret);
    expect(list.json.your_address).toBe('127.0.0.1');
    const ended = await owner.done('POST', `/keys/${json.key.key_id}/revoke`);
    expect(ended.state).toBe('revoked');
  });

  it('are rolled, and both work until the old one ends', async () => {
    const made = (await owner.sure('issueKey', 'POST', '/keys', ask)).json;
    const path = `/keys/${made.key.key_id}/roll`;
    const rolled = (await owner.sure('rollKey', 'POST', path, { old_key_hours: 24 })).json;
    expect((await create(made.secret)).status).toBe(201);
    expect((await create(rolled.secret)).status).toBe(201);
    const { data } = await owner.done('GET', '/keys');
    const states = data.map(({ key_id, state }: { key_id: string; state: string }) => [key_id, state]);
    expect(states).toEqual(
      expect.arrayContaining([
        [made.key.key_id, 'expires'],
        [rolled.key.key_id, 'live'],
      ]),
    );
    const wrong = await owner.sure('rollKey', 'POST', path, { old_key_hours: 169 });
    expect([wrong.status, wrong.json.errors[0].field]).toEqual([422, 'old_key_hours']);
    for (const key of [made, rolled]) await owner.done('POST', `/keys/${key.key.key_id}/revoke`);
  });

  it('keep the network that used them last, unless that is confirmed', async () => {
    const made = (await owner.sure('issueKey', 'POST', '/keys', ask)).json;
    const path = `/keys/${made.key.key_id}/networks`;
    const set = (networks: string[], sure = {}) => owner.sure('setKeyNetworks', 'PUT', path, { networks, ...sure });
    // A key without a use has no address to lock out.
    expect((await set(['203.0.113.0/24'])).json.networks).toEqual(['203.0.113.0/24']);
    expect((await set(['127.0.0.0/8'])).status).toBe(200);
    expect((await create(made.secret)).status).toBe(201);
    await gateway.query("update api_key set last_used_from = '127.0.0.1' where key_id = $1", [made.key.key_id]);
    const locked = await set(['203.0.113.0/24']);
    expect([locked.status, locked.json.code]).toEqual([409, 'network_locked_out']);
    const { data } = await owner.done('GET', '/keys');
    const kept = data.find(({ key_id }: { key_id: string }) => key_id === made.key.key_id);
    expect(kept.networks).toEqual(['127.0.0.0/8']);
    expect((await set(['203.0.113.0/24'], { confirm_lock_out: true })).status).toBe(200);
    expect((await set(['nonsense'])).json.code).toBe('invalid_value');
    await owner.done('POST', `/keys/${made.key.key_id}/revoke`);
  });
});

describe('orders', () => {
  let made: MadeOrder;
  beforeAll(async () => {
    made = await gateway.order({ external_id: 'basket-1', metadata: { basket: '1' }, markup_bps: 50 });
    await gateway.deposit(made, { amount: more(made.amountFrom) });
    for (let i = 0; i < 8; i++) {
      await gateway.tick();
      for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
    }
    await gateway.settle(made);
    await feedCatchesUp(gateway.query);
    await new OrderStats(gateway.app.orm).rollUp();
  });

  it('are listed and found by any of their names', async () => {
    const shown = await gateway.show(made);
    for (const named of [`ids=${made.id}`, `ids=${shown.short_id}`, 'external_id=basket-1']) {
      const { data } = await owner.done('GET', `/partner/orders?${named}`);
      expect(data.map(({ id }: { id: string }) => id)).toEqual([made.id]);
    }
    const { data, next_cursor } = await owner.done('GET', '/partner/orders?limit=1');
    expect(data).toHaveLength(1);
    const more = await owner.done('GET', `/partner/orders?limit=1&cursor=${next_cursor}`);
    expect(more.data[0].id).not.toBe(data[0].id);
    expect((await owner.done('GET', '/partner/orders?status=completed,failed')).data).toHaveLength(1);
    expect((await owner.call('GET', '/partner/orders?limit=0')).json.errors[0].field).toBe('limit');
    expect((await owner.call('GET', '/partner/orders?cursor=x')).json.code).toBe('invalid_cursor');
  });

  it('are shown whole, with exact amounts, and without internals', async () => {
    const at = `/partner/orders/${made.id}`;
    const shown = { ...(await owner.done('GET', at)), ...(await owner.done('GET', `${at}/details`)) };
    const { data: events } = await owner.done('GET', `${at}/events`);
    expect(shown).toMatchObject({
      status: 'completed',
      external_id: 'basket-1',
      metadata: { basket: '1' },
      deposits: [{ amount: Number(more(made.amountFrom)), role: 'main', explorer_url: null }],
      payout: { state: 'confirmed' },
      refunds: [],
    });
    expect(events.map(({ status }: { status: string }) => status).at(-1)).toBe('completed');
    // What the user got for more than the order expected, not what it promised.
    expect(shown.terms.amount_to).toBe(shown.payout.amount);
    expect(shown.terms.amount_to).toBeGreaterThan(Number(made.amountTo));
    const { data } = await owner.done('GET', `/partner/orders?ids=${made.id}&include=details`);
    expect(data[0].details.terms).toMatchObject({
      amount_from: Number(more(made.amountFrom)),
      amount_to: shown.payout.amount,
    });
  });

  it('show people where they pay, and keys only whether there is a refund address', async () => {
    const at = `/partner/orders/${made.id}/details`;
    const { people, refund_address: kind } = await owner.done('GET', at);
    const { refund_address: address, refunded_to: refundedTo } = people;
    expect([kind, typeof address, people.refund_reason, refundedTo]).toEqual(['given', 'string', null, []]);
    const { json, text } = await gateway.call('GET', at, { key: gateway.key });
    expect([json.refund_address, 'people' in json, text.includes(address)]).toEqual(['given', false, false]);
  });

  it('are found by a coin on either side', async () => {
    for (const [coin, count] of [
      [made.coinFrom, 1],
      ['USDT', 1],
      ['DOGE', 0],
    ] as const) {
      const { data } = await owner.done('GET', `/partner/orders?coin=${coin}&ids=${made.id}`);
      expect([coin, data.length]).toEqual([coin, count]);
    }
  });

  it('of another partner are not found', async () => {
    const { status, json } = await stranger.call('GET', `/partner/orders/${made.id}`);
    expect([status, json.code]).toEqual([404, 'order_not_found']);
    expect((await stranger.done('GET', '/partner/orders')).data).toEqual([]);
    expect((await stranger.done('GET', `/partner/orders?ids=${made.id}`)).data).toEqual([]);
  });

  it('are counted at home', async () => {
    const home = await owner.done('GET', '/home');
    expect(home.days_30.completed).toBe(1);
    expect(home.by_day).toHaveLength(30);
    expect(home.open_orders).toBeGreaterThan(0);
    expect(home.needs_action).toContainEqual({ code: 'one_passkey', count: 1 });
    expect((await stranger.done('GET', '/home')).days_30.created).toBe(0);
  });

  it('refused are counted at home, of the keys of the partner alone', async () => {
    const counter = new RefusalCounter(gateway.app.orm, gateway.clock);
    const [key] = (await owner.done('GET', '/keys')).data;
    const before = (await owner.done('GET', '/home')).requests;
    for (const status of [429, 429, 404, 201]) counter.count(key.key_id, status);
    await counter.flush();
    expect((await owner.done('GET', '/home')).requests).toEqual({
      rate_limited_24h: before.rate_limited_24h + 2,
      refused_24h: before.refused_24h + 1,
    });
    expect((await stranger.done('GET', '/home')).requests).toEqual({ rate_limited_24h: 0, refused_24h: 0 });
  });

  it('count against limits, which every role sees with their use', async () => {
    const limitsOf = async (client: CabinetClient) => {
      const { limits, ...cuts } = await client.done('GET', '/limits');
      const named = new Map<string, { most: string; used: string | null; is_own: boolean }>(
        limits.map(({ name, ...limit }: { name: string }) => [name, limit]),
      );
      return { named, cuts };
    };
    const all = await limitsOf(owner);
    expect([...all.named.keys()]).toEqual([...limitNames]);
    // The page shows each of them, in one of its groups.
    const { limits } = await owner.done('GET', '/limits');
    const shown = limitGroups(limits).flatMap(({ rows }) => rows.map(({ name }) => name));
    expect(shown.toSorted()).toEqual([...limitNames].sort());
    expect(all.cuts).toEqual({ are_fixed_caps_cut: false, is_quote_hold_cut: false });
    expect(all.named.get('webhook_endpoints')).toMatchObject({ most: '10', is_own: false });
    expect(all.named.get('requests')).toMatchObject({ most: '100000', is_own: false });
    expect(all.named.get('fixed_day_usd')).toEqual({ most: '300000', used: '0', is_own: false });
    const openBefore = Number(all.named.get('open_orders')?.used);
    const sentBefore = Number(all.named.get('order_requests')?.used);

    // Its own values replace the gateway's, and a cap of the hour above the day's raises the day's.
    await gateway.partners.change(partnerId, {
      maxOpenOrders: 900,
      rateLimitPerMin: 777,
      maxFixedExposureUsd: 400_000,
      maxMarkupBps: 120,
      quoteHoldSec: 45,
      feeRateFloat: '0.004',
    });
    expect((await create(gateway.key)).status).toBe(201);
    const fixed = await gateway.call('POST', '/partner/orders', {
      key: gateway.key,
      body: {
        ...order,
        rate_type: 'fixed',
        amount_from: 0.1,
        recipient_address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
      },
    });
    expect(fixed.status).toBe(201);
    const { named } = await limitsOf(await member('viewer'));
    expect(named.get('open_orders')).toEqual({ most: '900', used: String(openBefore + 2), is_own: true });
    expect(named.get('order_requests')).toMatchObject({ used: String(sentBefore + 2), is_own: false });
    expect(named.get('requests')).toMatchObject({ most: '777', is_own: true });
    expect(named.get('fixed_hour_usd')).toMatchObject({ most: '400000', is_own: true });
    expect(named.get('fixed_day_usd')).toMatchObject({ most: '400000', is_own: true });
    expect(Number(named.get('fixed_day_usd')?.used)).toBeGreaterThan(1_000);
    expect(Number(named.get('float_usd')?.used)).toBeGreaterThan(1_000);
    expect(named.get('markup_bps')).toEqual({ most: '120', used: null, is_own: true });
    expect(named.get('quote_hold_sec')).toEqual({ most: '45', used: null, is_own: true });
    expect(named.get('service_fee_float')).toEqual({ most: '0.004', used: null, is_own: true });
    // Another partner has the gateway's, and no use.
    const other = (await limitsOf(stranger)).named;
    expect(other.get('open_orders')).toEqual({ most: '500', used: '0', is_own: false });
    expect(other.get('requests')).toEqual({ most: '100000', used: '0', is_own: false });

    await gateway.query('update partner set quote_cut_since = now() where id = $1', [partnerId]);
    const cut = await limitsOf(owner);
    expect(cut.cuts.is_quote_hold_cut).toBe(true);
    expect(cut.named.get('quote_hold_sec')?.most).toBe('15');
    await gateway.query('update partner set quote_cut_since = null where id = $1', [partnerId]);
    await gateway.partners.change(partnerId, {
      maxOpenOrders: null,
      rateLimitPerMin: null,
      maxFixedExposureUsd: null,
      maxMarkupBps: null,
      quoteHoldSec: null,
      feeRateFloat: null,
    });
  });

  it('are in the statement of their month, and in its CSV', async () => {
    const { data: months } = await owner.done('GET', '/partner/statements');
    expect(months).toMatchObject([{ state: 'open', orders: 1 }]);
    const { month } = months[0];
    expect(await owner.done('GET', `/partner/statements/${month}`)).toEqual(months[0]);
    const { data } = await owner.done('GET', `/partner/commission/entries?month=${month}`);
    expect(data).toMatchObject([{ order_id: made.id, external_id: 'basket-1' }]);
    const csv = await owner.call('GET', `/partner/statements/${month}?format=csv`);
    expect(csv.headers.get('content-disposition')).toContain(`commission-${month}.csv`);
    const lines = csv.text.split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(data[0].id);
    expect((await stranger.call('GET', `/partner/statements/${month}`)).status).toBe(404);
    expect((await owner.call('GET', '/partner/statements/2026-13')).status).toBe(404);
  });
});

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-2', "'-2"],
  ['@x', "'@x"],
  ['\tx', "'\tx"],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['=a,"b"', `"'=a,""b"""`],
  ['a\nb', '"a\nb"'],
  // Where a comma is the decimal sign, spreadsheets begin a cell after each semicolon.
  ['x;=1+1', "x;'=1+1"],
  ['x;;@a;y', "x;;'@a;y"],
  ['x;1', 'x;1'],
  ['0.5', '0.5'],
  [null, ''],
])('a cell of %j is %j in CSV', (value, written) => {
  expect(cell(value)).toBe(written);
});

it('a number of the gateway stays one in CSV, also below zero', () => {
  expect(csvLine([{ decimal: '-2' }, '-2', null])).toBe("-2,'-2,\r\n");
});

/** Sends all webhooks that wait. */
async function send(): Promise<void> {
  for (;;) {
    const begun = await gateway.app.webhooks?.sender.begin();
    await gateway.app.webhooks?.sender.idle();
    if (!begun) return;
  }
}

/** Sends webhooks until an answer that waits for one is there. */
async function sending<Result>(answer: Promise<Result>): Promise<Result> {
  let isThere = false;
  const ended = answer.finally(() => {
    isThere = true;
  });
  while (!isThere) await send();
  return ended;
}

describe('webhooks', () => {
  it('are added, tested, rotated, changed and removed', async () => {
    const url = receivers.url('cabinet');
    const made = (await owner.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', { url })).json;
    expect(made.secret).toMatch(/^whsec_/);
    const { id } = made.endpoint;
    expect((await owner.call('GET', '/partner/webhook-endpoints')).text).not.toContain(made.secret);
    const { event_id } = await sending(owner.done('POST', `/partner/webhook-endpoints/${id}/test`));
    const { data } = await owner.done('GET', `/partner/webhook-endpoints/${id}/deliveries`);
    expect(data).toMatchObject([{ event_id, state: 'delivered', attempts: [{ status: 204 }] }]);
    const turned = (
      await owner.sure('rotateWebhookSecret', 'POST', `/partner/webhook-endpoints/${id}/rotate-secret`, {
        old_secret_hours: 1,
      })
    ).json;
    expect(turned.secret).not.toBe(made.secret);
    const changed = await owner.sure('updateWebhookEndpoint', 'PATCH', `/partner/webhook-endpoints/${id}`, {
      types: ['order.completed'],
    });
    expect(changed.json.types).toEqual(['order.completed']);
    const bad = await owner.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', {
      url: 'http://169.254.169.254/',
    });
    expect([bad.status, bad.json.code]).toEqual([422, 'url_not_allowed']);
    for (const [method, path] of [
      ['GET', `/partner/webhook-endpoints/${id}/deliveries`],
      ['POST', `/partner/webhook-endpoints/${id}/test`],
    ] as const) {
      expect((await stranger.call(method, path)).status).toBe(404);
    }
    expect((await owner.sure('deleteWebhookEndpoint', 'DELETE', `/partner/webhook-endpoints/${id}`)).status).toBe(200);
  });

  it('send events again, marked as a repetition', async () => {
    const url = receivers.url('again');
    const { endpoint: webhook } = (
      await owner.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', { url })
    ).json;
    const made = await gateway.order();
    await feedCatchesUp(gateway.query);
    await gateway.app.webhooks?.dispatcher.dispatch();
    const path = `/partner/webhook-endpoints/${webhook.id}`;
    await send();
    const event = `evt_${made.id.replaceAll('-', '')}_1`;
    expect(await owner.done('POST', `${path}/replay`, { body: { event_ids: [event] } })).toEqual({
      count: 1,
      next_cursor: null,
    });
    await send();
    const { data } = await owner.done('GET', `${path}/deliveries`);
    const of = data.filter(({ event_id }: { event_id: string }) => event_id === event);
    expect(of.map(({ is_replay }: { is_replay: boolean }) => is_replay).sort()).toEqual([false, true]);
  });
});

describe('the team', () => {
  it('keeps its last owner, changes roles, and removes members with their sessions', async () => {
    const { id } = await gateway.partners.create('Team');
    const first = await member('owner', id);
    const { member: me } = await first.done('GET', '/session');
    const demoted = await first.sure('changeMember', 'PATCH', `/members/${me.id}`, { role: 'viewer' });
    expect([demoted.status, demoted.json.code]).toEqual([409, 'action_not_possible']);
    expect((await first.sure('removeMember', 'DELETE', `/members/${me.id}`)).status).toBe(409);
    const issued = (await first.sure('invite', 'POST', '/invitations', { name: 'Bob', role: 'viewer' })).json;
    expect((await first.done('GET', '/team')).invitations).toMatchObject([{ name: 'Bob', invited_by: 'A owner' }]);
    const second = new CabinetClient(gateway.app.restUrl ?? '');
    const bob = (await second.accept(issued.link)).json.member;
    expect((await second.call('GET', '/keys')).json.code).toBe('insufficient_role');
    await first.sure('changeMember', 'PATCH', `/members/${bob.id}`, { role: 'owner' });
    expect((await second.call('GET', '/keys')).status).toBe(200);
    // Two owners who remove each other at the same time leave one.
    const headers = [
      await first.confirmed('removeMember', 'DELETE', `/members/${bob.id}`),
      await second.confirmed('removeMember', 'DELETE', `/members/${me.id}`),
    ];
    const replies = await Promise.all([
      first.call('DELETE', `/members/${bob.id}`, { headers: headers[0] ?? {} }),
      second.call('DELETE', `/members/${me.id}`, { headers: headers[1] ?? {} }),
    ]);
    expect(replies.filter(({ status }) => status === 204)).toHaveLength(1);
    const left = replies[0]?.status === 204 ? second : first;
    expect((await left.call('GET', '/session')).status).toBe(401);
    expect((await left.signIn()).status).toBe(403);
  });

  it('cannot touch members of another partner', async () => {
    const { member: me } = await owner.done('GET', '/session');
    for (const [operation, method, path, body] of [
      ['changeMember', 'PATCH', `/members/${me.id}`, { role: 'viewer' }],
      ['removeMember', 'DELETE', `/members/${me.id}`, undefined],
      ['recoverMember', 'POST', `/members/${me.id}/recovery`, undefined],
    ] as const) {
      const { status, json } = await stranger.sure(operation, method, path, body);
      expect([operation, status, json.code]).toEqual([operation, 404, 'member_not_found']);
    }
  });
});

describe('rights', () => {
  const paths = memberPaths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_, name) =>
        name === 'month' ? '2026-01' : name === 'key_id' ? 'xp_test_none' : '00000000-0000-7000-8000-000000000000',
      ),
    })),
  );

  it.each(memberRoles)('of the role %s hold at each operation', async (role) => {
    const client = await member(role);
    for (const { id, method, path } of paths) {
      const { needs } = operationRows[id];
      if (needs === 'nothing' || id === 'signOut') continue;
      const { status, json } = await client.call(
        method,
        path,
        method === 'GET' || method === 'DELETE' ? {} : { body: {} },
      );
      const isRefused = status === 403 && json?.code === 'insufficient_role';
      expect([id, isRefused]).toEqual([id, needs !== 'member' && !hasRight(role, needs)]);
    }
  });

  it('need a session for every operation except a sign-in', async () => {
    const signedOut = new CabinetClient(gateway.app.restUrl ?? '');
    for (const { id, method, path } of paths) {
      const { status } = await signedOut.call(
        method,
        path,
        method === 'GET' || method === 'DELETE' ? {} : { body: {} },
      );
      expect([id, status === 401]).toEqual([id, operationRows[id].needs !== 'nothing']);
    }
  });
});

describe('a request that is repeated with its Idempotency-Key', () => {
  /** Sends the same request again, each time with another confirmation. */
  const repeat = async (operation: MemberOperation, path: string, body: unknown, key: string) => {
    const headers = await owner.confirmed(operation, 'POST', path, body);
    const call = { headers: { ...headers, 'Idempotency-Key': key }, ...(body === undefined ? {} : { body }) };
    return owner.call('POST', path, call);
  };
  const audited = async (operation: string): Promise<number> => {
    const { data } = await owner.done('GET', '/audit?limit=100');
    return data.filter((one: { operation: string }) => one.operation === operation).length;
  };

  it('makes no second key or invitation, and shows no secret again', async () => {
    const issued = (await owner.sure('issueKey', 'POST', '/keys', { label: 'Old', scopes: ['orders:read'] })).json;
    const other = await member('viewer');
    const { member: lost } = await other.done('GET', '/session');
    const rows: [MemberOperation, string, unknown, 'secret' | 'link'][] = [
      ['issueKey', '/keys', { label: 'Twice', scopes: ['orders:read'] }, 'secret'],
      ['rollKey', `/keys/${issued.key.key_id}/roll`, { old_key_hours: 1 }, 'secret'],
      ['invite', '/invitations', { name: 'Twice', role: 'viewer' }, 'link'],
      ['recoverMember', `/members/${lost.id}/recovery`, undefined, 'link'],
    ];
    for (const [operation, path, body, secret] of rows) {
      const before = await audited(operation);
      const first = await repeat(operation, path, body, `once-${operation}`);
      const second = await repeat(operation, path, body, `once-${operation}`);
      expect([operation, first.status, second.status]).toEqual([operation, 200, 200]);
      expect(first.json[secret]).toEqual(expect.any(String));
      expect(second.json).toEqual({ ...first.json, [secret]: null });
      const replayed = [first, second].map(({ headers }) => headers.get('idempotent-replayed'));
      expect(replayed).toEqual([null, 'true']);
      expect(await audited(operation)).toBe(before + 1);
      const [, whole = ''] = String(first.json[secret]).split(/[.#]/);
      const stored = await gateway.query('select 1 from idempotency_key where position($1 in body) > 0', [whole]);
      expect(stored).toEqual([]);
    }
    const { data } = await owner.done('GET', '/keys');
    expect(data.filter(({ label }: { label: string }) => label === 'Twice')).toHaveLength(1);
    const reused = await repeat('issueKey', '/keys', { label: 'Else', scopes: ['orders:read'] }, 'once-issueKey');
    expect(reused.json.code).toBe('idempotency_key_reused');
  });

  it('tests and replays of webhooks are in the audit log, each once', async () => {
    const url = receivers.url('audited');
    const { endpoint } = (await owner.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', { url }))
      .json;
    const path = `/partner/webhook-endpoints/${endpoint.id}`;
    const headers = { 'Idempotency-Key': 'a-test' };
    const tested = await sending(owner.done('POST', `${path}/test`, { headers }));
    await sending(owner.done('POST', `${path}/test`, { headers }));
    const body = { event_ids: [tested.event_id] };
    const replayed = await owner.call('POST', `${path}/replay`, { body, headers: { 'Idempotency-Key': 'a-replay' } });
    const { data } = await owner.done('GET', '/audit?limit=100');
    const about = data.filter(({ target }: { target: string }) => target === `webhook:${endpoint.id}`);
    const operations = about.map(({ operation }: { operation: string }) => operation);
    expect([replayed.status, operations]).toEqual([200, ['replayWebhook', 'testWebhook', 'createWebhook']]);
  });
});

it('the audit log tells an owner who did what, without what staff wrote', async () => {
  const admin = await newMember(gateway, 'admin');
  await admin.data(
    'mutation ($id: ID!) { partnerChange(id: $id, changes: { limits: { requests: 500 } }, reason: "an internal thought") { id } }',
    { id: partnerId },
  );
  const { data, next_cursor } = await owner.done('GET', '/audit?limit=2');
  expect(data[0]).toMatchObject({ actor: null, operation: 'partnerChange', before: null, after: null, network: '' });
  expect(next_cursor).not.toBeNull();
  const text = (await owner.call('GET', '/audit?limit=100')).text;
  expect(text).not.toContain('an internal thought');
  expect(text).toContain('issueKey');
  expect(text).toContain('A owner');
  expect((await stranger.call('GET', '/audit')).text).not.toContain('issueKey');
});

it('is not there without CABINET_URL', async () => {
  const plain = await startSettledGateway();
  try {
    for (const path of ['/cabinet', '/cabinet/', '/cabinet/api/session']) {
      expect((await fetch(`${plain.app.restUrl}${path}`)).status).toBe(404);
    }
  } finally {
    await plain.stop();
  }
});
