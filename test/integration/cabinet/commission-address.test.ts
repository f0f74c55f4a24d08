import type { EntityManager } from '@mikro-orm/postgresql';
import { type MemberRole, operationRows } from '../../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import {
  addressWaitMs,
  linkedWaitMs,
  mostRequestsPerDay,
} from '../../../src/settlement/commission/commission-addresses.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings, forgetLink } from '../../support/cabinet/cabinet-client.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';
import { newMember } from '../../support/staff/staff-client.ts';

// The address that commission is paid to: who may change it, and how long a change waits. Also
// the notices of changed markups that owners get.

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway({ settings: cabinetSettings });
});
afterAll(() => gateway?.stop());

const path = '/commission/addresses';
const usdt = (address: string) => ({ coin: 'USDT', network: 'TRC20', address });
const first = usdt('TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH');
const second = usdt('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
const third = { coin: 'BTC', network: 'BTC', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' };

interface Shop {
  readonly id: string;
  readonly owner: CabinetClient;
}

let names = 0;
const people = () => cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin).members;
async function member(partnerId: string, role: MemberRole = 'owner'): Promise<CabinetClient> {
  const { link } = await people().invite(partnerId, { name: `A ${role}`, role }, null);
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  await forgetLink(gateway.query, await client.accept(link));
  return client;
}
async function shop(): Promise<Shop> {
  const { id } = await gateway.partners.create(`Shop ${++names}`);
  return { id, owner: await member(id) };
}
const set = (by: CabinetClient, body: object) => by.sure('setCommissionAddress', 'POST', path, body);
const shown = (by: CabinetClient) => by.done('GET', path);
const codes = async (by: CabinetClient) =>
  (await by.done('GET', '/home')).needs_action.map(({ code }: { code: string }) => code);

/** What the worker does once a minute. */
const turn = () =>
  gateway.app.orm.em.fork().transactional((em) => gateway.app.commissionAddresses.takeEffect(em, gateway.clock.now()));
const events = (partnerId: string) =>
  gateway.query<{ state: string; address: string }>(
    `select d.data ->> 'state' as state, d.data ->> 'address' as address
       from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
      where w.partner_id = $1 and d.type = 'commission.address_changed' order by d.id`,
    [partnerId],
  );
const endpoint = (partnerId: string) =>
  gateway.query(
    `insert into webhook_endpoint (id, partner_id, url, amounts, status, secret, secret_version, created_at, updated_at)
     values (gen_random_uuid(), $1, 'https://hooks.example.com/', 'string', 'enabled', '', 1, now(), now())`,
    [partnerId],
  );

describe('an address', () => {
  it('takes effect after 72 hours, and is announced to owners and webhooks at once', async () => {
    const { id, owner } = await shop();
    const other = await member(id);
    await endpoint(id);
    const { status, json } = await set(owner, first);
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...first, state: 'waiting', tag: null, requested_by: 'A owner' });
    expect(Date.parse(json.effective_at) - Date.parse(json.requested_at)).toBe(addressWaitMs);
    expect(await codes(other)).toContain('commission_address_waiting');
    expect(await events(id)).toEqual([{ state: 'requested', address: 'TUEZSd…WYdH' }]);
    expect(await shown(other)).toMatchObject({ in_effect: [], waiting: { id: json.id }, history: [{ id: json.id }] });

    gateway.clock.advance(addressWaitMs - 1);
    await turn();
    expect((await shown(await member(id))).in_effect).toEqual([]);
    gateway.clock.advance(1);
    await Promise.all([turn(), turn()]);
    const later = await member(id);
    expect(await shown(later)).toMatchObject({ waiting: null, in_effect: [{ ...first, state: 'effective' }] });
    expect(await codes(later)).not.toContain('commission_address_waiting');
    expect((await events(id)).map(({ state }) => state)).toEqual(['requested', 'effective']);
    const { data } = await later.done('GET', '/audit');
    expect(data).toContainEqual(
      expect.objectContaining({ operation: 'setCommissionAddress', after: expect.objectContaining(first) }),
    );
    expect((await set(later, first)).json.code).toBe('action_not_possible');
  });

  it('is cancelled by a session alone, and by the next request', async () => {
    const { id, owner } = await shop();
    await endpoint(id);
    const { json: one } = await set(owner, first);
    expect((await set(owner, first)).json.code).toBe('action_not_possible');
    const { json: two } = await set(owner, third);
    expect((await owner.call('DELETE', `${path}/${one.id}`)).status).toBe(404);
    expect((await owner.call('DELETE', `${path}/${two.id}`)).status).toBe(204);
    expect((await owner.call('DELETE', `${path}/${two.id}`)).status).toBe(404);
    gateway.clock.advance(addressWaitMs);
    await turn();
    const again = await member(id);
    const { in_effect, waiting, history } = await shown(again);
    expect([in_effect, waiting]).toEqual([[], null]);
    expect(history.map(({ state }: { state: string }) => state)).toEqual(['cancelled', 'cancelled']);
    expect((await events(id)).map(({ state }) => state)).toEqual(['requested', 'cancelled', 'requested', 'cancelled']);
  });

  it('that takes effect while it is cancelled does one of the two', async () => {
    const addresses = gateway.app.commissionAddresses;
    const transaction = (work: (em: EntityManager) => Promise<unknown>) =>
      gateway.app.orm.em.fork().transactional(work);
    const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    for (const ends of ['effective', 'cancelled'] as const) {
      const { id, owner } = await shop();
      await endpoint(id);
      const { json } = await set(owner, first);
      gateway.clock.advance(addressWaitMs);
      const now = gateway.clock.now();
      const takeEffect = (em: EntityManager) => addresses.takeEffect(em, now);
      const cancel = (em: EntityManager) => addresses.cancel(em, id, json.id, now);
      let second: Promise<PromiseSettledResult<unknown>[]> | undefined;
      await transaction(async (em) => {
        await (ends === 'effective' ? takeEffect(em) : cancel(em));
        second = Promise.allSettled([transaction(ends === 'effective' ? cancel : takeEffect)]);
        while ((await gateway.query(waits)).length === 0);
      });
      expect(await second).toMatchObject(
        ends === 'effective'
          ? [{ status: 'rejected', reason: { kind: 'not_found' } }]
          : [{ status: 'fulfilled', value: 0 }],
      );
      expect((await events(id)).map(({ state }) => state)).toEqual(['requested', ends]);
      const { waiting, in_effect, history } = await shown(await member(id));
      expect([waiting, in_effect.length]).toEqual([null, ends === 'effective' ? 1 : 0]);
      expect(history).toMatchObject([{ state: ends }]);
    }
  });

  it('of an inactive partner is cancelled, and none is requested', async () => {
    const { id, owner } = await shop();
    const { json } = await set(owner, first);
    await gateway.partners.change(id, { status: 'inactive' });
    expect((await set(owner, third)).json.code).toBe('partner_inactive');
    expect((await owner.call('DELETE', `${path}/${json.id}`)).status).toBe(204);
  });

  it('waits 72 hours again when the passkeys of a member were replaced', async () => {
    const { id, owner } = await shop();
    const { json } = await set(owner, first);
    const other = await member(id);
    const { member: lost } = await other.done('GET', '/session');
    gateway.clock.advance(addressWaitMs - 60_000);
    const { link } = await people().recover(id, lost.id, null);
    expect((await new CabinetClient(gateway.app.restUrl ?? '').accept(link)).status).toBe(200);
    gateway.clock.advance(60_000);
    await turn();
    const { waiting, in_effect } = await shown(await member(id));
    expect(in_effect).toEqual([]);
    expect(Date.parse(waiting.effective_at) - Date.parse(json.effective_at)).toBe(addressWaitMs - 60_000);
  });
});

describe('a request', () => {
  it('without a passkey, or confirmed for another address, is refused', async () => {
    const { owner } = await shop();
    expect((await owner.call('POST', path, { body: first })).json.code).toBe('passkey_required');
    const headers = await owner.confirmed('setCommissionAddress', 'POST', path, first);
    expect((await owner.call('POST', path, { body: third, headers })).json.code).toBe('passkey_required');
    expect((await shown(owner)).history).toEqual([]);
  });

  it('is made by an owner only, and read by whom statements are for', async () => {
    const { id } = await shop();
    const [finance, developer] = [await member(id, 'finance'), await member(id, 'developer')];
    expect((await finance.call('POST', path, { body: first })).json.code).toBe('insufficient_role');
    expect((await developer.call('GET', path)).json.code).toBe('insufficient_role');
    expect((await finance.call('GET', path)).status).toBe(200);
    expect(operationRows.setCommissionAddress).toEqual({ needs: 'commission:write', isConfirmed: true });
  });

  it('has an address of the network that a payment can reach, which is not ours', async () => {
    const { owner } = await shop();
    await gateway.app.prices.refresh(gateway.app.catalogue.coins());
    const order = await gateway.order();
    const [row] = await gateway.query<{ address: string }>(
      'select d.address from exchange_order o join deposit_address d on d.id = o.deposit_address_id where o.id = $1',
      [order.id],
    );
    const refused = [];
    for (const body of [
      { ...first, network: 'NONE' },
      { ...first, coin: 'NONE' },
      { ...first, address: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdX' },
      { ...first, address: third.address },
      { ...third, tag: '12' },
      { ...third, address: row?.address },
      second,
    ]) {
      const { code, errors } = (await set(owner, body)).json;
      refused.push([code, ...errors.map(({ field }: { field: string }) => field)]);
    }
    expect(refused).toEqual([
      ['unknown_network', 'network'],
      ['unknown_coin', 'coin'],
      ['invalid_address', 'address'],
      ['wrong_network_address', 'address'],
      ['tag_not_supported', 'tag'],
      ['own_address', 'address'],
      ['invalid_address', 'address'],
    ]);
    const { history, assets } = await shown(owner);
    expect(history).toEqual([]);
    expect(assets).toContainEqual({ coin: 'USDT', network: 'TRC20', tag: null });
    expect(assets).toContainEqual({ coin: 'XRP', network: 'XRP', tag: 'destination tag' });
  });

  it('by an owner whose access came by a link of staff is possible after seven days, or by another owner', async () => {
    const { id, owner } = await shop();
    const lost = await member(id);
    const { member: row } = await lost.done('GET', '/session');
    const support = await newMember(gateway, 'operator');
    const { memberRecover } = await support.data(
      `mutation { memberRecover(memberId: "${row.id}", reason: "lost") { link } }`,
    );
    const thief = new CabinetClient(gateway.app.restUrl ?? '');
    await thief.accept(memberRecover.link);
    const { status, json } = await set(thief, first);
    expect([status, json.code]).toEqual([409, 'action_not_possible']);
    const from = new Date(gateway.clock.now().getTime() + linkedWaitMs).toISOString();
    expect(json.detail).toContain(from.slice(0, 10));
    expect([await codes(owner), await codes(thief)]).toEqual([
      expect.arrayContaining(['owner_by_staff']),
      expect.not.arrayContaining(['owner_by_staff']),
    ]);
    const { data } = await owner.done('GET', '/audit');
    expect(data.map(({ operation }: { operation: string }) => operation)).toContain('memberRecover');

    // Neither a member whom the new owner invites, nor one who becomes an owner by it, is older.
    const { json: invited } = await thief.sure('invite', 'POST', '/invitations', { name: 'Eve', role: 'owner' });
    const guest = new CabinetClient(gateway.app.restUrl ?? '');
    await guest.accept(invited.link);
    const viewer = await member(id, 'viewer');
    const { member: promoted } = await viewer.done('GET', '/session');
    await thief.sure('changeMember', 'PATCH', `/members/${promoted.id}`, { role: 'owner' });
    for (const one of [guest, viewer]) expect((await set(one, first)).json.code).toBe('action_not_possible');
    expect((await shown(owner)).history).toEqual([]);

    expect((await set(owner, first)).status).toBe(200);
    gateway.clock.advance(linkedWaitMs);
    expect((await thief.signIn()).status).toBe(200);
    expect((await set(thief, third)).status).toBe(200);
  });

  it('is one of at most five in 24 hours', async () => {
    const { id, owner } = await shop();
    for (let n = 0; n < mostRequestsPerDay; n++) {
      expect((await set(owner, n % 2 === 0 ? first : third)).status).toBe(200);
    }
    const refused = await set(owner, third);
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    gateway.clock.advance(86_400_000);
    expect((await set(await member(id), third)).status).toBe(200);
  });
});

it('owners and webhooks are told at once when staff change the default markup of a key', async () => {
  const { id, owner } = await shop();
  await endpoint(id);
  const told = () =>
    gateway.query<{ before: number | null; after: number | null; key: string }>(
      `select d.data ->> 'key_id' as key, (d.data ->> 'previous_markup_bps')::int as before,
              (d.data ->> 'markup_bps')::int as after
         from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id
        where w.partner_id = $1 and d.type = 'key.markup_changed' order by d.id`,
      [id],
    );
  const admin = await newMember(gateway, 'admin');
  const issued = await admin.data(
    `mutation { keyIssue(partnerId: "${id}", key: { label: "shop" }, reason: "asked") { keyId } }`,
  );
  const key = issued.keyIssue.keyId;
  expect([await told(), await codes(owner)]).toEqual([[], expect.not.arrayContaining(['markup_changed'])]);
  const change = (members: string) =>
    admin.data(`mutation { keyChange(keyId: "${key}", key: { ${members} }, reason: "asked") { keyId } }`);
  for (const members of ['defaultMarkupBps: 50', 'label: "other"', 'defaultMarkupBps: 50', 'defaultMarkupBps: null']) {
    await change(members);
  }
  expect(await told()).toEqual([
    { key, before: null, after: 50 },
    { key, before: 50, after: null },
  ]);
  expect(await codes(owner)).toContain('markup_changed');
  gateway.clock.advance(7 * 86_400_000);
  expect(await codes(await member(id))).not.toContain('markup_changed');
  // A key that begins with one changes what orders cost as well.
  await admin.data(
    `mutation { keyIssue(partnerId: "${id}", key: { label: "next", defaultMarkupBps: 80 }, reason: "asked") { keyId } }`,
  );
  expect((await told()).slice(2)).toMatchObject([{ before: null, after: 80 }]);
});

it('no API key reads or changes an address', async () => {
  const open = Object.keys(readContract().paths ?? {}).filter((one) => /commission.*address|payout/.test(one));
  expect(open).toEqual([]);
  const base = gateway.app.restUrl ?? '';
  for (const [method, at] of [
    ['GET', path],
    ['POST', path],
    ['DELETE', `${path}/0199c0de-7a11-7c3e-9a4e-5d2f6b7c8d90`],
  ] as const) {
    const headers = {
      Authorization: `Bearer ${gateway.key}`,
      Origin: cabinetOrigin,
      'Content-Type': 'application/json',
    };
    const body = method === 'POST' ? { body: JSON.stringify(first) } : {};
    const answer = await fetch(new URL(`/cabinet/api${at}`, base), { method, headers, ...body });
    expect(answer.status).toBe(401);
    expect((await gateway.call(method, `/partner${at}`, { key: gateway.key })).status).toBe(404);
  }
});
