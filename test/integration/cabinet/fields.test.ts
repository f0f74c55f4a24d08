import { type MemberOperation, operationRows } from '../../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import { membersContract, readCabinetContract } from '../../../src/surfaces/rest/cabinet/contract.ts';
import {
  CabinetClient,
  type CabinetReply,
  cabinetOrigin,
  cabinetSettings,
  tokenOf,
} from '../../support/cabinet/cabinet-client.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';

// Each refusal of a value names the member that holds it, so that a form shows it there.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Body {
  readonly id: MemberOperation;
  readonly method: string;
  readonly path: string;
  readonly required: readonly string[];
  readonly members: Readonly<Record<string, Schema>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the contract as it was read
const contracts = [readCabinetContract(), membersContract()] as any[]; // read by their paths

// biome-ignore lint/suspicious/noExplicitAny: a part of any kind
const resolved = (part: any, contract: any): any =>
  part?.$ref === undefined
    ? part
    : part.$ref
        .slice(2)
        .split('/')
        .reduce((at: Record<string, unknown>, key: string) => at[key], contract);

// biome-ignore lint/suspicious/noExplicitAny: operations of the document, by their methods
type PathItem = Record<string, any>; // read by the document's own paths

const bodies: Body[] = contracts.flatMap((contract) =>
  Object.entries<PathItem>(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const schema = resolved(resolved(operation.requestBody, contract)?.content['application/json'].schema, contract);
      if (!schema) return [];
      const { required = [], properties } = schema;
      const members = Object.entries<Schema>(properties).map(([name, part]) => [name, resolved(part, contract)]);
      return [
        {
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          required,
          members: Object.fromEntries(members),
        },
      ];
    }),
  ),
);

const clock = new TestClock();
let gateway: TestGateway;
let owner: CabinetClient;
let partnerId: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const settings = { ...cabinetSettings, RATE_LIMIT_SIGN_IN_PER_MIN: '100000' };
  gateway = await startGateway({ settings, outside: { clock } });
  ({ id: partnerId } = await gateway.partners.create('Shop'));
  owner = new CabinetClient(gateway.app.restUrl ?? '');
  expect((await owner.accept(await invitation())).status).toBe(200);
  const made = await owner.sure('issueKey', 'POST', '/keys', { label: 'Checkout', scopes: ['orders:read'] });
  const webhook = await owner.sure('createWebhookEndpoint', 'POST', '/partner/webhook-endpoints', {
    url: 'https://hooks.example.com/',
  });
  ids.key_id = made.json.key.key_id;
  ids.endpoint_id = webhook.json.endpoint.id;
  ids.member_id = (await owner.done('GET', '/session')).member.id;
  ids.order_id = 'XP-7K2M9Q';
});
afterAll(() => gateway?.stop());

async function invitation(): Promise<string> {
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  return (await members.invite(partnerId, { name: 'Ada', role: 'owner' }, null)).link;
}

async function send({ id, method, path }: Body, body: unknown): Promise<CabinetReply> {
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');
  const headers = operationRows[id].isConfirmed ? await owner.confirmed(id, method, target, body) : {};
  return owner.call(method, target, { body, headers });
}

/** The members that a refusal names, without the places of items in lists. */
const fieldsOf = ({ json }: CabinetReply): string[] =>
  (json.errors ?? []).map(({ field }: { field: string }) => field.split('.')[0]);

describe.each(bodies)('$id', (operation) => {
  const { required, members } = operation;

  it('names each member of a wrong type', async () => {
    for (const [name, { type }] of Object.entries(members)) {
      const wrong = [type].flat().includes('object') ? 'text' : { wrong: true };
      const reply = await send(operation, { [name]: wrong });
      expect([name, reply.status]).toEqual([name, 400]);
      expect([name, fieldsOf(reply)]).toEqual([name, expect.arrayContaining([name])]);
    }
  });

  it('names each missing and each unknown member', async () => {
    const reply = await send(operation, { surprise: 1 });
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply).sort()).toEqual([...required, 'surprise'].sort());
    const none = await send(operation, []);
    expect([none.status, fieldsOf(none)]).toEqual([400, ['body']]);
  });
});

/** Values that the contract lets through, or refuses by their content, one at a time. */
const values: [MemberOperation, string, unknown, Record<string, unknown>?][] = [
  ['openInvitation', 'token', 'short'],
  ['acceptInvitation', 'passkey_name', 'a\0b'],
  ['acceptInvitation', 'passkey_name', 'x'.repeat(101)],
  ['addPasskey', 'name', 'a\0b'],
  ['beginConfirmation', 'operation', 'getHome', { request_digest: 'A'.repeat(43) }],
  ['beginConfirmation', 'request_digest', 'short', { operation: 'issueKey' }],
  ['invite', 'name', '   ', { role: 'viewer' }],
  ['invite', 'name', 'a\0b', { role: 'viewer' }],
  ['invite', 'role', 'king', { name: 'Ada' }],
  ['changeMember', 'role', 'king'],
  ['issueKey', 'label', 'a\0b', { scopes: ['orders:read'] }],
  ['issueKey', 'label', 'x'.repeat(101), { scopes: ['orders:read'] }],
  ['issueKey', 'scopes', ['nothing'], { label: 'Key' }],
  ['issueKey', 'scopes', [], { label: 'Key' }],
  ['issueKey', 'networks', ['203.0.113.0/24', 'nonsense'], { label: 'Key', scopes: ['orders:read'] }],
  ['issueKey', 'networks', ['x'.repeat(51)], { label: 'Key', scopes: ['orders:read'] }],
  ['issueKey', 'expires_at', '2001-01-01T00:00:00Z', { label: 'Key', scopes: ['orders:read'] }],
  ['issueKey', 'expires_at', '0000-01-01T00:00:00Z', { label: 'Key', scopes: ['orders:read'] }],
  ['issueKey', 'expires_at', 'soon', { label: 'Key', scopes: ['orders:read'] }],
  ['rollKey', 'old_key_hours', 169],
  ['setKeyNetworks', 'networks', ['nonsense']],
  ['actOnOrder', 'amount_to', '1e3', { action_id: 'act_3', action: 'exchange' }],
  ['actOnOrder', 'amount_to', 1, { action_id: 'act_3', action: 'refund' }],
  ['createWebhookEndpoint', 'url', 'http://127.0.0.1/'],
  ['createWebhookEndpoint', 'types', ['nothing'], { url: 'https://hooks.example.com/' }],
  ['updateWebhookEndpoint', 'url', 'https://localhost/'],
  ['updateWebhookEndpoint', 'types', ['nothing']],
  ['updateWebhookEndpoint', 'status', 'paused'],
  ['rotateWebhookSecret', 'old_secret_hours', -1],
  ['replayWebhookEvents', 'event_ids', []],
  ['replayWebhookEvents', 'event_ids', ['x'.repeat(101)]],
];

it.each(values)('%s names %s as the member with the value %j', async (id, name, value, others = {}) => {
  const operation = bodies.find((body) => body.id === id);
  if (!operation) throw new Error(`${id} has no body`);
  const reply = await send(operation, { ...(await proofOf(operation)), ...others, [name]: value });
  expect([400, 422]).toContain(reply.status);
  expect(fieldsOf(reply)).toEqual([name]);
  expect(reply.json.errors[0].detail).toBe(reply.json.detail);
});

/** What the operation needs in addition to the value, from a real device. */
async function proofOf({ id }: Body): Promise<Record<string, unknown>> {
  if (id === 'addPasskey') {
    const { options } = await owner.done('POST', '/passkeys/options');
    return { credential: new CabinetClient('').passkey.register(options) };
  }
  if (id !== 'acceptInvitation') return {};
  const token = tokenOf(await invitation());
  const { options } = await owner.done('POST', '/invitations/open', { body: { token } });
  return { token, credential: new CabinetClient('').passkey.register(options) };
}

it.each([
  ['/partner/orders?external_id=a%00b', 'external_id'],
  ['/partner/orders?coin=a%00b', 'coin'],
  ['/partner/orders?status=nothing', 'status'],
  ['/partner/orders?created_from=0000-01-01T00:00:00Z', 'created_from'],
  ['/partner/orders?limit=1000', 'limit'],
  ['/partner/commission/entries?month=2026-13', 'month'],
])('%s names %s', async (path, name) => {
  const reply = await owner.call('GET', path);
  expect(fieldsOf(reply)).toEqual([name]);
});
