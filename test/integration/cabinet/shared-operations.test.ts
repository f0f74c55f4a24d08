import { type SharedOperation, sharedOperations } from '../../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import { readContract } from '../../../src/surfaces/rest/partner/contract.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings } from '../../support/cabinet/cabinet-client.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Operations of the partner contract at the cabinet: which there are, and what proves who calls.

let gateway: SettledGateway;
let owner: CabinetClient;
let colleague: CabinetClient;
let key: string;

beforeAll(async () => {
  gateway = await startSettledGateway({ settings: cabinetSettings });
  const { id } = await gateway.partners.create('Shop');
  const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
  const member = async (name: string) => {
    const client = new CabinetClient(gateway.app.restUrl ?? '');
    await client.accept((await members.invite(id, { name, role: 'owner' }, null)).link);
    return client;
  };
  owner = await member('Ada');
  colleague = await member('Bob');
  ({ key } = await gateway.partners.issueKey(id, { label: 'Shop', scopes: ['webhooks:manage'] }));
});
afterAll(() => gateway?.stop());

const operations = Object.entries(readContract().paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { operationId: string }>).map(([method, { operationId }]) => ({
    id: operationId,
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000'),
  })),
);
const isShared = ({ id }: { readonly id: string }) => sharedOperations.includes(id as SharedOperation);
const shared = operations.filter(isShared);

it('are those of the table, and no other', async () => {
  expect(shared).toHaveLength(sharedOperations.length);
  for (const { id, method, path } of operations.filter((operation) => !isShared(operation))) {
    const { status } = await owner.call(method, path, method === 'GET' || method === 'DELETE' ? {} : { body: {} });
    // A path that a shared operation has too knows the method only.
    expect([id, [404, 405].includes(status)]).toEqual([id, true]);
  }
});

it('take a session and never a key, while the partner API takes a key and never a session', async () => {
  const stranger = new CabinetClient(gateway.app.restUrl ?? '');
  const headers = { Authorization: `Bearer ${gateway.key}`, 'X-API-Key': gateway.key };
  const cookie = { Cookie: `__Host-partner=${owner.cookie}`, Origin: cabinetOrigin };
  for (const { id, method, path } of shared) {
    const atCabinet = await stranger.call(method, path, { headers });
    const atApi = await fetch(`${gateway.app.restUrl}/api/v1${path}`, { method, headers: cookie });
    expect([id, atCabinet.status, atApi.status]).toEqual([id, 401, 401]);
  }
});

it('ignore a key that comes with a session: the answer is about the partner of the session', async () => {
  const url = 'https://hooks.example.com/';
  await gateway.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body: { url } });
  const headers = { Authorization: `Bearer ${gateway.key}` };
  expect((await owner.done('GET', '/partner/webhook-endpoints', { headers })).data).toEqual([]);
});

it('count a repetition of one member once, and that of another member or of a key as another request', async () => {
  const path = '/partner/webhook-endpoints';
  const body = { url: 'https://hooks.example.com/once' };
  const once = { 'Idempotency-Key': 'one' };
  const send = async (by: CabinetClient) => {
    const confirmed = await by.confirmed('createWebhookEndpoint', 'POST', path, body);
    return by.call('POST', path, { body, headers: { ...confirmed, ...once } });
  };
  const [first, second] = [await send(owner), await send(owner)];
  expect([first.status, second.status, second.text === first.text]).toEqual([201, 201, true]);
  expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
  const others = [await send(colleague), await gateway.call('POST', path, { key, body, headers: once })];
  expect(others.map(({ json }) => json.code)).toEqual(Array(2).fill('idempotency_key_reused'));
  const { data } = await owner.done('GET', '/audit');
  const entries = data.filter(({ operation }: { operation: string }) => operation === 'createWebhook');
  expect(entries).toMatchObject([{ actor: 'Ada', after: { ...body, types: null } }]);
});
