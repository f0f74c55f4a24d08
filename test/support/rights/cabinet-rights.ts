import { type MemberOperation, operationRows } from '../../../src/accounts/members/rights.ts';
import { membersContract, readCabinetContract } from '../../../src/surfaces/rest/cabinet/contract.ts';
import { CabinetClient, requestDigest, tokenOf } from '../cabinet/cabinet-client.ts';
import { SoftAuthenticator } from '../cabinet/soft-authenticator.ts';
import { askAbout } from '../gateway/asked-orders.ts';
import { openMonth } from '../gateway/commission-months.ts';
import { ContractExamples } from '../http/contract-examples.ts';
import { sendingWebhooks } from './partner-rights.ts';
import { cellOf, isAllowed, isDone, send } from './rights-answer.ts';
import type { Cell } from './rights-record.ts';
import type { Surface } from './rights-surface.ts';
import { type Account, cabinetOrigin, memberCookie, memberRoles, type RightsWorld } from './rights-world.ts';

/** What a request of an operation names and has. */
interface Prepared {
  readonly path?: string;
  readonly query?: string;
  readonly body?: unknown;
  /** What the answer has when it is about what the request was made for. */
  readonly shows?: string;
  /** Whether the object is as before, for an answer that is the same with and without an effect. */
  readonly isUntouched?: () => Promise<boolean>;
}

/** Whose objects a request names: those of the partner, and those of one member. */
interface Subject {
  readonly account: Account;
  readonly member: CabinetClient;
}

type Prepare = (world: RightsWorld, subject: Subject) => Promise<Prepared>;

const operations = [readCabinetContract(), membersContract()].flatMap(
  (contract) => new ContractExamples(contract).operations,
);
type Operation = (typeof operations)[number];

/** Whether the passkey must confirm the request. */
const isConfirmed = ({ operationId }: Operation): boolean =>
  operationRows[operationId as MemberOperation].isConfirmed ?? false;

const nothing: Prepare = async () => ({});
const optionsOf = async (client: CabinetClient, path: string, body?: unknown) =>
  (await client.done('POST', path, body === undefined ? {} : { body })).options;

async function keyId(world: RightsWorld, { account }: Subject): Promise<string> {
  await endKeys(world, account);
  const { keyId: id } = await world.gateway.partners.issueKey(account.id, { label: cellLabel });
  return id;
}

const cellLabel = 'rights';
/** Ends the keys of earlier cells, as a partner has few live keys. */
const endKeys = ({ gateway }: RightsWorld, { id }: Account) =>
  gateway.query('update api_key set revoked_at = $3 where partner_id = $1 and label = $2 and revoked_at is null', [
    id,
    cellLabel,
    gateway.clock.now(),
  ]);

async function webhookId(world: RightsWorld, { account }: Subject): Promise<string> {
  await removeWebhooks(world, account);
  const body = { url: 'https://hooks.example.com/' };
  const { json, text, status } = await world.gateway.call('POST', '/partner/webhook-endpoints', {
    key: account.key,
    body,
  });
  if (status !== 201) throw new Error(text);
  return json.endpoint.id;
}

const removeWebhooks = ({ gateway }: RightsWorld, { id }: Account) =>
  gateway.query(
    `update webhook_endpoint set status = 'deleted', disabled_reason = null, disabled_at = null where partner_id = $1`,
    [id],
  );

const commissionAddress = { coin: 'BTC', network: 'BTC', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' };

/** Forgets the addresses of earlier cells, as a partner requests few in a day. */
const endAddresses = ({ gateway }: RightsWorld, { id }: Account) =>
  gateway.query(
    `begin; set local session_replication_role = replica;
     delete from commission_address where partner_id = '${id}'; commit`,
  );

async function waitingAddress(world: RightsWorld, { account }: Subject): Promise<string> {
  await endAddresses(world, account);
  const now = world.gateway.clock.now();
  const asked = { ...commissionAddress, partnerId: account.id, memberId: account.ownerId, tag: null };
  const { app } = world.gateway;
  const made = await app.orm.em
    .fork()
    .transactional((em) => app.commissionAddresses.request(em, { ...asked, oldIsLost: false, now }));
  return made.id;
}

async function memberId(world: RightsWorld, { account }: Subject): Promise<string> {
  const made = await world.member(account.id, 'finance');
  return (await made.done('GET', '/session')).member.id;
}

/** A device that has registered with no one yet. */
const newDevice = () => new SoftAuthenticator(cabinetOrigin);

/** A request of each operation of the contract that an owner may do. */
const requests: Readonly<Record<string, Prepare>> = {
  getSession: async (_world, { member }) => ({ shows: (await member.done('GET', '/session')).member.id }),
  beginSignIn: nothing,
  signIn: async (_world, { member }) => {
    const browser = member.copy();
    return { body: { credential: member.passkey.use(await optionsOf(browser, '/sign-in/options')) } };
  },
  signOut: nothing,
  openInvitation: async (world, { account }) => ({
    body: { token: tokenOf((await world.invitation(account.id, 'viewer')).link) },
  }),
  acceptInvitation: async (world, { account }) => {
    const token = tokenOf((await world.invitation(account.id, 'viewer')).link);
    const options = await optionsOf(new CabinetClient(world.restUrl), '/invitations/open', { token });
    return { body: { token, credential: newDevice().register(options) } };
  },
  listPasskeys: async (_world, { member }) => ({ shows: (await member.done('GET', '/passkeys')).data[0].id }),
  addPasskey: async (_world, { member }) => ({
    body: { credential: newDevice().register(await optionsOf(member, '/passkeys/options')) },
  }),
  beginPasskey: nothing,
  removePasskey: async (_world, { member }) => {
    const body = { credential: newDevice().register(await optionsOf(member, '/passkeys/options')) };
    const { json } = await member.sure('addPasskey', 'POST', '/passkeys', body);
    return { path: json.id };
  },
  beginConfirmation: async () => ({
    body: { operation: 'issueKey', request_digest: requestDigest('POST', '/keys') },
  }),
  confirm: async (_world, { member }) => {
    const asked = { operation: 'issueKey', request_digest: requestDigest('POST', '/keys') };
    return { body: { credential: member.passkey.use(await optionsOf(member, '/confirmations/options', asked)) } };
  },
  listSessions: async (_world, { member }) => ({ shows: (await member.done('GET', '/session')).session.id }),
  endSession: async (_world, { member }) => {
    const browser = member.copy();
    browser.cookie = null;
    await browser.signIn();
    const { session } = await browser.done('GET', '/session');
    return {
      path: session.id,
      isUntouched: async () => (await browser.call('GET', '/session')).status === 200,
    };
  },
  getTeam: async (_world, { account }) => ({ shows: account.ownerId }),
  invite: async (world, { account }) => {
    await world.endInvitations(account.id);
    return { body: { name: 'Ada', role: 'viewer' } };
  },
  withdrawInvitation: async (world, { account }) => ({ path: (await world.invitation(account.id, 'viewer')).id }),
  changeMember: async (world, subject) => ({ path: await memberId(world, subject), body: { role: 'developer' } }),
  removeMember: async (world, subject) => ({ path: await memberId(world, subject) }),
  recoverMember: async (world, subject) => ({ path: await memberId(world, subject) }),
  getHome: nothing,
  getLimits: nothing,
  listKeys: async (world, subject) => ({ shows: await keyId(world, subject) }),
  issueKey: async (world, { account }) => {
    await endKeys(world, account);
    return { body: { label: cellLabel, scopes: ['orders:read'] } };
  },
  rollKey: async (world, subject) => ({ path: await keyId(world, subject), body: { old_key_hours: 0 } }),
  revokeKey: async (world, subject) => ({ path: await keyId(world, subject) }),
  setKeyNetworks: async (world, subject) => ({
    path: await keyId(world, subject),
    body: { networks: ['203.0.113.0/24'], confirm_lock_out: true },
  }),
  listOrders: async (world, { account }) => {
    const { id } = await world.gateway.order({}, account.key);
    return { query: `ids=${id}`, shows: id };
  },
  getOrder: async (world, { account }) => ({ path: (await world.gateway.order({}, account.key)).id }),
  getOrderDetails: async (world, { account }) => ({ path: (await world.gateway.order({}, account.key)).id }),
  listOrderEvents: async (world, { account }) => ({ path: (await world.gateway.order({}, account.key)).id }),
  actOnOrder: async (world, { account }) => {
    const { id } = await world.gateway.order({}, account.key);
    await askAbout(world.gateway.query, id, world.gateway.clock.now());
    return { path: id, body: { action_id: 'act_3', action: 'refund' } };
  },
  listWebhookEndpoints: async (world, subject) => ({ shows: await webhookId(world, subject) }),
  createWebhookEndpoint: async (world, { account }) => {
    await removeWebhooks(world, account);
    return { body: { url: 'https://hooks.example.com/' } };
  },
  updateWebhookEndpoint: async (world, subject) => ({
    path: await webhookId(world, subject),
    body: { types: ['order.completed'] },
  }),
  deleteWebhookEndpoint: async (world, subject) => ({ path: await webhookId(world, subject) }),
  rotateWebhookSecret: async (world, subject) => ({
    path: await webhookId(world, subject),
    body: { old_secret_hours: 1 },
  }),
  testWebhookEndpoint: async (world, subject) => ({ path: await webhookId(world, subject) }),
  listWebhookDeliveries: async (world, subject) => ({ path: await webhookId(world, subject) }),
  replayWebhookEvents: async (world, subject) => {
    const id = await webhookId(world, subject);
    const order = await world.gateway.order({}, subject.account.key);
    return { path: id, body: { event_ids: [`evt_${order.id.replaceAll('-', '')}_1`] } };
  },
  getCommissionBalance: nothing,
  listCommissionEntries: nothing,
  listStatements: nothing,
  getStatement: async (world, { account }) => ({
    path: await openMonth(world.gateway.query, account.id, world.gateway.clock.now()),
  }),
  listOrderReport: nothing,
  getCommissionAddresses: async (world, subject) => ({ shows: await waitingAddress(world, subject) }),
  setCommissionAddress: async (world, { account }) => {
    await endAddresses(world, account);
    return { body: commissionAddress };
  },
  cancelCommissionAddress: async (world, subject) => ({ path: await waitingAddress(world, subject) }),
  listAudit: async (world, { account }) => {
    const name = 'Audited';
    const invite = { name, role: 'viewer' };
    await world.endInvitations(account.id);
    const { status, text } = await account.owner.sure('invite', 'POST', '/invitations', invite);
    if (status !== 200) throw new Error(text);
    return { shows: name };
  },
};

/** Who sends a request. */
interface Caller {
  readonly name: string;
  /** Headers without those of the origin and of the session. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Those of the origin; those of the cabinet's pages unless given. */
  readonly origin?: Readonly<Record<string, string>>;
  /** Who is signed in, and confirms requests. */
  readonly client?: CabinetClient;
  /** What the passkey confirms: this request, unless given. */
  readonly confirms?: 'nothing' | 'another request';
  readonly subject: Subject;
  readonly during?: (isOn: boolean) => Promise<unknown>;
}

const callers = {
  none: 'no credentials',
  unknown: 'unknown session',
  expired: 'expired session',
  ended: 'ended session',
  removed: 'removed member',
  key: 'partner key',
  staff: 'token of an admin',
  staffCookie: 'cookie of staff',
  foreign: 'owner, from another origin',
  missing: 'owner, without an origin',
  site: 'owner, from another site of the same origin header',
  unconfirmed: 'owner, without a confirmation',
  stale: 'owner, with the confirmation of another request',
  other: 'another partner',
  colleague: 'another owner of the partner',
  inactive: 'owner of an inactive partner',
} as const;
const usualOrigin = { Origin: cabinetOrigin };

async function callersOf(world: RightsWorld): Promise<Caller[]> {
  const { main, other, expired, staff, adminCookie } = world;
  const { partners } = world.gateway;
  const subject = { account: main, member: main.owner };
  const session = (client: CabinetClient) => ({ Cookie: memberCookie(client) });
  const ended = await world.member(main.id, 'owner');
  const endedCookie = session(ended);
  await ended.call('POST', '/sign-out');
  const removed = await world.member(main.id, 'owner');
  const removedCookie = session(removed);
  const { member } = await removed.done('GET', '/session');
  await main.owner.sure('removeMember', 'DELETE', `/members/${member.id}`);
  const idle = await world.account('Idle cabinet');
  const roles: Caller[] = [];
  for (const role of memberRoles.toReversed()) {
    const client = role === 'owner' ? main.owner : await world.member(main.id, role);
    roles.push({ name: role, client, subject: { account: main, member: client } });
  }
  return [
    { name: callers.none, subject },
    { name: callers.unknown, headers: { Cookie: `__Host-partner=${'A'.repeat(43)}` }, subject },
    { name: callers.expired, headers: { Cookie: expired.memberCookie }, subject },
    { name: callers.ended, headers: endedCookie, subject },
    { name: callers.removed, headers: removedCookie, subject },
    { name: callers.key, headers: { Authorization: `Bearer ${main.key}`, 'X-API-Key': main.key }, subject },
    { name: callers.staff, headers: { Authorization: `Bearer ${staff.admin.token}` }, subject },
    { name: callers.staffCookie, headers: { Cookie: adminCookie }, subject },
    { name: callers.foreign, client: main.owner, origin: { Origin: 'https://evil.example' }, subject },
    { name: callers.missing, client: main.owner, origin: {}, subject },
    {
      name: callers.site,
      client: main.owner,
      origin: { ...usualOrigin, 'Sec-Fetch-Site': 'same-site' },
      subject,
    },
    { name: callers.unconfirmed, client: main.owner, confirms: 'nothing', subject },
    { name: callers.stale, client: main.owner, confirms: 'another request', subject },
    { name: callers.other, client: other.owner, subject },
    { name: callers.colleague, client: await world.member(main.id, 'owner'), subject },
    ...roles,
    {
      name: callers.inactive,
      client: idle.owner,
      subject: { account: idle, member: idle.owner },
      during: (isOn) => partners.change(idle.id, { status: isOn ? 'inactive' : 'active' }),
    },
  ];
}

/** Members whose session a done request may have ended. */
class Doubted {
  readonly #clients = new Set<CabinetClient>();

  add(...clients: readonly CabinetClient[]): void {
    for (const client of clients) this.#clients.add(client);
  }

  /** Signs a member in again when an earlier cell ended the session. */
  async revive(client: CabinetClient): Promise<void> {
    if (!this.#clients.delete(client)) return;
    if ((await client.call('GET', '/session')).status === 200) return;
    const { status, text } = await client.signIn();
    if (status !== 200) throw new Error(text);
  }
}

async function open(world: RightsWorld): Promise<(operation: string) => Promise<Cell[]>> {
  const all = await callersOf(world);
  const clients = all.flatMap(({ client, subject }) => [...(client ? [client] : []), subject.member]);
  const doubted = new Doubted();
  return async (operation) => {
    const prepare = requests[operation];
    const found = operations.find(({ operationId }) => operationId === operation);
    if (!prepare || !found) throw new Error(`there is no request of ${operation} in cabinet-rights.ts`);
    const cells: Cell[] = [];
    const prepared: { request: Prepared | null; subject: Subject | null } = { request: null, subject: null };
    for (const caller of all) {
      const { name, client, subject, during } = caller;
      for (const one of [subject.member, subject.account.owner, ...(client ? [client] : [])]) await doubted.revive(one);
      const isSame = prepared.subject?.account === subject.account && prepared.subject.member === subject.member;
      if (!isSame) prepared.request = null;
      prepared.request ??= await prepare(world, subject);
      prepared.subject = subject;
      await during?.(true);
      const got = await cellFor(world, found, caller, prepared.request);
      await during?.(false);
      cells.push({ operation, caller: name, got });
      if (!got.startsWith('2') || found.method === 'GET') continue;
      prepared.request = null;
      doubted.add(...clients);
    }
    return cells;
  };
}

/** What a caller gets for a request. */
async function cellFor(world: RightsWorld, found: Operation, caller: Caller, request: Prepared): Promise<string> {
  const { client, headers = {}, origin = usualOrigin, confirms } = caller;
  const { body, query, shows, isUntouched } = request;
  const place = found.path.replace(/\{\w+\}/, request.path ?? '') + (query === undefined ? '' : `?${query}`);
  const id = found.operationId as Parameters<CabinetClient['confirmed']>[0];
  const confirmedPlace = confirms === 'another request' ? `${place}x` : place;
  const confirmation =
    client && confirms !== 'nothing' && isConfirmed(found)
      ? await client.confirmed(id, found.method, confirmedPlace, body)
      : {};
  const sent = send({
    method: found.method,
    url: `${world.restUrl}/cabinet/api${place}`,
    headers: {
      ...(found.method === 'GET' && origin === usualOrigin ? {} : origin),
      ...(client ? { Cookie: memberCookie(client) } : {}),
      ...confirmation,
      ...headers,
    },
    body,
  });
  // The answer to a test waits for its delivery, which a worker would send.
  const answer = await (id === 'testWebhookEndpoint' ? sendingWebhooks(world, sent) : sent);
  const got = cellOf(answer);
  if (!isDone(answer)) return got;
  if (shows !== undefined && !answer.text.includes(shows)) return `${got} without the object`;
  return isUntouched && (await isUntouched()) ? `${got} without effect` : got;
}

/** Operations that need no session. */
const openOperations = ['acceptInvitation', 'beginSignIn', 'openInvitation', 'signIn', 'signOut'];
/** Operations that end access, and the steps before them. */
const endingOperations = [
  'beginConfirmation',
  'cancelCommissionAddress',
  'confirm',
  'deleteWebhookEndpoint',
  'endSession',
  'removeMember',
  'removePasskey',
  'revokeKey',
  'withdrawInvitation',
];
/** Operations about the member's own account, and operations without a session. */
const personalOperations = new Set([
  ...openOperations,
  'addPasskey',
  'beginConfirmation',
  'beginPasskey',
  'confirm',
  'endSession',
  'removePasskey',
]);
/** Operations whose request names no object, and whose answer is the caller's own. */
const ownOperations = new Set([
  ...openOperations,
  'beginConfirmation',
  'beginPasskey',
  'createWebhookEndpoint',
  'getHome',
  'getLimits',
  'invite',
  'setCommissionAddress',
  'getCommissionBalance',
  'issueKey',
  'listCommissionEntries',
  'listOrderReport',
  'listStatements',
]);

const methodOf = (operation: string): string | undefined =>
  operations.find(({ operationId }) => operationId === operation)?.method;
const isOpen = ({ got }: Cell): boolean => got.startsWith('2');

/** The operations of cabinet-openapi.yaml. */
export const cabinetRights: Surface = {
  name: 'cabinet',
  operations: operations.map(({ operationId }) => operationId),
  strangers: Object.keys(requests).filter((name) => !operations.some(({ operationId }) => operationId === name)),
  open,
  invariants: {
    'without a session that holds only sign-in, sign-out and invitations are done': (table) =>
      table
        .of(
          callers.none,
          callers.unknown,
          callers.expired,
          callers.ended,
          callers.removed,
          callers.key,
          callers.staff,
          callers.staffCookie,
        )
        .filter((cell) => isOpen(cell) !== openOperations.includes(cell.operation)),
    'another origin changes nothing': (table) =>
      table
        .of(callers.foreign, callers.missing, callers.site)
        .filter((cell) => isOpen(cell) && methodOf(cell.operation) !== 'GET'),
    'what a passkey must confirm is not done without': (table) =>
      table
        .of(callers.unconfirmed, callers.stale)
        .filter(
          (cell) => isOpen(cell) && operations.some((one) => one.operationId === cell.operation && isConfirmed(one)),
        ),
    'another partner does nothing to an object': (table) =>
      table.of(callers.other).filter((cell) => !ownOperations.has(cell.operation) && isAllowed(cell.got)),
    'an owner does every operation': (table) => table.of('owner').filter((cell) => !isAllowed(cell.got)),
    'an inactive partner reads, ends access, and does nothing else': (table) =>
      table
        .of(callers.inactive)
        .filter(
          ({ operation, got }) =>
            got !== '403 partner_inactive' &&
            methodOf(operation) !== 'GET' &&
            ![...openOperations, ...endingOperations].includes(operation),
        ),
    'a viewer changes nothing but the own account': (table) =>
      table
        .of('viewer')
        .filter(
          (cell) => isOpen(cell) && methodOf(cell.operation) !== 'GET' && !personalOperations.has(cell.operation),
        ),
    'no role may do what an owner may not': (table) =>
      table.of(...memberRoles).filter((cell) => isOpen(cell) && !table.got(cell.operation, 'owner')?.startsWith('2')),
  },
};
