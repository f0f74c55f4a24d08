import { Client } from 'pg';
import type { MemberRole } from '../../src/accounts/members/rights.ts';
import { cabinetPeople } from '../../src/app/services.ts';
import { certified, ownSigned } from '../support/cabinet/attestation.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings, requestDigest } from '../support/cabinet/cabinet-client.ts';
import { SoftAuthenticator, type Statement } from '../support/cabinet/soft-authenticator.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { attempt } from '../support/jest/attempts.ts';

/**
 * OWASP API2:2023, broken authentication, at the partner cabinet: stolen sessions, confirmations,
 * passkeys and invitations, and members who are removed at the moment when they act.
 */

const clock = new TestClock();
let gateway: TestGateway;
let partnerId: string;

beforeAll(async () => {
  gateway = await startGateway({ settings: cabinetSettings, outside: { clock } });
});
afterAll(() => gateway?.stop());
beforeEach(async () => {
  ({ id: partnerId } = await gateway.partners.create('Shop'));
});

const browser = () => new CabinetClient(gateway.app.restUrl ?? '');
const people = () => cabinetPeople(gateway.app.orm, clock, cabinetOrigin);

async function member(role: MemberRole = 'owner'): Promise<CabinetClient & { memberId: string }> {
  const client = browser();
  const { link } = await people().members.invite(partnerId, { name: `A ${role}`, role }, null);
  const { json } = await client.accept(link);
  return Object.assign(client, { memberId: json.member.id as string });
}

/** Runs requests that wait for each other's rows: each begins when the previous one waits. */
async function whileLocked<Result>(
  statement: string,
  values: unknown[],
  requests: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  const locker = new Client({ connectionString: gateway.databaseUrl });
  const watcher = new Client({ connectionString: gateway.databaseUrl });
  await Promise.all([locker.connect(), watcher.connect()]);
  try {
    await locker.query('begin');
    await locker.query(statement, values);
    const replies: Promise<Result>[] = [];
    for (const request of requests) {
      replies.push(request());
      await waiting(watcher, replies.length);
    }
    await locker.query('rollback');
    return await Promise.all(replies);
  } finally {
    await Promise.all([locker.end(), watcher.end()]);
  }
}

async function waiting(watcher: Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await watcher.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    if (rows.length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const lockedPartner = 'select 1 from partner where id = $1 for update';
const lockedMember = 'select 1 from partner_member where id = $1 for update';
const codeOf = ({ status, json }: { status: number; json?: { code?: string } }) => json?.code ?? status;

describe('a confirmation', () => {
  const ask = { label: 'x', scopes: ['orders:read'] };

  it('approves one request of one session: its operation, target and body', async () => {
    const owner = await member();
    const bob = await member('viewer');
    const eve = await member('viewer');
    const other = await member();
    const role = `/members/${bob.memberId}`;
    const asOwner = { role: 'owner' };
    const tries = [
      ['another body', 'PATCH', role, asOwner, { role: 'developer' }, owner],
      ['another target', 'PATCH', role, asOwner, asOwner, owner, `/members/${eve.memberId}`],
      ['the same members in another order', 'POST', '/keys', ask, { scopes: ask.scopes, label: ask.label }, owner],
      ['a further member', 'POST', '/keys', ask, { ...ask, networks: [] }, owner],
      ['a query with it', 'POST', '/keys', ask, ask, owner, '/keys?x=1'],
      ['another session of the same role', 'POST', '/keys', ask, ask, other],
    ] as const;
    for (const [what, method, path, confirmed, sent, by, to = path] of tries) {
      const operation = path === '/keys' ? 'issueKey' : 'changeMember';
      const headers = await owner.confirmed(operation, method, path, confirmed);
      const refusal = to === path ? 'passkey_required' : expect.stringMatching(/passkey_required|unknown_field/);
      attempt(what, codeOf(await by.call(method, to, { headers, body: sent })), refusal);
    }
    const headers = await owner.confirmed('changeMember', 'PATCH', role, asOwner);
    attempt('DELETE', codeOf(await owner.call('DELETE', role, { headers })), 'passkey_required');
    attempt('its own request', (await owner.call('PATCH', role, { headers, body: asOwner })).status, 200);
    attempt(
      'its own request again',
      codeOf(await owner.call('PATCH', role, { headers, body: asOwner })),
      'passkey_required',
    );
  });

  it('of another session of the same member, or of a member who lost the role meanwhile, is refused', async () => {
    const owner = await member();
    const first = await member();
    const there = first.copy();
    there.cookie = null;
    await there.signIn();
    const headers = await first.confirmed('issueKey', 'POST', '/keys', ask);
    attempt('another session', codeOf(await there.call('POST', '/keys', { headers, body: ask })), 'passkey_required');
    await owner.sure('changeMember', 'PATCH', `/members/${first.memberId}`, { role: 'viewer' });
    attempt('a lost role', codeOf(await first.call('POST', '/keys', { headers, body: ask })), 'insufficient_role');
  });

  it('is not begun without a digest of the request, or for an operation that needs none', async () => {
    const owner = await member();
    const digest = requestDigest('POST', '/keys', ask);
    for (const body of [
      { operation: 'issueKey' },
      { operation: 'issueKey', request_digest: '' },
      { operation: 'issueKey', request_digest: `${digest}=` },
      { operation: 'issueKey', request_digest: `${digest.slice(1)}\n` },
      { operation: 'issueKey', request_digest: [digest] },
      { operation: 'revokeKey', request_digest: digest },
      { operation: 'signOut', request_digest: digest },
    ]) {
      const { status } = await owner.call('POST', '/confirmations/options', { body });
      attempt(JSON.stringify(body), status >= 400 && status < 500, true);
    }
  });
});

describe('a member who is removed, or loses the role, at the moment of an action', () => {
  it('leaves no invitation behind', async () => {
    const owner = await member();
    for (const remove of [true, false]) {
      const bad = await member();
      const body = { name: 'Accomplice', role: 'owner' };
      const path = `/members/${bad.memberId}`;
      const confirmed = await bad.confirmed('invite', 'POST', '/invitations', body);
      const removing = remove
        ? await owner.confirmed('removeMember', 'DELETE', path)
        : await owner.confirmed('changeMember', 'PATCH', path, { role: 'viewer' });
      const [removed, invited] = await whileLocked(
        lockedPartner,
        [partnerId],
        [
          () =>
            remove
              ? owner.call('DELETE', path, { headers: removing })
              : owner.call('PATCH', path, { headers: removing, body: { role: 'viewer' } }),
          () => bad.call('POST', '/invitations', { headers: confirmed, body }),
        ],
      );
      expect(removed?.status).toBe(remove ? 204 : 200);
      attempt('to invite', invited?.status, remove ? 401 : 403);
      expect((await owner.done('GET', '/team')).invitations).toEqual([]);
    }
  });

  it('makes no key and no webhook', async () => {
    const owner = await member();
    for (const [operation, path, body] of [
      ['issueKey', '/keys', { label: 'x', scopes: ['orders:read'] }],
      ['createWebhookEndpoint', '/partner/webhook-endpoints', { url: 'https://example.com/x' }],
    ] as const) {
      const bad = await member('developer');
      const mine = `/members/${bad.memberId}`;
      const confirmed = await bad.confirmed(operation, 'POST', path, body);
      const removing = await owner.confirmed('removeMember', 'DELETE', mine);
      const [removed, made] = await whileLocked(
        lockedPartner,
        [partnerId],
        [
          () => owner.call('DELETE', mine, { headers: removing }),
          () => bad.call('POST', path, { headers: confirmed, body }),
        ],
      );
      expect(removed?.status).toBe(204);
      attempt(operation, codeOf(made ?? { status: 0 }), 'unauthorized');
    }
    expect((await owner.done('GET', '/keys')).data).toEqual([]);
    expect((await owner.done('GET', '/partner/webhook-endpoints')).data).toEqual([]);
  });
});

describe('a recovery', () => {
  it('ends also the session that a stolen passkey begins at the same moment', async () => {
    const victim = await member();
    const thief = victim.copy();
    thief.cookie = null;
    const { link } = await people().members.recover(partnerId, victim.memberId, null);
    const recovered = browser();
    const [signedIn, accepted] = await whileLocked(
      lockedMember,
      [victim.memberId],
      [() => thief.signIn(), () => recovered.accept(link)],
    );
    expect(accepted?.status).toBe(200);
    expect([200, 403]).toContain(signedIn?.status);
    attempt('the session of the thief', (await thief.call('GET', '/session')).status, 401);
    expect((await recovered.call('GET', '/session')).status).toBe(200);
  });

  it('leaves no passkey that a stolen session adds at the same moment', async () => {
    const victim = await member();
    const thief = victim.copy();
    const { options } = await thief.done('POST', '/passkeys/options');
    const added = new SoftAuthenticator(cabinetOrigin);
    const body = { credential: added.register(options) };
    const headers = await thief.confirmed('addPasskey', 'POST', '/passkeys', body);
    const { link } = await people().members.recover(partnerId, victim.memberId, null);
    const recovered = browser();
    const [, accepted] = await whileLocked(
      lockedMember,
      [victim.memberId],
      [() => thief.call('POST', '/passkeys', { headers, body }), () => recovered.accept(link)],
    );
    expect(accepted?.status).toBe(200);
    thief.passkey = added;
    attempt('the passkey of the thief', (await thief.signIn()).status, 403);
    expect((await recovered.done('GET', '/passkeys')).data).toHaveLength(1);
  });
});

describe('a passkey', () => {
  it('that is removed takes the sessions of other browsers with it', async () => {
    const owner = await member();
    const stolen = owner.copy();
    stolen.cookie = null;
    await stolen.signIn();
    const { options } = await owner.done('POST', '/passkeys/options');
    const second = new SoftAuthenticator(cabinetOrigin);
    await owner.sure('addPasskey', 'POST', '/passkeys', { credential: second.register(options) });
    const { data } = await owner.done('GET', '/passkeys');
    expect((await owner.sure('removePasskey', 'DELETE', `/passkeys/${data[0].id}`)).status).toBe(204);
    attempt('the session of the lost device', (await stolen.call('GET', '/session')).status, 401);
    expect((await owner.call('GET', '/session')).status).toBe(200);
  });

  it.each([0, 1_024, 3_000])('with an id of %d bytes is refused', async (length) => {
    const owner = await member();
    const { options } = await owner.done('POST', '/passkeys/options');
    const credential = new SoftAuthenticator(cabinetOrigin, Buffer.alloc(length, 7)).register(options);
    const short = { ...credential, id: 'AAAA', rawId: 'AAAA' };
    const { status, json } = await owner.sure('addPasskey', 'POST', '/passkeys', { credential: short });
    attempt(`${length} bytes`, [status, json.code], [403, 'passkey_refused']);
  });

  it('named otherwise in the answer than by the authenticator is refused', async () => {
    const owner = await member();
    const { options } = await owner.done('POST', '/passkeys/options');
    const credential = { ...new SoftAuthenticator(cabinetOrigin).register(options), id: 'AAAA', rawId: 'AAAA' };
    const { json } = await owner.sure('addPasskey', 'POST', '/passkeys', { credential });
    attempt('another id', json.code, 'passkey_refused');
  });

  it('comes without certificates: none of a stranger is read, and no address that it names is asked', async () => {
    const owner = await member();
    const add = async (statement: Statement) => {
      const { options } = await owner.done('POST', '/passkeys/options');
      const attestation = { format: 'packed', statement };
      const credential = new SoftAuthenticator(cabinetOrigin).register(options, { attestation });
      return owner.sure('addPasskey', 'POST', '/passkeys', { credential });
    };
    attempt('a certificate', codeOf(await add(certified)), 'passkey_refused');
    expect((await add(ownSigned)).status).toBe(200);
  });

  it('of another member cannot be taken over: not by its id, and not by its name of the user', async () => {
    const owner = await member();
    const viewer = await member('viewer');
    const { options } = await viewer.done('POST', '/passkeys/options');
    const copy = new SoftAuthenticator(cabinetOrigin, owner.passkey.id);
    const taken = await viewer.sure('addPasskey', 'POST', '/passkeys', { credential: copy.register(options) });
    attempt('the id of another passkey', codeOf(taken), 'already_exists');
    const { options: sign } = await browser().done('POST', '/sign-in/options');
    const answer = viewer.passkey.use(sign) as { response: object };
    const userHandle = Buffer.from(owner.memberId).toString('base64url');
    const credential = { ...answer, response: { ...answer.response, userHandle } };
    const signedIn = await browser().call('POST', '/sign-in', { body: { credential } });
    attempt('the handle of another user', codeOf(signedIn), 'passkey_refused');
  });
});

it('no member passes for staff in what other owners read, by any name', async () => {
  const owner = await member();
  const bad = await member();
  const { link } = (await bad.sure('invite', 'POST', '/invitations', { name: 'staff', role: 'owner' })).json;
  const puppet = browser();
  await puppet.accept(link);
  await puppet.sure('invite', 'POST', '/invitations', { name: 'Eve', role: 'owner' });
  await people().members.invite(partnerId, { name: 'Bob', role: 'viewer' }, null);
  const { invitations } = await owner.done('GET', '/team');
  const by = invitations.map(({ invited_by }: { invited_by: string | null }) => invited_by);
  attempt('an invitation', by, ['staff', null]);
  const { data } = await owner.done('GET', '/audit');
  attempt(
    'the audit log',
    data.filter(({ actor }: { actor: string | null }) => actor === null),
    [],
  );
});
