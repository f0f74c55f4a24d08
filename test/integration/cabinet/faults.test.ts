import { cabinetPeople } from '../../../src/app/services.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings, tokenOf } from '../../support/cabinet/cabinet-client.ts';
import { SoftAuthenticator } from '../../support/cabinet/soft-authenticator.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';

// Requests that no page of the cabinet sends, and many at the same time on few connections.

const clock = new TestClock();
let gateway: TestGateway;
let partnerId: string;

beforeAll(async () => {
  // The fewest connections: a request that waits for a second one while it holds one gets stuck.
  const settings = { ...cabinetSettings, RATE_LIMIT_SIGN_IN_PER_MIN: '1000', DATABASE_POOL_SIZE: '2' };
  gateway = await startGateway({ settings, outside: { clock } });
  ({ id: partnerId } = await gateway.partners.create('Shop'));
});
afterAll(() => gateway?.stop());

const browser = (of = gateway) => new CabinetClient(of.app.restUrl ?? '');

async function invitation(): Promise<string> {
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  return (await members.invite(partnerId, { name: 'Ada', role: 'owner' }, null)).link;
}

async function signedIn(): Promise<CabinetClient> {
  const client = browser();
  expect((await client.accept(await invitation())).status).toBe(200);
  return client;
}

describe('many at the same time', () => {
  it('accept one invitation: one wins, and the others are told', async () => {
    const token = tokenOf(await invitation());
    const tries = [];
    for (let i = 0; i < 8; i++) {
      const client = browser();
      const { options } = await client.done('POST', '/invitations/open', { body: { token } });
      const body = { token, credential: client.passkey.register(options) };
      tries.push(() => client.call('POST', '/invitations/accept', { body }));
    }
    const replies = await Promise.all(tries.map((accept) => accept()));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(404)]);
  });

  it('add passkeys: all are stored, up to ten', async () => {
    const client = await signedIn();
    const tries = [];
    for (let i = 0; i < 12; i++) {
      const { options } = await client.done('POST', '/passkeys/options');
      const body = { credential: new SoftAuthenticator(cabinetOrigin).register(options), name: `Device ${i}` };
      const headers = await client.confirmed('addPasskey', 'POST', '/passkeys', body);
      tries.push(() => client.call('POST', '/passkeys', { headers, body }));
    }
    const replies = await Promise.all(tries.map((add) => add()));
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 409, 409, 409]);
    expect((await client.done('GET', '/passkeys')).data).toHaveLength(10);
  });
});

describe('an answer of a browser', () => {
  it.each([
    ['internal'],
    [5],
    [{ usb: true }],
    [[5, null, 'internal']],
  ])('with the transports %j makes a passkey all the same', async (transports) => {
    const token = tokenOf(await invitation());
    const client = browser();
    const { options } = await client.done('POST', '/invitations/open', { body: { token } });
    const made = client.passkey.register(options) as { response: object };
    const credential = { ...made, response: { ...made.response, transports } };
    expect((await client.call('POST', '/invitations/accept', { body: { token, credential } })).status).toBe(200);
    expect((await client.signIn()).status).toBe(200);
  });

  it.each([
    ['null'],
    ['[]'],
    ['{'],
    ['{"challenge":{}}'],
    [JSON.stringify({ challenge: 'a\0b' })],
    [JSON.stringify({ challenge: `${'A'.repeat(42)}\0` })],
  ])('with the client data %j is refused', async (data) => {
    const response = { clientDataJSON: Buffer.from(data).toString('base64url') };
    const credential = { id: 'x', rawId: 'x', type: 'public-key', response, clientExtensionResults: {} };
    const { status, json } = await browser().call('POST', '/sign-in', { body: { credential } });
    expect([status, json.code]).toEqual([403, 'passkey_refused']);
  });

  it('is refused with members of other types', async () => {
    const client = await signedIn();
    for (const wrong of [{ authenticatorData: 5 }, { signature: null }, { userHandle: 5 }, { clientDataJSON: [] }]) {
      const { options } = await client.done('POST', '/sign-in/options');
      const answer = client.passkey.use(options) as { response: object };
      const credential = { ...answer, response: { ...answer.response, ...wrong } };
      const { status } = await browser().call('POST', '/sign-in', { body: { credential } });
      expect([wrong, status]).toEqual([wrong, 403]);
    }
  });

  it('with a bad name keeps its challenge for another try', async () => {
    const token = tokenOf(await invitation());
    const client = browser();
    const { options } = await client.done('POST', '/invitations/open', { body: { token } });
    const credential = client.passkey.register(options);
    const named = (name: string) =>
      client.call('POST', '/invitations/accept', { body: { token, credential, passkey_name: name } });
    const bad = await named('a\0b');
    expect([bad.status, bad.json.code]).toEqual([422, 'invalid_value']);
    expect((await named('Laptop')).status).toBe(200);
  });
});

it('addresses and queries that no page sends are refused by name', async () => {
  const client = await signedIn();
  for (const [method, path, status, code] of [
    ['POST', '/keys/a%00b/revoke', 404, 'key_not_found'],
    ['POST', '/keys/a%zzb/revoke', 404, 'key_not_found'],
    ['GET', '/partner/orders/a%00b', 404, 'order_not_found'],
    ['GET', '/partner/orders/%E0%A4%A', 404, 'order_not_found'],
    ['GET', '/partner/orders?external_id=a%00b', 422, 'invalid_value'],
    ['GET', '/partner/orders?coin=a%00b', 422, 'invalid_value'],
    ['GET', '/partner/orders?external_id=%zz', 200, undefined],
    ['GET', '/partner/orders?external_id=a&external_id=b', 400, 'invalid_type'],
    ['GET', '/partner/orders?limit=1&limit=2', 400, 'invalid_type'],
    ['GET', '/partner/orders?limit=1.5', 400, 'invalid_type'],
    ['GET', '/partner/orders?cursor=%00', 400, 'invalid_cursor'],
    ['GET', '/audit?cursor=abc', 400, 'invalid_cursor'],
    ['GET', '/partner/commission/entries?cursor=abc', 400, 'invalid_cursor'],
    ['GET', '/nothing', 404, 'not_found'],
    ['PUT', '/keys', 405, 'method_not_allowed'],
  ] as const) {
    const { status: told, json } = await client.call(method, path);
    expect([path, told, json?.code]).toEqual([path, status, code]);
  }
});

it('an owner who becomes something else leaves no link behind that makes an owner again', async () => {
  const first = await signedIn();
  const second = await signedIn();
  const { member } = await second.done('GET', '/session');
  const kept = (await second.sure('invite', 'POST', '/invitations', { name: 'Accomplice', role: 'owner' })).json;
  const other = (await first.sure('invite', 'POST', '/invitations', { name: 'Bob', role: 'viewer' })).json;
  expect((await first.sure('changeMember', 'PATCH', `/members/${member.id}`, { role: 'viewer' })).status).toBe(200);
  const open = (link: string) => browser().call('POST', '/invitations/open', { body: { token: tokenOf(link) } });
  expect((await open(kept.link)).status).toBe(404);
  expect((await open(other.link)).status).toBe(200);
});

it('the device of a lost passkey may make the new one', async () => {
  const client = await signedIn();
  const { member } = await client.done('GET', '/session');
  const { members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin);
  const { link } = await members.recover(partnerId, member.id, null);
  const { options } = await browser().done('POST', '/invitations/open', { body: { token: tokenOf(link) } });
  expect(options.excludeCredentials).toEqual([]);
  const own = (await client.done('POST', '/passkeys/options')).options;
  expect(own.excludeCredentials).toHaveLength(1);
});

it('invented sessions are limited by address', async () => {
  const limited = await startGateway({ settings: { ...cabinetSettings, RATE_LIMIT_CABINET_PER_MIN: '1' } });
  try {
    const client = browser(limited);
    const seen = [];
    for (let i = 0; i < 11; i++) {
      client.cookie = `${'A'.repeat(41)}${10 + i}`;
      seen.push(await client.call('GET', '/session'));
    }
    expect(seen.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429]);
    expect(Number(seen.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await limited.stop();
  }
});
