import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MemberRole } from '../../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import {
  CabinetClient,
  type CabinetReply,
  cabinetOrigin,
  cabinetSettings,
} from '../../support/cabinet/cabinet-client.ts';
import { PolicyGateway } from '../../support/gateway/asked-orders.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';

// What members answer when an order asks what to do with a deposit.

let policies: PolicyGateway;
let partnerId: string;
let owner: CabinetClient;

beforeAll(async () => {
  policies = await PolicyGateway.start({ settings: cabinetSettings });
  const { gateway } = policies;
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from api_key where key_id = $1', [
    gateway.key.split('.')[0],
  ]);
  partnerId = row?.partner_id ?? '';
  owner = await member('owner');
});
afterAll(() => policies?.gateway.stop());
beforeEach(() => policies.move('1'));

async function member(role: MemberRole, of = partnerId): Promise<CabinetClient> {
  const { gateway } = policies;
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  const { link } = await members.invite(of, { name: `A ${role}`, role }, null);
  expect((await client.accept(link)).status).toBe(200);
  return client;
}

/** An order that got half of its deposit and asks about it. */
async function asking(hasRefundAddress = true): Promise<MadeOrder> {
  const order = await policies.order({ policy: { on_underpaid: 'ask' }, hasRefundAddress });
  await policies.pay(order, '0.006');
  return order;
}

/** The question as the cabinet shows it, once an exchange is offered. */
async function question(order: MadeOrder, client = owner): Promise<CabinetReply['json']> {
  await policies.shown(order);
  const { action_required: asked } = await detailsOf(order, client);
  const offered = (name: string) => asked.actions.find(({ action }: { action: string }) => action === name) ?? null;
  return { ...asked, exchange: offered('exchange'), refund: offered('refund') };
}

/** Amounts are text, as the pages ask for them. */
const asText = { Amounts: 'string' };

const detailsOf = (order: MadeOrder, client = owner): Promise<CabinetReply['json']> =>
  client.done('GET', `/partner/orders/${order.id}/details`, { headers: asText });

const answer = (order: MadeOrder, body: unknown, client = owner, key: string = randomUUID()): Promise<CabinetReply> =>
  client.call('POST', `/partner/orders/${order.id}/actions`, { body, headers: { ...asText, 'Idempotency-Key': key } });

const entriesOf = (order: MadeOrder) =>
  policies.gateway.query<{ name: string; operation: string; after: unknown }>(
    `select m.name, a.operation, a.after from audit_log a join partner_member m on m.id = a.member_id where a.target = $1`,
    [`order:${order.id}`],
  );

it.each([
  'owner',
  'developer',
  'finance',
] as const)('the role %s answers once, by name in the audit log', async (role) => {
  const client = await member(role);
  const order = await asking();
  const asked = await question(order, client);
  expect(asked.reason).toBe('underpaid');
  expect(asked.refund).not.toHaveProperty('needs');
  const listed = await client.done('GET', `/partner/orders?ids=${order.id}&include=details`);
  expect(listed.data[0].details.action_required.id).toBe(asked.id);
  const body = { action_id: asked.id, action: 'exchange', amount_to: asked.exchange.amount_to };
  const key = randomUUID();
  const first = await answer(order, body, client, key);
  expect([first.status, first.json.order_id, first.json.action_required]).toEqual([200, order.id, null]);
  const again = await answer(order, body, client, key);
  expect([again.status, again.json, again.headers.get('idempotent-replayed')]).toEqual([200, first.json, 'true']);
  expect(await entriesOf(order)).toEqual([{ name: `A ${role}`, operation: 'answerOrder', after: body }]);
  expect((await detailsOf(order, client)).action_required).toBeNull();
  await policies.gateway.settle(order);
  expect(await policies.payments(order)).toEqual([`payout ${asked.exchange.amount_to}`]);
  if (role !== 'owner') return;
  const { data } = await client.done('GET', '/audit');
  expect(data[0]).toMatchObject({ actor: 'A owner', operation: 'answerOrder', target: `order:${order.id}` });
});

it('a refund is answered in the same way', async () => {
  const order = await asking();
  const asked = await question(order);
  expect((await answer(order, { action_id: asked.id, action: 'refund' })).status).toBe(200);
  await policies.gateway.settle(order);
  expect(await policies.payments(order)).toEqual([`refund ${asked.refund.amount}`]);
});

it('two answers at once: one counts', async () => {
  const order = await asking();
  const { id, exchange } = await question(order);
  const replies = await Promise.all([
    answer(order, { action_id: id, action: 'exchange', amount_to: exchange.amount_to }),
    answer(order, { action_id: id, action: 'refund' }),
  ]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(replies.find(({ status }) => status === 409)?.json.code).toBe('action_not_available');
  expect(await entriesOf(order)).toHaveLength(1);
});

it('a stale question and a stale amount are 409 and say what to do', async () => {
  const order = await asking();
  const { id, exchange } = await question(order);
  const old = await answer(order, { action_id: 'act_1', action: 'refund' });
  expect([old.status, old.json.code]).toEqual([409, 'action_stale']);
  expect(old.json.detail).toContain('not the present question');
  await policies.move('0.5');
  await policies.advance(200);
  const stale = await answer(order, { action_id: id, action: 'exchange', amount_to: exchange.amount_to });
  expect([stale.status, stale.json.code]).toEqual([409, 'action_stale']);
  expect(stale.json.detail).toContain('no longer offered for that amount');
  expect(await entriesOf(order)).toEqual([]);
  expect((await question(order)).id).toBe(id);
});

it('a refund without an address, and an amount with a refund, are refused', async () => {
  const order = await asking(false);
  const { id, refund } = await question(order);
  expect(refund.needs).toEqual(['refund_address']);
  const none = await answer(order, { action_id: id, action: 'refund' });
  expect([none.status, none.json.code]).toEqual([409, 'action_not_available']);
  const wrong = await answer(order, { action_id: id, action: 'refund', amount_to: '1' });
  expect([wrong.status, wrong.json.errors]).toEqual([
    422,
    [{ field: 'amount_to', code: 'invalid_value', detail: 'amount_to goes with an exchange' }],
  ]);
  for (const amount_to of ['', '-1', '01', '1.', 'x', '1'.repeat(4_000)]) {
    const { status, json } = await answer(order, { action_id: id, action: 'exchange', amount_to });
    expect([amount_to, status, json.errors[0].field]).toEqual([amount_to, amount_to === '-1' ? 422 : 400, 'amount_to']);
  }
});

it('a viewer, a stranger, and a member who lost the role meanwhile may not', async () => {
  const order = await asking();
  const { id } = await question(order);
  const body = { action_id: id, action: 'refund' };
  const viewer = await answer(order, body, await member('viewer'));
  expect([viewer.status, viewer.json.code]).toEqual([403, 'insufficient_role']);
  const other = await policies.gateway.partners.create('Other shop');
  const stranger = await answer(order, body, await member('owner', other.id));
  expect([stranger.status, stranger.json.code]).toEqual([404, 'order_not_found']);
  expect(await entriesOf(order)).toEqual([]);
});

it.each([
  ['loses the role', `update partner_member set role = 'viewer' where id = $1`, [403, 'insufficient_role']],
  ['is signed out', 'update partner_session set ended_at = now() where member_id = $1', [401, 'unauthorized']],
] as const)('a member who %s while the order is locked may not', async (_what, change, refusal) => {
  const { gateway } = policies;
  const order = await asking();
  const { id } = await question(order);
  const finance = await member('finance');
  const { member: who } = await finance.done('GET', '/session');
  const late = await gateway.app.orm.em.fork().transactional(async (em) => {
    await em.execute('select 1 from exchange_order where id = ? for update', [order.id]);
    const waiting = answer(order, { action_id: id, action: 'refund' }, finance);
    await waitsForLock();
    await gateway.query(change, [who.id]);
    return { waiting };
  });
  const { status, json } = await late.waiting;
  expect([status, json.code]).toEqual(refusal);
  expect(await entriesOf(order)).toEqual([]);
});

/** Waits until a connection of the gateway waits for a lock. */
async function waitsForLock(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const waiting = await policies.gateway.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.length > 0) return;
    await sleep(10);
  }
  throw new Error('no request waits');
}

it('a key that another request used is refused, and a bad key is named', async () => {
  const order = await asking();
  const { id, exchange } = await question(order);
  const key = randomUUID();
  expect(
    (await answer(order, { action_id: id, action: 'exchange', amount_to: exchange.amount_to }, owner, key)).status,
  ).toBe(200);
  const reused = await answer(order, { action_id: id, action: 'refund' }, owner, key);
  expect([reused.status, reused.json.code]).toEqual([422, 'idempotency_key_reused']);
  const colleague = await answer(
    order,
    { action_id: id, action: 'exchange', amount_to: exchange.amount_to },
    await member('finance'),
    key,
  );
  expect([colleague.status, colleague.json.code]).toEqual([422, 'idempotency_key_reused']);
  const bad = await answer(order, { action_id: id, action: 'refund' }, owner, 'a b');
  expect([bad.status, bad.json.code]).toEqual([400, 'invalid_idempotency_key']);
});
