import {
  CabinetClient,
  type CabinetReply,
  forgetLink,
  memberPaths,
  requestDigest,
  tokenOf,
} from '../../support/cabinet/cabinet-client.ts';
import type { MadeOrder } from '../../support/gateway/settled-gateway.ts';
import type { Member } from '../../support/staff/staff-client.ts';
import { attempts } from './partner-api.ts';
import type { Recording, TakeOptions } from './recording.ts';
import { nowhere, type World } from './world.ts';

type Operation = Parameters<CabinetClient['confirmed']>[0];

const month = '2026-01';

/** The last use of a key is written from time to time. */
const keyUses: TakeOptions = { moving: [[/"last_used_at":("[^"]+"|null)/g, '"last_used_at":<time or null>']] };
/** Requests are counted in a minute of the machine. */
const requestUses: TakeOptions = {
  moving: [[/("name":"\w*(?:requests|quotes|lists|changes|validations)\w*","most":"\d+","used":)"\d+"/g, '$1<count>']],
};

/** Refused requests are written every ten seconds of the machine. */
const refusedRequests: TakeOptions = {
  moving: [[/"(rate_limited_24h|refused_24h)":\d+/g, '"$1":<count>']],
};

/** A person of the partner at the cabinet, each of whose answers is recorded. */
export class RecordedPerson {
  readonly client: CabinetClient;
  readonly #recording: Recording;
  readonly #world: World;

  constructor(recording: Recording, world: World, client = new CabinetClient(world.gateway.app.restUrl ?? '')) {
    this.#recording = recording;
    this.#world = world;
    this.client = client;
  }

  async take(
    title: string,
    method: string,
    path: string,
    body?: unknown,
    how: TakeOptions = {},
  ): Promise<CabinetReply> {
    await this.#world.second();
    return this.#taken(title, method, path, await this.client.call(method, path, { body }), how);
  }

  /** Reads in the same second. */
  async read(title: string, path: string): Promise<CabinetReply> {
    return this.#taken(title, 'GET', path, await this.client.call('GET', path));
  }

  /**
   * A request that the passkey confirms first. The confirmation is recorded where its operation is.
   */
  async sure(id: Operation, title: string, method: string, path: string, body?: unknown): Promise<CabinetReply> {
    await this.#world.second();
    const reply = await this.client.sure(id, method, path, body);
    return this.#taken(`${id}${title}`, method, path, reply);
  }

  #taken(title: string, method: string, path: string, reply: CabinetReply, given: TakeOptions = {}): CabinetReply {
    const how = path.startsWith('/keys') ? keyUses : given;
    this.#recording.take(title, `${method} /cabinet/api${path}`, reply, how);
    return reply;
  }
}

/** Invites an owner by the staff API, and has the invitation accepted. */
export async function ownerOf(recording: Recording, world: World, admin: Member): Promise<RecordedPerson> {
  const person = new RecordedPerson(recording, world);
  const token = tokenOf(await invitation(world, admin, 'Ada', 'OWNER'));
  const { json } = await person.take('openInvitation', 'POST', '/invitations/open', { token });
  const credential = person.client.passkey.register(json.options);
  const answer = { token, credential, passkey_name: 'Laptop' };
  const accepted = await person.take('acceptInvitation', 'POST', '/invitations/accept', answer);
  await forgetLink(world.gateway.query, accepted);
  await person.take('acceptInvitation again', 'POST', '/invitations/accept', { token, credential });
  await person.take('openInvitation of nothing', 'POST', '/invitations/open', { token: 'A'.repeat(43) });
  return person;
}

async function invitation(world: World, admin: Member, name: string, role: string): Promise<string> {
  const given = `(partnerId: "${world.gateway.partnerId}", name: "${name}", role: ${role}, reason: "x")`;
  return (await admin.data(`mutation { memberInvite${given} { link } }`)).memberInvite.link;
}

/** What a person of the partner reads of an order, as it is at this moment. */
export async function recordCabinetOrder(person: RecordedPerson, name: string, { id }: MadeOrder): Promise<void> {
  const at = `/partner/orders/${id}`;
  await person.take(`getOrder ${name}`, 'GET', at);
  await person.read(`getOrderDetails ${name}`, `${at}/details`);
  await person.read(`listOrderEvents ${name}`, `${at}/events`);
}

/** Every operation of the cabinet: its answers, and its usual refusals. */
export async function recordCabinet(
  recording: Recording,
  world: World,
  { owner, admin }: { readonly owner: RecordedPerson; readonly admin: Member },
): Promise<void> {
  await session(recording, world, owner);
  await team(recording, world, owner);
  await keys(owner);
  await orders(owner, world);
  await webhooks(owner, world);
  await reports(owner);
  await refusals(recording, world, owner, admin);
  await owner.take('signOut', 'POST', '/sign-out');
}

async function session(recording: Recording, world: World, owner: RecordedPerson): Promise<void> {
  const { client } = owner;
  await owner.take('getSession', 'GET', '/session');
  const { json: begun } = await owner.take('beginSignIn', 'POST', '/sign-in/options');
  const other = new RecordedPerson(recording, world, new CabinetClient(world.gateway.app.restUrl ?? ''));
  const { json: signedIn } = await other.take('signIn', 'POST', '/sign-in', {
    credential: client.passkey.use(begun.options),
  });
  await other.take('signIn again', 'POST', '/sign-in', { credential: client.passkey.use(begun.options) });
  await owner.take('listSessions', 'GET', '/sessions');
  await owner.take('endSession', 'DELETE', `/sessions/${signedIn.session.id}`);
  const { json: making } = await owner.take('beginPasskey', 'POST', '/passkeys/options');
  const phone = new CabinetClient('').passkey.register(making.options);
  const { json: passkey } = await owner.sure('addPasskey', '', 'POST', '/passkeys', {
    credential: phone,
    name: 'Phone',
  });
  await owner.take('listPasskeys', 'GET', '/passkeys');
  await owner.sure('removePasskey', '', 'DELETE', `/passkeys/${passkey.id}`);
  const { json: left } = await owner.take('listPasskeys with one', 'GET', '/passkeys');
  await owner.sure('removePasskey', ' of the last one', 'DELETE', `/passkeys/${left.data[0].id}`);
  const { json: confirming } = await owner.take('beginConfirmation', 'POST', '/confirmations/options', {
    operation: 'issueKey',
    request_digest: requestDigest('POST', '/keys', {}),
  });
  const credential = client.passkey.use(confirming.options);
  await owner.take('confirm', 'POST', '/confirmations', { credential });
  await owner.take('confirm again', 'POST', '/confirmations', { credential });
}

async function team(recording: Recording, world: World, owner: RecordedPerson): Promise<void> {
  const jun = { name: 'Jun Park', role: 'developer' };
  const { json: sent } = await owner.sure('invite', '', 'POST', '/invitations', jun);
  const { json: other } = await owner.sure('invite', ' another', 'POST', '/invitations', {
    name: 'Kim',
    role: 'viewer',
  });
  await owner.take('getTeam with invitations', 'GET', '/team');
  await owner.take('withdrawInvitation', 'DELETE', `/invitations/${other.invitation.id}`);
  await owner.take('withdrawInvitation again', 'DELETE', `/invitations/${other.invitation.id}`);
  const member = new RecordedPerson(recording, world);
  await member.client.accept(sent.link);
  const { json: me } = await member.take('getSession of a developer', 'GET', '/session');
  const path = `/members/${me.member.id}`;
  await owner.sure('changeMember', '', 'PATCH', path, { role: 'finance' });
  const { json: mine } = await owner.take('getSession of the owner', 'GET', '/session');
  const own = `/members/${mine.member.id}`;
  await owner.sure('changeMember', ' of the last owner', 'PATCH', own, { role: 'finance' });
  await owner.sure('recoverMember', '', 'POST', `${path}/recovery`);
  await owner.take('getTeam', 'GET', '/team');
  await owner.sure('removeMember', '', 'DELETE', path);
  await owner.sure('removeMember', ' of the last owner', 'DELETE', own);
}

async function keys(owner: RecordedPerson): Promise<void> {
  const { json: made } = await owner.sure('issueKey', '', 'POST', '/keys', {
    label: 'Checkout',
    scopes: ['orders:create', 'orders:read'],
    networks: ['203.0.113.0/24'],
    expires_at: '2027-01-01T00:00:00.000Z',
  });
  const at = `/keys/${made.key.key_id}`;
  await owner.sure('setKeyNetworks', '', 'PUT', `${at}/networks`, { networks: ['203.0.113.0/24', '2001:db8::/48'] });
  await owner.sure('setKeyNetworks', ' wrong', 'PUT', `${at}/networks`, { networks: ['nonsense'] });
  await owner.sure('rollKey', '', 'POST', `${at}/roll`, { old_key_hours: 24 });
  await owner.take('revokeKey', 'POST', `${at}/revoke`);
  await owner.sure('rollKey', ' of a revoked key', 'POST', `${at}/roll`, { old_key_hours: 24 });
  await owner.sure('issueKey', ' without a scope', 'POST', '/keys', { label: 'Least', scopes: ['nope'] });
  await owner.take('listKeys', 'GET', '/keys');
}

async function orders(owner: RecordedPerson, world: World): Promise<void> {
  const { gateway } = world;
  const { json: page } = await owner.take('listOrders', 'GET', '/partner/orders?include=details&limit=10');
  await owner.take('listOrders on', 'GET', `/partner/orders?include=details&limit=10&cursor=${page.next_cursor}`);
  await owner.take('listOrders of statuses', 'GET', '/partner/orders?status=completed,failed');
  await owner.take('listOrders of an external id', 'GET', '/partner/orders?external_id=split-1');
  await owner.take('listOrders of a wrong cursor', 'GET', '/partner/orders?cursor=abc');
  const order = await gateway.order({ policy: { on_underpaid: 'ask' } });
  await world.know('of the cabinet', order);
  await gateway.deposit(order, { amount: '0.006' });
  await gateway.mine('BTC', 3);
  await gateway.tick();
  const { json } = await owner.take('getOrderDetails with a question', 'GET', `/partner/orders/${order.id}/details`);
  const path = `/partner/orders/${order.id}/actions`;
  const body = { action_id: json.action_required.id, action: 'refund' };
  await owner.take('actOnOrder of a stale question', 'POST', path, { ...body, action_id: 'act_99' });
  await owner.take('actOnOrder with an amount', 'POST', path, { ...body, amount_to: 1 });
  await owner.take('actOnOrder', 'POST', path, body);
  await owner.take('actOnOrder of no question', 'POST', `/partner/orders/${world.order('completed').id}/actions`, body);
  await gateway.settle(order);
  await owner.take('getOrderDetails after an answer', 'GET', `/partner/orders/${order.id}/details`);
}

async function webhooks(owner: RecordedPerson, world: World): Promise<void> {
  const { gateway, receivers } = world;
  const url = receivers.url('cabinet');
  const { json: made } = await owner.sure('createWebhookEndpoint', '', 'POST', '/partner/webhook-endpoints', { url });
  await owner.sure('createWebhookEndpoint', ' of a private address', 'POST', '/partner/webhook-endpoints', {
    url: 'https://10.0.0.1/',
  });
  const at = `/partner/webhook-endpoints/${made.endpoint.id}`;
  const order = await gateway.order();
  await world.know('hooked in the cabinet', order);
  await world.send();
  await world.sendUntil(owner.take('testWebhookEndpoint', 'POST', `${at}/test`, undefined, attempts));
  await world.send();
  const deliveries = await owner.take('listWebhookDeliveries', 'GET', `${at}/deliveries?limit=10`, undefined, attempts);
  const event = deliveries.json.data.find(({ event_id: id }: { event_id: string }) => !id.startsWith('evt_test_'));
  await owner.take('replayWebhookEvents', 'POST', `${at}/replay`, { event_ids: [event.event_id] });
  await owner.take('replayWebhookEvents of nothing', 'POST', `${at}/replay`, { event_ids: ['evt_x'] });
  await world.send();
  await owner.sure('rotateWebhookSecret', '', 'POST', `${at}/rotate-secret`, { old_secret_hours: 24 });
  await owner.sure('updateWebhookEndpoint', '', 'PATCH', at, { types: ['order.completed'], status: 'disabled' });
  await owner.take('testWebhookEndpoint disabled', 'POST', `${at}/test`);
  await owner.take('listWebhookEndpoints', 'GET', '/partner/webhook-endpoints', undefined, attempts);
  await owner.sure('deleteWebhookEndpoint', '', 'DELETE', at);
}

async function reports(owner: RecordedPerson): Promise<void> {
  await owner.take('getHome', 'GET', '/home', undefined, refusedRequests);
  await owner.take('getLimits', 'GET', '/limits', undefined, requestUses);
  await owner.take('getCommissionBalance', 'GET', '/partner/commission/balance');
  await owner.take('listCommissionEntries', 'GET', '/partner/commission/entries');
  await owner.take('listStatements', 'GET', '/partner/statements');
  await owner.take('getStatement', 'GET', `/partner/statements/${month}`);
  await owner.take('getStatement of no month', 'GET', '/partner/statements/2026-13');
  await owner.take('getStatement as CSV', 'GET', `/partner/statements/${month}?format=csv`);
  await owner.take('listOrderReport', 'GET', '/partner/reports/orders?limit=2');
  const at = '/commission/addresses';
  const address = { coin: 'BTC', network: 'BTC', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' };
  const { json: made } = await owner.sure('setCommissionAddress', '', 'POST', at, address);
  await owner.sure('setCommissionAddress', ' again', 'POST', at, address);
  await owner.take('getCommissionAddresses', 'GET', at);
  await owner.take('cancelCommissionAddress', 'DELETE', `${at}/${made.id}`);
  const { json: page } = await owner.take('listAudit', 'GET', '/audit?limit=10');
  await owner.take('listAudit on', 'GET', `/audit?limit=10&cursor=${page.next_cursor}`);
}

/** What each operation answers to a stranger, to a viewer, and to an owner who sends nonsense. */
async function refusals(recording: Recording, world: World, owner: RecordedPerson, admin: Member): Promise<void> {
  const stranger = new RecordedPerson(recording, world);
  const viewer = new RecordedPerson(recording, world);
  await viewer.client.accept(await invitation(world, admin, 'Vic', 'VIEWER'));
  for (const [template, methods] of memberPaths) {
    for (const [lower, { operationId, requestBody }] of Object.entries(methods)) {
      if (operationId === 'signOut') continue;
      const method = lower.toUpperCase();
      const path = template.replace('{month}', month).replace(/\{\w+\}/, nowhere);
      const body = requestBody === undefined ? undefined : '{"name":';
      const signedOut = `${operationId} signed out`;
      // The parts of an order are read in one second, as `recordCabinetOrder` does.
      if (template.includes('{order_id}/') && method === 'GET') await stranger.read(signedOut, path);
      else await stranger.take(signedOut, method, path, body);
      const changes = method !== 'GET' && template !== '/passkeys/options' && template !== '/sign-in/options';
      if (!changes) continue;
      await viewer.take(`${operationId} by a viewer`, method, path, body);
      await owner.take(`${operationId} of nonsense`, method, path, body);
    }
  }
  await world.second();
  const foreign = await stranger.client.call('POST', '/sign-in/options', {
    headers: { Origin: 'https://evil.example' },
  });
  recording.take('beginSignIn from another page', 'POST /cabinet/api/sign-in/options', foreign);
  await owner.take('getOrder of nothing', 'GET', `/partner/orders/${nowhere}`);
  await owner.take('getSession at no path', 'GET', '/nowhere');
  await owner.take('getSession by another method', 'PUT', '/session');
}
