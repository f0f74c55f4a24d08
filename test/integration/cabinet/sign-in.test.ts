import { generateKeyPairSync } from 'node:crypto';
import type { Members } from '../../../src/accounts/members/members.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import {
  CabinetClient,
  cabinetOrigin,
  cabinetSettings,
  requestDigest,
  tokenOf,
} from '../../support/cabinet/cabinet-client.ts';
import { SoftAuthenticator } from '../../support/cabinet/soft-authenticator.ts';
import { query } from '../../support/database/database.ts';
import { TestClock } from '../../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';

// How people of partners come in: invitations, passkeys, sessions, and what is refused.

const clock = new TestClock();
let gateway: TestGateway;
let members: Members;
let partnerId: string;

beforeAll(async () => {
  gateway = await startGateway({ settings: cabinetSettings, outside: { clock } });
  ({ members } = cabinetPeople(gateway.app.orm, clock, cabinetOrigin));
  ({ id: partnerId } = await gateway.partners.create('Shop'));
});
afterAll(() => gateway?.stop());

const browser = () => new CabinetClient(gateway.app.restUrl ?? '');
const invitation = async (role: 'owner' | 'developer' | 'finance' | 'viewer' = 'owner') =>
  (await members.invite(partnerId, { name: 'Ada', role }, null)).link;

async function signedIn(): Promise<CabinetClient> {
  const client = browser();
  expect((await client.accept(await invitation())).status).toBe(200);
  return client;
}

describe('an invitation', () => {
  it('makes a member with a passkey, and starts a session', async () => {
    const client = browser();
    const link = await invitation('developer');
    expect(link.startsWith(`${cabinetOrigin}/cabinet/invitation#`)).toBe(true);
    const opened = await client.done('POST', '/invitations/open', { body: { token: tokenOf(link) } });
    expect(opened).toMatchObject({ partner_name: 'Shop', name: 'Ada', role: 'developer', is_recovery: false });
    const { status, json, headers } = await client.accept(link);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      member: { name: 'Ada', role: 'developer', passkeys: 1 },
      partner: { name: 'Shop' },
      environment: 'sandbox',
    });
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-partner=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await client.done('GET', '/session')).member.name).toBe('Ada');
  });

  it('works once, also for two at the same time', async () => {
    const link = await invitation();
    const token = tokenOf(link);
    // Both open it before one of them uses it.
    const opened = await Promise.all(
      [browser(), browser()].map(async (client) => {
        const { options } = await client.done('POST', '/invitations/open', { body: { token } });
        return { client, credential: client.passkey.register(options) };
      }),
    );
    const replies = await Promise.all(
      opened.map(({ client, credential }) =>
        client.call('POST', '/invitations/accept', { body: { token, credential } }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
    const late = await browser().call('POST', '/invitations/open', { body: { token } });
    expect([late.status, late.json.code]).toEqual([404, 'invitation_not_found']);
  });

  it('is accepted by more people at once than there are connections', async () => {
    const links = await Promise.all(Array.from({ length: 12 }, () => invitation('viewer')));
    const replies = await Promise.all(links.map((link) => browser().accept(link)));
    expect(replies.map(({ status }) => status)).toEqual(links.map(() => 200));
  });

  it('is stored as a hash, ends after 72 hours, and can be withdrawn', async () => {
    const link = await invitation();
    const text = await query<{ row: string }>(
      gateway.databaseUrl,
      'select to_jsonb(i)::text as row from partner_invitation i',
    );
    expect(JSON.stringify(text)).not.toContain(tokenOf(link));
    clock.advance(72 * 3_600_000 + 1);
    expect((await browser().call('POST', '/invitations/open', { body: { token: tokenOf(link) } })).status).toBe(404);
    const owner = await signedIn();
    const issued = await owner.sure('invite', 'POST', '/invitations', { name: 'Bob', role: 'viewer' });
    expect((await owner.call('DELETE', `/invitations/${issued.json.invitation.id}`)).status).toBe(204);
    expect(
      (await browser().call('POST', '/invitations/open', { body: { token: tokenOf(issued.json.link) } })).status,
    ).toBe(404);
  });

  it('is refused with a passkey of another site, a foreign challenge, or without verification', async () => {
    const link = await invitation();
    const client = browser();
    const token = tokenOf(link);
    for (const deviation of [
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { isVerified: false },
      { challenge: 'bm90IG91cnM' },
    ]) {
      const { options } = await client.done('POST', '/invitations/open', { body: { token } });
      const credential = client.passkey.register(options, deviation);
      const { status, json } = await client.call('POST', '/invitations/accept', { body: { token, credential } });
      expect([deviation, status, json.code]).toEqual([deviation, 403, 'passkey_refused']);
    }
    // A challenge of a sign-in is no challenge of an invitation.
    const { options } = await client.done('POST', '/sign-in/options');
    const credential = client.passkey.register(options);
    expect((await client.call('POST', '/invitations/accept', { body: { token, credential } })).status).toBe(403);
    expect((await client.accept(link)).status).toBe(200);
  });

  it('of a recovery replaces the passkeys and ends the sessions', async () => {
    const lost = await signedIn();
    const { member } = await lost.done('GET', '/session');
    const { link } = await members.recover(partnerId, member.id, null);
    const found = browser();
    const { json } = await found.accept(link);
    expect(json.member).toMatchObject({ id: member.id, passkeys: 1 });
    expect((await lost.call('GET', '/session')).status).toBe(401);
    expect((await lost.signIn()).status).toBe(403);
    expect((await found.signIn()).status).toBe(200);
  });
});

describe('a passkey', () => {
  it('signs in without a name, and ends the session before', async () => {
    const client = await signedIn();
    const before = client.copy();
    expect((await client.signIn()).status).toBe(200);
    expect(client.cookie).not.toBe(before.cookie);
    expect((await before.call('GET', '/session')).status).toBe(401);
    expect((await client.call('GET', '/session')).status).toBe(200);
  });

  it('is refused when it is unknown, of another site, forged, unverified, or a copy', async () => {
    const client = await signedIn();
    const sign = async (passkey: SoftAuthenticator, deviation = {}) => {
      const { options } = await browser().done('POST', '/sign-in/options');
      const { status, json } = await browser().call('POST', '/sign-in', {
        body: { credential: passkey.use(options, deviation) },
      });
      return [status, json.code];
    };
    const refused = [403, 'passkey_refused'];
    expect(await sign(new SoftAuthenticator(cabinetOrigin))).toEqual(refused);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    for (const deviation of [
      { origin: 'http://localhost:1' },
      { rpId: 'example.com' },
      { isVerified: false },
      { signWith: other },
      { counter: 1 },
      { challenge: 'bm90IG91cnM' },
    ]) {
      expect([deviation, await sign(client.passkey, deviation)]).toEqual([deviation, refused]);
    }
    expect((await client.signIn()).status).toBe(200);
  });

  it('answers a challenge once, within five minutes', async () => {
    const client = await signedIn();
    const { options } = await client.done('POST', '/sign-in/options');
    const credential = client.passkey.use(options);
    expect((await browser().call('POST', '/sign-in', { body: { credential } })).status).toBe(200);
    expect((await browser().call('POST', '/sign-in', { body: { credential } })).status).toBe(403);
    const late = (await client.done('POST', '/sign-in/options')).options;
    clock.advance(5 * 60_000 + 1);
    expect((await browser().call('POST', '/sign-in', { body: { credential: client.passkey.use(late) } })).status).toBe(
      403,
    );
  });

  it('can be joined by a second one; the last one stays', async () => {
    const client = await signedIn();
    const first = client.passkey;
    const { data } = await client.done('GET', '/passkeys');
    const last = await client.sure('removePasskey', 'DELETE', `/passkeys/${data[0].id}`);
    expect([last.status, last.json.code]).toEqual([409, 'action_not_possible']);
    const { options } = await client.done('POST', '/passkeys/options');
    const second = new SoftAuthenticator(cabinetOrigin);
    const body = { credential: second.register(options), name: 'Phone' };
    expect((await client.sure('addPasskey', 'POST', '/passkeys', body)).json).toMatchObject({ name: 'Phone' });
    expect((await client.sure('removePasskey', 'DELETE', `/passkeys/${data[0].id}`)).status).toBe(204);
    expect((await client.signIn()).status).toBe(403);
    client.passkey = second;
    expect((await client.signIn()).status).toBe(200);
    expect(first).not.toBe(second);
  });
});

describe('a session', () => {
  it('ends when it is idle, after twelve hours, at the sign-out, and by the member elsewhere', async () => {
    const idle = await signedIn();
    clock.advance(29 * 60_000);
    expect((await idle.call('GET', '/session', { headers: { 'X-Background': '1' } })).status).toBe(200);
    clock.advance(2 * 60_000);
    // The background request did not count.
    expect((await idle.call('GET', '/session')).status).toBe(401);

    const long = await signedIn();
    for (let i = 0; i < 35; i++) {
      clock.advance(20 * 60_000);
      expect((await long.call('GET', '/session')).status).toBe(200);
    }
    clock.advance(21 * 60_000);
    expect((await long.call('GET', '/session')).status).toBe(401);

    const out = await signedIn();
    const kept = out.copy();
    expect((await out.call('POST', '/sign-out')).status).toBe(204);
    expect(out.cookie).toBeNull();
    expect((await kept.call('GET', '/session')).status).toBe(401);

    const here = await signedIn();
    const there = here.copy();
    there.cookie = null;
    await there.signIn();
    const { data } = await here.done('GET', '/sessions');
    expect(data).toHaveLength(2);
    const other = data.find(({ is_current }: { is_current: boolean }) => !is_current);
    expect((await here.call('DELETE', `/sessions/${other.id}`)).status).toBe(204);
    expect((await there.call('GET', '/session')).status).toBe(401);
    expect((await here.call('GET', '/session')).status).toBe(200);
  });

  it('is not taken from a cookie that the browser had before the sign-in', async () => {
    const victim = await signedIn();
    const planted = 'A'.repeat(43);
    victim.cookie = planted;
    await victim.signIn();
    expect(victim.cookie).not.toBe(planted);
  });

  it("takes changes from the cabinet's own pages only", async () => {
    const client = await signedIn();
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      const { status, json } = await client.call('POST', '/sign-out', { headers });
      expect([headers, status, json.code]).toEqual([headers, 403, 'foreign_origin']);
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { status } = await client.call('POST', '/confirmations/options', { headers: form, body: 'operation=invite' });
    expect(status).toBe(415);
    expect((await client.call('GET', '/session')).status).toBe(200);
  });

  it('of the cabinet is nothing to the partner API', async () => {
    const client = await signedIn();
    const { status } = await fetch(`${gateway.app.restUrl}/api/v1/partner/orders`, {
      headers: { Cookie: `__Host-partner=${client.cookie}` },
    });
    expect(status).toBe(401);
  });
});

describe('a sensitive operation', () => {
  const ask = { label: 'x', scopes: ['orders:read'] };

  it('needs the passkey again: once, for that operation and session, within two minutes', async () => {
    const client = await signedIn();
    const issue = (headers: Record<string, string> = {}) => client.call('POST', '/keys', { headers, body: ask });
    const confirmed = (by: CabinetClient) => by.confirmed('issueKey', 'POST', '/keys', ask);
    expect((await issue()).json.code).toBe('passkey_required');
    expect((await issue({ 'X-Confirmation': 'A'.repeat(43) })).json.code).toBe('passkey_required');
    expect((await issue(await client.confirmed('rollKey', 'POST', '/keys', ask))).json.code).toBe('passkey_required');
    const other = await signedIn();
    expect((await issue(await confirmed(other))).json.code).toBe('passkey_required');
    const headers = await confirmed(client);
    expect((await issue(headers)).status).toBe(200);
    expect((await issue(headers)).json.code).toBe('passkey_required');
    const late = await confirmed(client);
    clock.advance(2 * 60_000 + 1);
    expect((await issue(late)).json.code).toBe('passkey_required');
  });

  it("is not confirmed by another member's passkey, or by an answer of a sign-in", async () => {
    const client = await signedIn();
    const other = await signedIn();
    const body = { operation: 'issueKey', request_digest: requestDigest('POST', '/keys', ask) };
    const { options } = await client.done('POST', '/confirmations/options', { body });
    const stolen = { body: { credential: other.passkey.use(options) } };
    expect((await client.call('POST', '/confirmations', stolen)).json.code).toBe('passkey_refused');
    const sign = await client.done('POST', '/sign-in/options');
    const replayed = { body: { credential: client.passkey.use(sign.options) } };
    expect((await client.call('POST', '/confirmations', replayed)).json.code).toBe('passkey_refused');
  });
});

it('tries to sign in are limited by address', async () => {
  const limited = await startGateway({ settings: { ...cabinetSettings, RATE_LIMIT_SIGN_IN_PER_MIN: '3' } });
  try {
    const client = new CabinetClient(limited.app.restUrl ?? '');
    const seen = [];
    for (let i = 0; i < 4; i++) seen.push(await client.call('POST', '/sign-in/options'));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(Number(seen[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await limited.stop();
  }
});
