import { type MemberOperation, type MemberRole, operationRows } from '../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../src/app/services.ts';
import { addressExample } from '../../src/chains/addresses/address.ts';
import {
  CabinetClient,
  cabinetOrigin,
  cabinetSettings,
  forgetLink,
  memberPaths,
} from '../support/cabinet/cabinet-client.ts';
import { changingNothing } from '../support/database/database-state.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API1:2023, broken object level authorization, at the partner cabinet: an owner of another
 * partner, and a colleague, name each object of a partner at each operation of the contract.
 */

let gateway: SettledGateway;
let victim: CabinetClient;
let colleague: CabinetClient;
let stranger: CabinetClient;
/** Ids of the victim's objects, by the name of the path parameter. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: cabinetSettings });
  const order = await gateway.order();
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from exchange_order where id = $1', [
    order.id,
  ]);
  const partnerId = row?.partner_id ?? '';
  victim = await member(partnerId, 'owner');
  colleague = await member(partnerId, 'owner');
  stranger = await member((await gateway.partners.create('Other shop')).id, 'owner');
  const { member: me, session } = await victim.done('GET', '/session');
  const { data: passkeys } = await victim.done('GET', '/passkeys');
  const { json: key } = await victim.sure('issueKey', 'POST', '/keys', { label: 'x', scopes: ['orders:read'] });
  const { json: webhook } = await victim.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', {
    url: 'https://example.com/x',
  });
  const { json: invited } = await victim.sure('invite', 'POST', '/invitations', { name: 'Bob', role: 'viewer' });
  const { json: payout } = await victim.sure('setCommissionAddress', 'POST', '/commission/addresses', {
    coin: 'USDC',
    network: 'ERC20',
    address: addressExample('ERC20'),
  });
  ids = {
    address_id: payout.id,
    order_id: order.id,
    member_id: me.id,
    session_id: session.id,
    passkey_id: passkeys[0].id,
    key_id: key.key.key_id,
    endpoint_id: webhook.endpoint.id,
    invitation_id: invited.invitation.id,
  };
});
afterAll(() => gateway?.stop());

async function member(partnerId: string, role: MemberRole): Promise<CabinetClient> {
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const client = new CabinetClient(gateway.app.restUrl ?? '');
  const { link } = await members.invite(partnerId, { name: `A ${role}`, role }, null);
  await forgetLink(gateway.query, await client.accept(link));
  return client;
}

/** A body that each operation takes, so that the object decides. */
const bodies: Readonly<Partial<Record<MemberOperation, unknown>>> = {
  actOnOrder: { action_id: 'act_1', action: 'refund' },
  changeMember: { role: 'viewer' },
  rollKey: { old_key_hours: 0 },
  setKeyNetworks: { networks: ['203.0.113.0/24'], confirm_lock_out: true },
  updateWebhookEndpoint: { url: 'https://evil.example/' },
  rotateWebhookSecret: { old_secret_hours: 0 },
  replayWebhookEvents: { event_ids: ['evt_x'] },
};

const named = memberPaths.flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId }]) => {
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
    return parameter === undefined || parameter === 'month'
      ? []
      : [{ id: operationId, method: method.toUpperCase(), path, parameter }];
  }),
);

async function ask(by: CabinetClient, { id, method, path }: (typeof named)[number], of: string) {
  const place = path.replace(/\{\w+\}/, of);
  const body = bodies[id];
  const { status, json } = operationRows[id].isConfirmed
    ? await by.sure(id, method, place, body)
    : await by.call(method, place, body === undefined ? {} : { body });
  const { request_id: _, ...rest } = json ?? {};
  return { status, ...rest };
}

const absent = (parameter: string): string =>
  parameter === 'key_id' ? 'xp_test_AAAAAAAAAAAA' : '00000000-0000-7000-8000-000000000000';

it.each(named)('$id of an object of another partner is answered as for one that is not there', async (operation) => {
  const { id, parameter } = operation;
  const own = ids[parameter];
  if (own === undefined) throw new Error(`the test has no ${parameter}`);
  await changingNothing(gateway, async () => {
    const refusal = await ask(stranger, operation, absent(parameter));
    expect([204, 404]).toContain(refusal.status);
    attempt(`${id} by another partner`, await ask(stranger, operation, own), refusal);
  });
});

it.each(
  named.filter(({ parameter }) => parameter === 'passkey_id' || parameter === 'session_id'),
)('$id of another member of the same partner is answered as for one that is not there', async (operation) => {
  await changingNothing(gateway, async () => {
    const refusal = await ask(colleague, operation, absent(operation.parameter));
    attempt(operation.id, await ask(colleague, operation, ids[operation.parameter] ?? ''), refusal);
  });
});

it('cursors of one partner, list or object are refused at every other', async () => {
  const { next_cursor: audit } = await victim.done('GET', '/audit?limit=1');
  const second = await gateway.order();
  const { next_cursor: orders } = await victim.done('GET', '/partner/orders?limit=1');
  expect([typeof audit, typeof orders, second.id === ids.order_id]).toEqual(['string', 'string', false]);
  for (const [what, by, path] of [
    ['of another partner', stranger, `/partner/orders?cursor=${orders}`],
    ['of another partner', stranger, `/audit?cursor=${audit}`],
    ['of another list', victim, `/partner/orders?cursor=${audit}`],
    ['of another list', victim, `/audit?cursor=${orders}`],
    ['of another list', victim, `/partner/commission/entries?cursor=${audit}`],
    ['of another list', victim, `/partner/webhook-endpoints/${ids.endpoint_id}/deliveries?cursor=${audit}`],
    ['with other filters', victim, `/partner/orders?status=failed&cursor=${orders}`],
    ['that was changed', victim, `/audit?cursor=${`${audit}`.slice(0, -1)}A`],
  ] as const) {
    attempt(`${path} ${what}`, (await by.call('GET', path)).json.code, 'invalid_cursor');
  }
});
